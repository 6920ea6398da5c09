#!/usr/bin/env python3
"""Measures `muster serve`: how long a report takes to reach a page, and what 20 pages cost the server and the head.

usage: benchmarks/serve.py MUSTER [--clients 20] [--rate 50] [--seconds 20] [--trials 0] [--points 0]

A sweep of one trial reports RATE times a second, each report with its own time; every client holds a stream of events.
With --trials the sweep has so many finished trials before, each with so many points. Then the same is measured while
another client requests the data of the page again and again.
"""

import argparse
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")

RECIPE = """
local muster = require "muster"
return muster.recipe {
  name = "served", params = { x = muster.int { 1 }, last = muster.int { 1 } },
  plan = function(p, job)
    local command = p.x < p.last and { "awk", [[%(points)s]] } or { "python3", "%(reporter)s" }
    job:workers { count = 1, command = command }
  end,
}
"""

POINTS = ('BEGIN { file = ENVIRON["MUSTER_METRICS"]; for (i = 1; i <= %d; i++) '
          'printf "{\\"step\\": %%d, \\"loss\\": %%g}\\n", i, 1 / i >> file }')

REPORTER = """
import json, os, time
with open(os.environ["MUSTER_METRICS"], "a", buffering=1) as metrics:
    step, next_time = 0, time.monotonic()
    while True:
        step, next_time = step + 1, next_time + 1 / %(rate)f
        time.sleep(max(0, next_time - time.monotonic()))
        print(json.dumps({"step": step, "at": time.time()}), file=metrics)
"""


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Client(threading.Thread):
    """Reads the stream of a sweep; remembers how old each new point is."""

    def __init__(self, port, path):
        super().__init__(daemon=True)
        self.port, self.path, self.ages, self.events, self.live = port, path, [], 0, False

    def run(self):
        with socket.create_connection(("127.0.0.1", self.port)) as stream:
            stream.sendall(f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            for line in stream.makefile("rb"):
                now = time.time()
                if not line.startswith(b"data: "):
                    continue
                self.events += 1
                for curve in json.loads(line[6:]).get("curves", []):
                    if curve["metric"] == "at" and not curve.get("replace"):
                        self.ages += [now - at for at in curve["y"]]


class Reader(threading.Thread):
    """Requests the data of the page again and again."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address, self.times, self.more = address, [], True

    def run(self):
        while self.more:
            began = time.time()
            get(self.address)
            self.times.append(time.time() - began)


def percentiles(ages):
    ages = sorted(ages)
    return (f"median {1000 * ages[len(ages) // 2]:.0f} ms, 99 % {1000 * ages[len(ages) * 99 // 100]:.0f} ms,"
            f" worst {1000 * ages[-1]:.0f} ms")


def get(address):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address) as answer:
        return json.load(answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("muster")
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--trials", type=int, default=0)
    parser.add_argument("--points", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        (home / "report.py").write_text(REPORTER % {"rate": options.rate})
        (home / "r.lua").write_text(RECIPE % {"reporter": home / "report.py", "points": POINTS % options.points})
        environment = {**os.environ, "MUSTER_HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
        last = options.trials + 1
        sweep = subprocess.Popen(
            [options.muster, "sweep", "r.lua", "--grid", f"x=1..{last}", f"last={last}", "-q", "--no-progress", "--slots", "4"],
            cwd=home, env=environment, stdin=subprocess.DEVNULL)
        serve = subprocess.Popen([options.muster, "serve", "--json"], cwd=home, env=environment, text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            told = json.loads(serve.stdout.readline())
            while True:
                entries = get(told["address"] + "data")["entries"]
                if entries and entries[0]["over"] == options.trials and entries[0]["running"]:
                    break
                time.sleep(0.2)
            path = "/" + told["address"].split("/")[3] + f"/sweep/{entries[0]['id']}"
            time.sleep(2)
            before = cpu_seconds(sweep.pid)
            time.sleep(options.seconds / 2)
            alone = (cpu_seconds(sweep.pid) - before) / (options.seconds / 2)
            clients = [Client(told["port"], path + "/events?from=1") for _ in range(options.clients)]
            for client in clients:
                client.start()
            time.sleep(2)
            for client in clients:
                client.ages.clear()
                client.events = 0
            before, head = cpu_seconds(serve.pid), cpu_seconds(sweep.pid)
            time.sleep(options.seconds)
            server = (cpu_seconds(serve.pid) - before) / options.seconds
            head = (cpu_seconds(sweep.pid) - head) / options.seconds
            ages = [age for client in clients for age in client.ages]
            expected = options.clients * options.rate * options.seconds
            print(f"{options.clients} clients, {options.rate:g} reports a second, {options.trials} finished trials of {options.points} points")
            print(f"  points received       {len(ages)} of about {expected:.0f}, in {sum(c.events for c in clients)} events")
            print(f"  age at the client     {percentiles(ages)}")
            print(f"  CPU of the server     {100 * server:.2f} % of a core")
            print(f"  CPU of the head       {100 * head:.2f} % of a core; {100 * alone:.2f} % without clients")
            reader = Reader(f"http://127.0.0.1:{told['port']}{path}/data")
            for client in clients:
                client.ages.clear()
            reader.start()
            time.sleep(options.seconds)
            reader.more = False
            ages = [age for client in clients for age in client.ages]
            reader.join()
            print(f"  while data is read    {len(reader.times)} times, each {percentiles(reader.times)}")
            print(f"    age at the client   {percentiles(ages)}")
        finally:
            serve.stdin.close()  # ends it
            serve.wait()
            sweep.send_signal(signal.SIGKILL)
            sweep.wait()


if __name__ == "__main__":
    main()
