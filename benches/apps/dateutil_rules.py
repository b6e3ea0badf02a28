"""Dates of meetings: rules of repetition, parsed dates and relative ones, by dateutil."""

import datetime

from dateutil import parser, relativedelta, rrule, tz

START = datetime.datetime(2024, 1, 3, 9, 30, tzinfo=tz.gettz("UTC"))
RULES = [
    rrule.rrule(rrule.MONTHLY, count=40, byweekday=(rrule.MO(1), rrule.FR(-1)), dtstart=START),
    rrule.rrule(rrule.WEEKLY, count=80, interval=2, byweekday=(rrule.TU, rrule.TH), byhour=(9, 14), dtstart=START),
    rrule.rrule(rrule.YEARLY, count=30, bymonth=(2, 8), bymonthday=(-1, 13), dtstart=START),
    rrule.rrule(rrule.DAILY, count=120, byweekno=(1, 20, 52), dtstart=START),
]
TEXTS = ["2024-02-29T12:30:15Z", "Thu, 25 Sep 2003 10:49:41 +0300", "3rd of May 2001, 8pm", "10.11.12 13:14", "Sat Oct 11 17:13:46 UTC 2003",
         "July 4, 1976 12:01:02 am", "20240131T101500.25", "12h30 Tuesday"]
STEPS = [relativedelta.relativedelta(months=+1, day=31), relativedelta.relativedelta(weeks=-2, weekday=rrule.SU(-1)),
         relativedelta.relativedelta(years=1, leapdays=-1, hour=0)]


def work():
    meetings = rrule.rruleset()
    for rule in RULES:
        meetings.rrule(rule)
    meetings.exrule(rrule.rrule(rrule.MONTHLY, count=60, byweekday=rrule.TU, dtstart=START))
    dates = [meeting.isoformat() for meeting in meetings]
    parsed = [parser.parse(text, default=datetime.datetime(2024, 1, 1)).isoformat() for text in TEXTS * 4]
    moved, when = [], START
    for n in range(60):
        when += STEPS[n % 3]
        moved.append(str(relativedelta.relativedelta(when, START)))
    return dates, parsed, moved
