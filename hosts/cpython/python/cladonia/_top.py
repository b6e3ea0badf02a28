"""`python -m cladonia top [PID]`: a running process, live in a terminal.

Only a process started with `CLADONIA_TOP=1` (or that called `cladonia.serve()`) can be inspected.
It then has a socket in a folder that belongs to the user alone, and a thread that waits for
requests; otherwise it does nothing. A request returns the data of `cladonia.live()` and
`cladonia.functions()`; it cannot change anything.
"""

from __future__ import annotations

import os
import sys
import time

#: Functions in the answer: the busiest of each kind.
MOST_FUNCTIONS = 12
USAGE = """\
usage: python -m cladonia top [PID] [--interval SECONDS] [--once]

Shows what Cladonia does in a process that was started with CLADONIA_TOP=1; without PID, lists those there are.
"""


def folder():
    """The folder of the sockets, which only the user can access. Raises OSError if another user
    owns that path."""
    import stat

    base = os.environ.get("XDG_RUNTIME_DIR") or os.path.join(os.environ.get("TMPDIR") or "/tmp")
    path = os.path.join(base, "cladonia" if os.environ.get("XDG_RUNTIME_DIR") else f"cladonia-{os.getuid()}")
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{path} is not a folder of this user alone")
    return path


def socket_of(pid):
    return os.path.join(folder(), f"{pid}.sock")


class Server:
    """Answers requests at this process's socket."""

    def __init__(self):
        self._listening = None
        self._wake = None
        self._done = None
        self._path = None
        self._number = 0

    def start(self):
        import _thread
        import socket

        self._path = socket_of(os.getpid())
        try:
            os.unlink(self._path)  # Of an earlier process with this id.
        except FileNotFoundError:
            pass
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(self._path)
        os.chmod(self._path, 0o600)
        self._listening.listen(4)
        self._wake = os.pipe()
        self._done = _thread.allocate_lock()
        self._done.acquire()
        # Not by `threading`, which would make the thread visible to the program and wait for it at
        # exit.
        _thread.start_new_thread(self._serve, (self._listening, self._wake[0], self._done))

    def stop(self):
        if self._listening is None:
            return
        os.write(self._wake[1], b".")
        self._done.acquire()
        # The system lists a thread for a moment after it has ended.
        for _ in range(1000):
            if not os.path.exists(f"/proc/self/task/{self._number}"):
                break
            time.sleep(1e-5)
        for end in self._wake:
            os.close(end)
        self._listening.close()
        self._listening = None
        try:
            os.unlink(self._path)
        except OSError:
            pass

    def _serve(self, listening, wake, done):
        import _thread
        import select

        self._number = _thread.get_native_id()
        try:
            while True:
                ready, _, _ = select.select([listening, wake], [], [])
                if wake in ready:
                    return
                asker, _ = listening.accept()
                with asker:
                    asker.settimeout(2)
                    try:
                        asker.sendall(_answer())
                    except OSError:
                        pass  # The client is gone.
        finally:
            done.release()


_server = None


def serve():
    """Answer `top` from now on, in this process and in its forked children."""
    global _server
    if _server is not None:
        return
    import atexit

    from cladonia import _native

    _server = Server()
    try:
        _server.start()
    except OSError as error:
        print(f"cladonia: top can't inspect this process: {error}", file=sys.stderr)
        return
    atexit.register(_server.stop)
    # Python warns about a fork while such a thread exists; after it each process has its own
    # socket.
    state = {"was": False}

    def before():
        state["was"] = _server._listening is not None
        _server.stop()

    def again():
        try:
            _server.start()
        except OSError:
            pass  # This process can't be inspected then.

    def after_in_parent():
        if state["was"]:
            # Python counts the threads after these handlers.
            _native.load().soon(again)

    def after_in_child():
        if state["was"]:
            again()

    os.register_at_fork(before=before, after_in_parent=after_in_parent, after_in_child=after_in_child)


def _answer():
    import json

    from cladonia import _native

    native = _native.load()
    rows = [row for row in native.functions() if row["entries"] or row["iterations"] or row["exits"]]
    for row in rows:
        row["left"] = sum(exit["count"] for exit in row["exits"])
    busiest = sorted(rows, key=lambda row: -(row["entries"] + row["iterations"]))[:MOST_FUNCTIONS]
    leaving = sorted(rows, key=lambda row: -row["left"])[:MOST_FUNCTIONS]
    shown = {id(row): row for row in [*busiest, *leaving]}
    keys = "name", "file", "line", "native", "entries", "iterations", "left"
    functions = [{key: row[key] for key in keys} for row in shown.values()]
    return json.dumps({"pid": os.getpid(), "argv": getattr(sys, "argv", []), "live": native.live(), "functions": functions}).encode()


