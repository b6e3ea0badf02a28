"""A command-line program: reads a web server's log (or makes one up), groups it, and prints a
report as a table, as JSON or as CSV."""

import argparse
import csv
import datetime
import json
import re
import statistics
import sys
from collections import defaultdict

LINE = re.compile(r'(?P<host>\S+) - (?P<user>\S+) \[(?P<when>[^\]]+)\] "(?P<method>[A-Z]+) (?P<path>\S+) HTTP/[\d.]+" '
                  r'(?P<status>\d{3}) (?P<size>\d+|-) (?P<seconds>[\d.]+)')


class Request:
    __slots__ = ("host", "path", "status", "size", "seconds", "hour")

    def __init__(self, fields):
        self.host = fields["host"]
        self.path = fields["path"].partition("?")[0]
        self.status = int(fields["status"])
        self.size = 0 if fields["size"] == "-" else int(fields["size"])
        self.seconds = float(fields["seconds"])
        self.hour = datetime.datetime.strptime(fields["when"], "%d/%b/%Y:%H:%M:%S %z").hour

    @property
    def failed(self):
        return self.status >= 500


class Group:
    def __init__(self):
        self.requests = []

    def row(self, key):
        times = sorted(request.seconds for request in self.requests)
        return {"key": key, "requests": len(times), "failed": sum(request.failed for request in self.requests),
                "bytes": sum(request.size for request in self.requests), "median": round(statistics.median(times), 4),
                "slowest": round(times[-1], 4), "hosts": len({request.host for request in self.requests})}


def made_up(count):
    seed = 7
    for number in range(count):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        when = datetime.datetime(2024, 3, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=number * 13)
        status = (200, 200, 200, 304, 404, 500)[(seed >> 9) % 6]
        yield (f'10.0.{seed >> 12 & 3}.{seed >> 16 & 63} - {"-" if seed & 512 else "anna"} [{when:%d/%b/%Y:%H:%M:%S %z}] '
               f'"GET /page/{(seed >> 10) % 23}?n={number} HTTP/1.1" {status} {"-" if status == 304 else (seed >> 8) % 5000} {(seed >> 11) % 900 / 1000:.3f}')


def read(lines, options):
    for number, line in enumerate(lines, 1):
        found = LINE.match(line)
        if found is None:
            print(f"line {number} is not understood", file=sys.stderr)
            continue
        request = Request(found)
        if options.status is None or request.status // 100 in options.status:
            yield request


def report(requests, options):
    groups = defaultdict(Group)
    for request in requests:
        groups[getattr(request, options.by)].requests.append(request)
    rows = [group.row(str(key)) for key, group in groups.items()]
    rows.sort(key=lambda row: (-row[options.sort] if options.sort != "key" else 0, row["key"]))
    return rows[:options.top]


def as_table(rows):
    widths = {name: max(len(name), *(len(str(row[name])) for row in rows)) for name in rows[0]}
    print("  ".join(name.ljust(width) if name == "key" else name.rjust(width) for name, width in widths.items()))
    for row in rows:
        print("  ".join(str(row[name]).ljust(width) if name == "key" else str(row[name]).rjust(width) for name, width in widths.items()))


def as_csv(rows):
    writer = csv.DictWriter(sys.stdout, rows[0])
    writer.writeheader()
    writer.writerows(rows)


FORMATS = {"table": as_table, "csv": as_csv, "json": lambda rows: print(json.dumps(rows, indent=2))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=argparse.FileType())
    parser.add_argument("--lines", type=int, default=1000, help="how many to make up if no file is given")
    parser.add_argument("--by", choices=("path", "host", "status", "hour"), default="path")
    parser.add_argument("--sort", choices=("requests", "failed", "bytes", "slowest", "key"), default="requests")
    parser.add_argument("--status", type=int, action="append", metavar="HUNDREDS", help="only these, as in --status 2 --status 4")
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--format", choices=FORMATS, default="table")
    options = parser.parse_args()
    rows = report(read(options.file or made_up(options.lines), options), options)
    if not rows:
        parser.exit(1, "nothing found\n")
    FORMATS[options.format](rows)


if __name__ == "__main__":
    main()
