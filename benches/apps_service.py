"""A web application under gunicorn for apps.py: requests per second, and memory of all its
processes.

Each worker has one client, which sends the next request when it has received the answer to the
last; the same few requests in turn.
"""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import zlib
from pathlib import Path

from apps_ways import HERE, WAYS, harness, memory_of

ROUNDS, SECONDS = 2, 20.0
EACH_SECOND, AFTER_TEN, MOST_MEMORY = 0.95, 1.15, 1.3
ORDER = b'{"books": [[3, 1], [17, 2], [150, 1]]}'
REQUESTS = [
    b"GET / HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n",
    b"GET /api/books/90 HTTP/1.1\r\nHost: service\r\nAccept: application/json\r\nConnection: close\r\n\r\n",
    b"GET /search?word=7&most=200 HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n",
    b"POST /api/order HTTP/1.1\r\nHost: service\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: " + str(len(ORDER)).encode() + b"\r\n\r\n" + ORDER,
]
READY = b"GET /ready HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n"


def service(ways, options):
    missing = ways.missing(["flask", "gunicorn"])
    if missing:
        left_out = f"left out: the service: there is no {', no '.join(sorted(missing))} (see benches/apps.requirements.txt)"
        return {"lines": [left_out], "below": [], "failed": []}
    rounds, seconds, workers = options.rounds or ROUNDS, options.seconds or SECONDS, options.workers
    print(f"{workers} workers and as many clients, {rounds} rounds of {seconds:g} s each way", flush=True)
    runs = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in WAYS if number % 2 == 0 else WAYS[::-1]:
            with Server(ways, way, workers) as server:
                runs[way].append(server.asked(seconds))
    if len({run["digest"] for some in runs.values() for run in some}) > 1:
        return {"lines": ["FAILED: the answers differ"], "below": [], "failed": ["service"]}
    return report(runs, workers, rounds, seconds)


def report(runs, workers, rounds, seconds):
    by_second = {way: [statistics.median(counts) for counts in zip(*(run["by_second"] for run in some))] for way, some in runs.items()}
    ratios = [jit / off for off, jit in zip(*by_second.values())]
    memory = {way: statistics.median(run["mb"] for run in some) for way, some in runs.items()}
    more = memory["jit"] / memory["off"]
    below, lines = [], [f"{'second':>8}{'off':>8}{'jit':>8}{'ratio':>9}"]
    for second, (off, jit, ratio) in enumerate(zip(*by_second.values(), ratios), 1):
        slow = workers == 1 and ratio < EACH_SECOND
        lines.append(f"{second:8}{off:8.0f}{jit:8.0f}{ratio:8.2f}x{'  BELOW' if slow else ''}")
        below += [f"second {second}"] * slow
    if len(ratios) > 10:
        after = sum(by_second["jit"][10:]) / sum(by_second["off"][10:])
        slow = workers == 1 and after < AFTER_TEN
        lines.append(f"after ten seconds {after:.2f}x (bar {AFTER_TEN}x){'  BELOW' if slow else ''}; "
                     f"worst second {min(ratios):.2f}x (bar {EACH_SECOND}x)")
        below += ["after ten"] * slow
    lines.append(f"memory of all processes, proportional: {memory['off']:.1f} MB without, {memory['jit']:.1f} MB with the JIT, {more:.2f}x "
                 f"(bar {MOST_MEMORY}x){'  BELOW' if more > MOST_MEMORY else ''}")
    below += ["memory"] * (more > MOST_MEMORY)
    for run in runs["jit"][:1]:
        lines += [f"  process {number}: {one.get('units', 0)} units, {one.get('compile_ms', 0):.0f} ms to compile"
                  for number, one in enumerate(run["stats"], 1)]
    return {"rounds": rounds, "seconds": seconds, "workers": workers, "by_second": by_second, "memory_mb": memory, "runs": runs,
            "lines": lines, "below": below, "failed": []}


class Server:
    """One gunicorn with its workers; the clock starts after its first answer."""

    def __init__(self, ways, way, workers):
        self.ways, self.way, self.workers = ways, way, workers
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.environment = self.ways.environment(self.way, "service")
        words = ["-m", "gunicorn", "--workers", str(self.workers), "--bind", f"127.0.0.1:{self.port}", "--log-level", "warning",
                 "--chdir", str(HERE / "apps"), "--worker-tmp-dir", self.folder.name, "service:app"]
        command = self.ways.command(self.way, words, Path(self.folder.name, "stats.json") if self.way == "jit" else None)
        self.child = subprocess.Popen(list(map(str, command)), env=self.environment.__enter__(), start_new_session=True)
        for _ in range(300):
            try:
                if self.answer(READY):
                    return self
            except OSError:
                time.sleep(0.1)
        self.__exit__()
        raise SystemExit(f"the service {'with' if self.way == 'jit' else 'without'} the JIT does not answer")

    def __exit__(self, *error):
        self.child.terminate()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()
        self.environment.__exit__(None, None, None)
        self.folder.cleanup()

    def asked(self, seconds):
        """Requests per second, the digest of the answers, the memory at the end, and the JIT's
        statistics."""
        started, clients = time.perf_counter(), [Client(self) for _ in range(self.workers)]
        threads = [threading.Thread(target=client.ask, args=(started, seconds)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for client in clients:
            if client.error:
                raise SystemExit(f"the service {'with' if self.way == 'jit' else 'without'} the JIT stopped answering: {client.error}")
        digests = {client.digest() for client in clients}
        memory = sum(memory_of(pid)[1] for pid in [self.child.pid, *children(self.child.pid)])
        self.child.terminate()
        self.child.wait(30)
        return {"by_second": [sum(counts) for counts in zip(*(client.counts for client in clients))],
                "digest": " ".join(sorted(digests)), "mb": memory,
                "stats": [harness.read_stats(file) for file in sorted(Path(self.folder.name).glob("stats*.json"))]}

    def answer(self, request):
        """The whole answer, its head without the date; empty if there is none."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(request)
            parts = []
            while part := connection.recv(1 << 16):
                parts.append(part)
        head, _, body = b"".join(parts).partition(b"\r\n\r\n")
        return head.partition(b"\r\n")[0] + body


class Client:
    def __init__(self, server):
        self.server = server
        self.counts, self.error = [], None
        self.answers = [set() for _ in REQUESTS]

    def ask(self, started, seconds):
        self.counts = [0] * int(seconds)
        number = 0
        while True:
            try:
                answer = self.server.answer(REQUESTS[number % len(REQUESTS)])
            except OSError as error:
                self.error = error
                return
            second = int(time.perf_counter() - started)
            if second >= len(self.counts):
                return
            self.answers[number % len(REQUESTS)].add(zlib.crc32(answer) if answer.startswith(b"HTTP/1.1 20") else answer)
            self.counts[second] += 1
            number += 1

    def digest(self):
        return hashlib.sha256(repr([sorted(map(str, some)) for some in self.answers]).encode()).hexdigest()[:16]


def children(pid):
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
