"""Numbers, money, dates and plurals in the ways of many languages, by Babel."""

import datetime
from decimal import Decimal

from babel import Locale, dates, lists, numbers

LOCALES = [Locale.parse(name) for name in ("en_US", "de_DE", "fr_FR", "hi_IN", "ja_JP", "ar_EG", "pl_PL", "pt_BR")]
WHEN = datetime.datetime(2024, 5, 17, 16, 5, 9)
AMOUNTS = [Decimal("1234567.891"), Decimal("-0.5"), Decimal("21"), Decimal("1e9"), *(Decimal(n * 7919) / 100 for n in range(30))]


def work():
    shown = []
    for locale in LOCALES:
        for amount in AMOUNTS:
            shown += [numbers.format_decimal(amount, locale=locale), numbers.format_currency(amount, "EUR", locale=locale),
                      numbers.format_percent(amount / 100, locale=locale), numbers.format_compact_decimal(int(amount), locale=locale),
                      locale.plural_form(amount)]
        for style in ("short", "medium", "long", "full"):
            shown += [dates.format_date(WHEN, style, locale=locale), dates.format_time(WHEN, "medium", locale=locale)]
        shown += [dates.format_timedelta(datetime.timedelta(hours=h), locale=locale, add_direction=True) for h in (1, -30, 900)]
        shown += [dates.format_skeleton("yMMMd", WHEN, locale=locale), lists.format_list(["a", "b", "c"], locale=locale)]
        shown += [numbers.parse_decimal(numbers.format_decimal(n * 1000.5, locale=locale), locale=locale) for n in (1, 7)]
    return [str(item) for item in shown]
