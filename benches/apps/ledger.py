"""A ledger read from CSV through generators, checked, grouped and summed in Decimal, and written as
CSV and as aligned text."""

import collections
import csv
import io
import itertools
import re
import string
from decimal import ROUND_HALF_EVEN, Decimal

Entry = collections.namedtuple("Entry", "date account text amount")
ACCOUNTS = ("food:market", "food:eating out", "home:rent", "home:power", "car:fuel", "income:salary")
AMOUNT = re.compile(r"(?P<whole>-?\d+)[.,](?P<part>\d\d)\s*(?P<currency>EUR|USD)")
RATE = {"EUR": Decimal(1), "USD": Decimal("0.93")}
CENT = Decimal("0.01")
HEAD = string.Template("$account: $count entries, $sum EUR")


def line(n):
    amount = f"{n * 37 % 900 - 300}{',.'[n % 2]}{n % 100:02} {'USD' if n % 3 == 0 else 'EUR'}"
    account = ACCOUNTS[n * 5 % 6 if n % 4 else 2]
    return [f"2024-{n % 12 + 1:02}-{n % 28 + 1:02}", account, f'payment {n}, for "things"', "none" if n % 97 == 96 else amount]


def text(rows):
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


TEXT = text([["date", "account", "text", "amount"], *map(line, range(3000))])


def entries(file, wrong):
    for row in csv.DictReader(file):
        found = AMOUNT.fullmatch(row["amount"])
        if found is None:
            wrong.append(row["text"])
            continue
        amount = Decimal(f"{found['whole']}.{found['part']}") * RATE[found["currency"]]
        yield Entry(row["date"], row["account"], row["text"], amount.quantize(CENT, rounding=ROUND_HALF_EVEN))


def running(some):
    balance = Decimal(0)
    for entry in some:
        balance += entry.amount
        yield entry, balance


def work():
    wrong, lines = [], []
    found = sorted(entries(io.StringIO(TEXT), wrong), key=lambda entry: (entry.account.split(":"), entry.date, entry.text))
    for account, group in itertools.groupby(found, key=lambda entry: entry.account):
        some = list(group)
        lines.append(HEAD.substitute(account=account.title(), count=len(some), sum=sum(entry.amount for entry in some)))
        lines += [f"  {entry.date} {entry.text:<32.32} {entry.amount:>12,} {balance:>14,}" for entry, balance in running(some)]
    months = collections.defaultdict(Decimal)
    for entry in found:
        months[entry.date[:7]] += entry.amount
    return wrong, lines, text(sorted(months.items()))
