"""An account's statement by mako: defs, loops, filters and blocks of Python in the template."""

from mako.lookup import TemplateLookup

BASE = """\
<html><head><title>${self.title()}</title></head><body>${next.body()}
% if notes:
<ul>
% for note in notes:
  <li>${loop.index + 1}: ${note | h,trim}</li>
% endfor
</ul>
% endif
</body></html>
<%def name="title()">Bank</%def>
"""
STATEMENT = """\
<%inherit file="base.html"/>
<%def name="title()">Statement of ${owner | h}</%def>
<%def name="money(amount)" filter="trim">
% if amount < 0:
  <span class="minus">-${'%d.%02d' % divmod(-amount, 100)}</span>
% else:
  <span>${'%d.%02d' % divmod(amount, 100)}</span>
% endif
</%def>
<%
    balance = 0
    months = {}
%>
<table>
% for day, text, amount in bookings:
<%
    balance += amount
    months.setdefault(day // 30, []).append(amount)
%>
<tr class="${'even' if loop.even else 'odd'}"><td>${day}</td><td>${text | h}</td><td>${money(amount)}</td><td>${money(balance)}</td></tr>
% endfor
</table>
% for month, amounts in sorted(months.items()):
<p>Month ${month + 1}: ${len(amounts)} bookings, ${money(sum(amounts))}</p>
% endfor
"""
lookup = TemplateLookup()
lookup.put_string("base.html", BASE)
lookup.put_string("statement.html", STATEMENT)
bookings = [(n // 2, f"transfer <{n}> & fee", (n * 7919) % 20001 - 9000) for n in range(700)]
notes = [f"  note {n} & more " for n in range(40)]


def work():
    return lookup.get_template("statement.html").render(owner="A & B", bookings=bookings, notes=notes)
