#!/usr/bin/env python3
"""Checks that `muster serve` delivers events while it collects the data of a page.

usage: collect_serve.py MUSTER FOLDER

The process that collects is stopped (SIGSTOP) in the middle, so that no time is involved. Prints what is wrong and exits with 1.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browse_serve import RECIPE, Pipes, check  # noqa: E402


class Stream:
    """The events of a page."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        self.lines = self.socket.makefile("r", encoding="utf-8")

    def next(self):
        for line in self.lines:
            if line.startswith("data: "):
                return json.loads(line[6:])
        raise AssertionError("the stream has ended")


class Request(threading.Thread):
    """A request whose answer arrives whenever it does."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address, self.answer = address, None
        self.start()

    def run(self):
        self.answer = get(self.address)


def get(address):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address) as answer:
        return json.load(answer)


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def stopped_collection(serve, address):
    """A request, and the process that collects its answer, stopped before it has."""
    for _ in range(100):
        request = Request(address)
        while request.is_alive():
            for child in children(serve.pid):
                try:
                    os.kill(child, signal.SIGSTOP)
                except ProcessLookupError:
                    continue
                while (state := state_of(child)) not in "TZXgone":
                    pass
                if state == "T" and request.answer is None:
                    return request, child
        check(request.answer is not None, "the data was refused")
    raise AssertionError("no process collects the data")


def test(told, serve, start_sweep, pipes):
    address, port = told["address"], told["port"]
    token = "/" + address.split("/")[3]
    index = Stream(port, token + "/events?from=0")
    start_sweep()
    while not (lines := [line for line in index.next() if line["running"]]):
        pass
    sweep = f"sweep/{lines[0]['id']}"
    events = Stream(port, f"{token}/{sweep}/events?from=0")
    pipes.report(1, step=1, loss=0.5)
    reported(events, 0.5)

    request, child = stopped_collection(serve, address + sweep + "/data")
    pipes.report(1, step=2, loss=0.25)
    reported(events, 0.25)
    check(get(address + "data")["entries"], "the list is empty")
    check(request.answer is None and state_of(child) == "T", "the data was there before the event")
    # A request that arrives meanwhile gets the same data.
    second = Request(address + sweep + "/data")
    os.kill(child, signal.SIGCONT)
    request.join()
    second.join()
    for one in (request, second):
        check(one.answer["page"]["keys"] == ["0:0"], f"the data is {one.answer}")
    pipes.report(1, step=3, loss=0.125)
    reported(events, 0.125)
    check(get(address + sweep + "/data")["version"] > request.answer["version"], "the version stands still")


def reported(events, loss):
    while not any(loss in curve["y"] for curve in events.next()["curves"] if curve["metric"] == "loss"):
        pass


def main():
    muster, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    (folder / "recipe.lua").write_text(RECIPE % folder)
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    environment = {"PATH": "/usr/bin:/bin", "MUSTER_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(runtime)}
    pipes = Pipes(folder, 1)
    started = []

    def start_sweep():
        words = ["sweep", "recipe.lua", "--grid", "x=1", "--minimize", "loss", "-q", "--no-progress"]
        started.append(subprocess.Popen([muster, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL))

    serve = subprocess.Popen([muster, "serve", "--json"], cwd=folder, env=environment, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        test(json.loads(serve.stdout.readline()), serve, start_sweep, pipes)
        pipes.write(1, "end")
        started[0].wait()
        check(children(serve.pid) == [], "processes that collected are left")
        serve.stdin.close()  # ends it
        check(serve.wait() == 0, "the server did not end well")
    except AssertionError as error:
        print(error)
        return 1
    finally:
        for process in [serve, *started]:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