def ask(pid):
    """The state of a process. Raises OSError if it does not answer."""
    import json
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(5)
        asking.connect(socket_of(pid))
        parts = []
        while part := asking.recv(65536):
            parts.append(part)
    return json.loads(b"".join(parts))


def main(argv):
    import argparse

    parser = argparse.ArgumentParser(prog="python -m cladonia top", usage=USAGE.split("usage: ")[1].splitlines()[0], description=USAGE.splitlines()[2])
    parser.add_argument("pid", nargs="?", type=int)
    parser.add_argument("--interval", type=float, default=1.0, metavar="SECONDS", help="seconds between two samples")
    parser.add_argument("--once", action="store_true", help="print one sample and exit")
    options = parser.parse_args(argv)
    if options.interval <= 0:
        parser.error("--interval must be above 0")
    try:
        return _list() if options.pid is None else _watch(options)
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        print(f"cladonia: process {options.pid} does not answer ({error}): was it started with CLADONIA_TOP=1, by this user?", file=sys.stderr)
        return 1


def _list():
    import glob

    found = 0
    for path in sorted(glob.glob(os.path.join(folder(), "*.sock"))):
        pid = int(os.path.basename(path).split(".")[0])
        try:
            said = ask(pid)
        except OSError:
            if not os.path.exists(f"/proc/{pid}"):
                os.unlink(path)  # Left by a process that was killed.
            continue
        found += 1
        print(f"{pid:>8}  {said['live']['units_live']:>5} units  {' '.join(said['argv'])[:90]}")
    if not found:
        print("no process of this user was started with CLADONIA_TOP=1", file=sys.stderr)
    return 0 if found else 1


def _watch(options):
    """Poll repeatedly: redraw on a terminal, print one line each time in a pipe."""
    is_terminal = sys.stdout.isatty()
    before = ask(options.pid)
    at = time.monotonic()
    if options.once:
        print("\n".join(lines(before, None, 0)))
        return 0
    while True:
        time.sleep(options.interval)
        try:
            now = ask(options.pid)
        except OSError:
            if is_terminal:
                print(f"process {options.pid} has ended")
            return 0
        since = time.monotonic() - at
        if is_terminal:
            height = os.get_terminal_size().lines
            width = os.get_terminal_size().columns
            shown = [line[:width - 1] for line in lines(now, before, since)[:height - 1]]
            sys.stdout.write("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in shown) + "\x1b[J")
        else:
            print(line_of(now, before, since))
        sys.stdout.flush()
        before, at = now, time.monotonic()


def _rate(now, before, key, since):
    return (now["live"][key] - before["live"][key]) / since if before and since else 0.0


def line_of(now, before, since):
    """One sample, as a line."""
    live = now["live"]
    return (f"units={live['units_live']} queue={live['queue']} entries/s={_rate(now, before, 'entries', since):.0f} "
            f"turns/s={_rate(now, before, 'iterations', since):.0f} exits/s={_rate(now, before, 'exits', since):.0f} "
            f"invalidated={live['invalidated']} code_kb={live['code_bytes'] // 1024}")


def lines(now, before, since):
    """One sample, as a screen."""
    live = now["live"]
    said = [f"Cladonia in process {now['pid']}: {' '.join(now['argv'])}",
            f"{'on' if live['on'] else 'OFF'}   {live['units_live']} units, {live['code_bytes'] / 1024:,.0f} KB of machine code   "
            f"{live['units']} compiled, {live['invalidated']} invalidated, {live['units_waiting']} waiting to be freed",
            f"entries {_rate(now, before, 'entries', since):>12,.0f}/s   loop iterations {_rate(now, before, 'iterations', since):>14,.0f}/s   "
            f"exits {_rate(now, before, 'exits', since):>10,.0f}/s   compile queue {live['queue']}",
            f"compiler {live['compile_beside_seconds']:.2f} s beside the program, {live['compile_seconds']:.2f} s on its threads, "
            f"longest stall {live['longest_stall_seconds'] * 1e3:.1f} ms", "",
            f"{'entries':>12} {'iterations':>14} {'exits':>10}  function, {'a second' if before else 'so far'}"]
    known = {(row["name"], row["file"], row["line"]): row for row in before["functions"]} if before else {}
    rows = []
    for row in now["functions"]:
        old = known.get((row["name"], row["file"], row["line"]))
        rates = [(row[key] - old[key]) / since if old and since else row[key] if not before else 0.0 for key in ("entries", "iterations", "left")]
        rows.append((rates, row))
    for rates, row in sorted(rows, key=lambda item: (-item[0][2], -item[0][0] - item[0][1])):
        said.append(f"{rates[0]:>12,.0f} {rates[1]:>14,.0f} {rates[2]:>10,.0f}  {row['name']} ({os.path.basename(row['file'])}:{row['line']})"
                    f"{'' if row['native'] else '  interpreted'}")
    return said
