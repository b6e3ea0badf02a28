"""A page of search results with careless HTML, parsed by html.parser, searched by BeautifulSoup,
changed and written again."""

from bs4 import BeautifulSoup

RESULT = """
<div class="result {kind}" data-n={n}><h3><a href='/item/{n}?ref=list&x=1'>Item {n} &mdash; <b>best</b></a></h3>
<p>Price: <span class=price>{n}.50</span><br>In stock<p>Rated <img src=star.png alt="*"> by {n} people
<ul><li>red<li>blue <li class="last">green</ul><!-- end of {n} --></div>
"""
PAGE = "<html><head><title>Found</title><script>var a = '<div>';</script></head><body><table><tr><td>menu<td>" + "".join(
    RESULT.format(n=n, kind="new" if n % 3 else "old sale") for n in range(25)) + "</table></body></html>"


def work():
    soup = BeautifulSoup(PAGE, "html.parser")
    found = []
    for result in soup.find_all("div", class_="result"):
        link = result.h3.a
        colours = [li.get_text(strip=True) for li in result.find_all("li")]
        found.append((link["href"], link.get_text(" ", strip=True), float(result.find("span", "price").string), colours))
    for old in soup.select("div.old.sale > h3 a[href]"):
        old.string = "sold"
        old["rel"] = "nofollow"
    for script in soup(["script", "img"]):
        script.decompose()
    return found, soup.title.string, str(soup)
