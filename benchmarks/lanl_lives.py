#!/usr/bin/env python3
"""How much of its time a job of fixed size keeps on three machines of Los Alamos National Laboratory.

usage: benchmarks/lanl_lives.py FAILURES.csv[.gz] [MUSTER]

FAILURES has the failures of LA-UR-05-7318 (22 systems, 1996 to 2005; cite LANL), a line each, after a line of names:
system, its number of nodes, node, minute of the failure since 1996-01-01, minutes down (may be empty), cause. They are
replayed by muster simulate --failures from half a year after the first one of a system, for a checkpoint each 30 min that
costs nothing and a start of 5 min, as docs/simulate.md shows. Beside it stands the share of the time in which so many
nodes are up, counted from the file alone: nothing can keep more.
"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

JOBS = [(20, 256), (20, 512), (18, 512), (18, 1024), (8, 164)]
SKIPPED_MINUTES = 180 * 24 * 60
RECIPE = """local muster = require "muster"
return muster.recipe { name = "lanl", cluster = { hosts = HOSTS, devices_per_host = 1 },
  plan = function(p, job) job:workers { count = HOSTS, devices = 1, command = { "true" } } end }
"""


def failures_of(file, system):
    """(minute, node, minutes down) by time, without the first half year, and the minutes that they span."""
    with (gzip.open if file.endswith(".gz") else open)(file, "rt") as lines:
        rows = [(int(r["start_minute_since_1996"]), int(r["node"]), float(r["down_minutes"] or 0))
                for r in csv.DictReader(lines) if int(r["system"]) == system]
    begin = min(row[0] for row in rows) + SKIPPED_MINUTES
    end = max(row[0] for row in rows)
    return sorted((at - begin, node, down) for at, node, down in rows if at >= begin), end - begin


def all_up(failures, span, nodes, spares):
    """The share of the time in which at least `nodes` of `nodes + spares` are up."""
    merged = {}
    for at, node, down in failures:
        if node >= nodes + spares or down == 0:
            continue
        spans = merged.setdefault(node, [])
        if spans and at <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], at + down)
        else:
            spans.append([at, at + down])
    changes = sorted([(a, 1) for s in merged.values() for a, _ in s] + [(b, -1) for s in merged.values() for _, b in s])
    up, down, last = 0, 0, 0
    for at, change in changes + [(span, 0)]:
        up += (min(at, span) - min(last, span)) * (down <= spares)
        down, last = down + change, at
    return up / span


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    muster = sys.argv[2] if len(sys.argv) > 2 else "build/release/bin/muster"
    print(f"{'system':>6} {'nodes':>6} {'spares':>6} {'all up %':>9} {'kept %':>7} {'lost':>6} {'start':>6} {'waiting':>8}"
          f" {'seconds':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for system, nodes in JOBS:
            failures, span = failures_of(sys.argv[1], system)
            with open(os.path.join(folder, "recipe.lua"), "w") as recipe:
                recipe.write(RECIPE.replace("HOSTS", str(nodes)))
            with open(os.path.join(folder, "trace"), "w") as trace:
                trace.writelines(f"{at * 60} {node} {down * 60}\n" for at, node, down in failures)
            began = time.monotonic()
            done = subprocess.run(
                [os.path.abspath(muster), "simulate", "recipe.lua", "--failures", "trace", "--time", f"{span}m", "--interval",
                 "30m", "--save", "0", "--start", "5m", "--spare-hosts", "0,1,2", "--json"],
                cwd=folder, stdout=subprocess.PIPE, check=True)
            took = time.monotonic() - began
            for setting in json.loads(done.stdout)["settings"]:
                rows = {name: 100 * row["median"] for name, row in setting["rows"].items()}
                up = 100 * all_up(failures, span, nodes, setting["spares"])
                print(f"{system:>6} {nodes:>6} {setting['spares']:>6} {up:>9.1f} {rows['kept']:>7.1f} {rows['lost']:>6.1f}"
                      f" {rows['start']:>6.1f} {rows['waiting']:>8.1f} {took / 3:>8.1f}")


if __name__ == "__main__":
    main()
