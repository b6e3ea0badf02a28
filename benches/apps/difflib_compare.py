"""Two versions of a text compared by difflib, as a unified difference and word by word, and close
matches of misspelt words."""

import difflib

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega".split()
OLD = [" ".join(WORDS[(n * k) % len(WORDS)] for k in range(1, 9)) for n in range(60)]
NEW = [line.replace("gamma", "gamma-ray") if n % 4 == 0 else line for n, line in enumerate(OLD) if n % 7 != 3]
NEW[10:10] = ["a new line", *OLD[50:53]]


def work():
    unified = list(difflib.unified_diff(OLD, NEW, "old", "new", lineterm=""))
    marked = list(difflib.ndiff(OLD[:10], NEW[:10]))
    close = [difflib.get_close_matches(word[::-1][1:] + word[:2], WORDS, cutoff=0.3) for word in WORDS]
    ratio = difflib.SequenceMatcher(None, " ".join(OLD[:20]), " ".join(NEW[:20]), autojunk=False).ratio()
    return unified, marked, close, round(ratio, 9)
