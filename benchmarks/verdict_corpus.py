#!/usr/bin/env python3
"""How often verdicts are right, on lives of jobs that muster drill makes: the table of docs/verdicts.md.

usage: verdict_corpus.py [FAILURES.csv[.gz]] [--muster PROGRAM] [--lives N] [--more N] [--at-once N]
                         [--seed N] [--classes NAME,…] [--json]

Each life is a drill of stubs on four hosts with three spares: agents on this machine, each over a stand-in
for ssh. Its steps take 5 ms, so that hours are seconds; checkpoints are written every 10 steps. Where
failures are transient, or one host causes them, their times and hosts are a window of FAILURES, which has
the failures of LA-UR-05-7318 (22 systems of Los Alamos National Laboratory, 1996 to 2005; cite LANL), a line
each, after a line of names: system, its number of nodes, node, minute, minutes down, cause. Without a file
they are drawn from a Weibull distribution of shape 0.7.

The full disk is a tmpfs in a mount namespace: the program calls itself in one, as root or in a user
namespace. --more: lives of the classes that do not repeat beside the table, for the count of wrong stops.
"""
import argparse
import collections
import concurrent.futures
import csv
import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
HOSTS = ["n1", "n2", "n3", "n4"]
SYSTEMS = ("18", "19", "20")
FIRST_S = 0.25           # of the first failure
MEAN_S = 0.5             # between failures
KEPT_FAILURES = 4        # of a transient life
BAD_HOST_FAILURES = 6
SSH = """#!/bin/sh
while [ "$1" != -- ]; do [ "$1" = -G ] && exit 0; shift; done
exec /bin/sh -c "$3"
"""
RECIPE = """local muster = require "muster"
return muster.recipe { name = "life", framework = "none", cluster = { hosts = 4 },
  checkpoint = { dir = "CHECKPOINTS", latest = "step_*.txt" },
  plan = function(p, job)
    job:workers { per_host = 1, count = 4, devices = 0, command = { "train", job.checkpoint.newest },
      limits = { silent = "1500ms" },
      restart = { verdict = true, scope = "job", max = 100, backoff = "1ms" } }
  end }
"""


class Arrivals:
    """Windows of failures of a machine: of four of its hosts, or of one."""

    def __init__(self, file):
        self.systems = collections.defaultdict(lambda: collections.defaultdict(list))
        if not file:
            return
        with (gzip.open if file.endswith(".gz") else open)(file, "rt") as lines:
            for row in csv.DictReader(lines):
                if row["system"] in SYSTEMS:
                    self.systems[row["system"]][row["node"]].append(int(row["start_minute_since_1996"]))

    def of_hosts(self, rng, failures):
        """[(seconds, host)], by time."""
        if not self.systems:
            return self._drawn(rng, failures, lambda: rng.choice(HOSTS))
        nodes = self.systems[rng.choice(SYSTEMS)]
        chosen = rng.sample(sorted(node for node, times in nodes.items() if len(times) > 1), len(HOSTS))
        merged = sorted((at, host) for node, host in zip(chosen, HOSTS) for at in nodes[node])
        return self._window(rng, merged, failures)

    def of_one(self, rng, failures):
        """[seconds] of a node that fails often: of the upper tenth of its system."""
        if not self.systems:
            return [at for at, _ in self._drawn(rng, failures, lambda: None)]
        nodes = self.systems[rng.choice(SYSTEMS)]
        often = sorted(nodes.values(), key=len)[-max(1, len(nodes) // 10):]
        times = rng.choice([each for each in often if len(each) >= failures])
        return [at for at, _ in self._window(rng, [(at, None) for at in sorted(times)], failures)]

    @staticmethod
    def _window(rng, all_failures, failures):
        begin = rng.randrange(max(1, len(all_failures) - failures + 1))
        window = all_failures[begin:begin + failures]
        first, last = window[0][0], window[-1][0]
        scale = MEAN_S * (len(window) - 1) / (last - first) if last > first else 0
        return [(FIRST_S + (at - first) * scale, host) for at, host in window]

    @staticmethod
    def _drawn(rng, failures, host):
        at, drawn = FIRST_S, []
        for _ in range(failures):
            drawn.append((at, host()))
            at += rng.weibullvariate(MEAN_S / 1.266, 0.7)
        return drawn


def fault(kind, target, at):
    return f"{kind}{':' + target if target else ''}@{round(at * 1000)}ms"


class Life:
    """What one life goes through: options of muster drill, and what is the truth."""

    def __init__(self, name, seed, arrivals, folder):
        self.rng = random.Random(f"{name} {seed}")
        self.name, self.arrivals, self.folder = name, arrivals, folder
        self.faults, self.bad, self.checkpoints, self.options = [], None, "checkpoints", []
        self.truth = {"exit": "repeats", "exception at a fixed step": "repeats", "out of memory": "repeats",
                      "full disk": "repeats", "slow host": "host", "bad host": "host"}.get(name, "transient")
        getattr(self, "_" + name.replace(" ", "_"))()
        ends = [float(each.split("@")[1].split("ms")[0]) / 1000 for each in self.faults if "ms" in each]
        # What repeats ends by itself; of the others the run is stopped after the last failure.
        self.seconds = 10.0 if self.truth == "repeats" else max(ends) + 0.7

    def _defect(self, kind, early):
        step = 0 if early else self.rng.randrange(1, 100)
        self.faults = [f"{kind}:worker:{self.rng.randrange(4)}@{step}steps"]

    def _exit(self):
        # As without a module, of every process; or of one at a step.
        self._defect("exit", False)
        if self.rng.random() < 0.5:
            self.faults = [f"exit:worker:{rank}@0steps" for rank in range(4)]

    def _exception_at_a_fixed_step(self):
        self._defect("exception", False)

    def _out_of_memory(self):
        self._defect("memory", self.rng.random() < 0.5)

    def _full_disk(self):
        self.checkpoints = os.path.join(self.folder, "disk")
        at = FIRST_S * self.rng.random()
        self.faults = [f"disk:{self.checkpoints}@{round(at * 1000)}ms+30s"]

    def _at_hosts(self, kind, failures=KEPT_FAILURES):
        self.faults = [fault(kind, host, at) for at, host in self.arrivals.of_hosts(self.rng, failures)]

    def _exception_at_random_steps(self):
        self._at_hosts("exception")

    def _lost_host(self):
        self._at_hosts("agent", 3)

    def _hang(self):
        self._at_hosts("hang", 3)

    def _port_taken(self):
        self._at_hosts("port", 3)

    def _of_engine(self, kind):
        # Of each run that continues from the checkpoint of the one before.
        self.faults = [fault(kind, "", at) for at, _ in self.arrivals.of_hosts(self.rng, 3)]
        self.options = ["--resumes", "3"]

    def _preemption(self):
        self._of_engine("preempt")

    def _time_limit(self):
        self._of_engine("timelimit")

    def _slow_host(self):
        self.bad = self.rng.choice(HOSTS)
        times = self.arrivals.of_one(self.rng, 3)
        self.faults = [f"slow:{self.bad}@{round(at * 1000)}ms+300ms" for at in times]

    def _bad_host(self):
        self.bad = self.rng.choice(HOSTS)
        others = [host for host in HOSTS if host != self.bad]
        for at in self.arrivals.of_one(self.rng, BAD_HOST_FAILURES):
            host = self.bad if self.rng.random() < 0.99 else self.rng.choice(others)
            way = self.rng.choice(["exception", "exit", "kill", "hang", "agent"])
            self.faults.append(fault(way, host, at))


CLASSES = ["exit", "exception at a fixed step", "exception at random steps", "out of memory", "full disk",
           "lost host", "slow host", "hang", "port taken", "preemption", "time limit", "bad host"]


def lived(muster, file, name, seed):
    """{"failures", "stopped", "excluded", "others", …} of one life; failures counted from 1, 0: never."""
    folder = tempfile.mkdtemp(prefix="life")
    try:
        arrivals = lived.arrivals.setdefault(file, None) or Arrivals(file)
        lived.arrivals[file] = arrivals
        life = Life(name, seed, arrivals, folder)
        if name == "full disk":
            os.mkdir(life.checkpoints)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "drill", life.checkpoints],
                           check=True)
            pathlib.Path(life.checkpoints, "muster-may-fill").touch()
        pathlib.Path(folder, "ssh").write_text(SSH)
        os.chmod(os.path.join(folder, "ssh"), 0o755)
        pathlib.Path(folder, "life.lua").write_text(RECIPE.replace("CHECKPOINTS", life.checkpoints))
        words = [muster, "drill", "life.lua", "--stub", "--step", "5ms", "--steps", "100000", "--json",
                 "--host", "n[1-7]", "--spares", "3", "--time", f"{life.seconds}s", *life.options]
        for each in life.faults:
            words += ["--inject", each]
        env = {"PATH": "/usr/bin:/bin", "MUSTER_SSH": os.path.join(folder, "ssh"), "HOME": "/root",
               "XDG_STATE_HOME": os.path.join(folder, "state"), "TMPDIR": os.environ.get("TMPDIR", "/tmp")}
        done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
        said = json.loads(done.stdout or "{}")
        if "faults" not in said:
            raise RuntimeError(done.stdout + done.stderr)
        return {"name": name, "seed": seed, "faults": life.faults, **judged(said, life)}
    finally:
        if os.path.ismount(os.path.join(folder, "disk")):
            subprocess.run(["umount", "--lazy", os.path.join(folder, "disk")], check=False)
        shutil.rmtree(folder, ignore_errors=True)


lived.arrivals = {}


def judged(said, life):
    result = {"failures": 0, "stopped": 0, "excluded": 0, "others": 0, "verdicts": []}
    for run in said["runs"]:
        for line in open(os.path.join(run["run_dir"], "journal.jsonl"), encoding="utf-8"):
            record = json.loads(line)
            if record.get("event") != "failure_judged":
                continue
            result["failures"] += 1
            names = ("host_name", "class", "step", "verdict", "rule")
            result["verdicts"].append([record.get(name) for name in names])
            if record["verdict"] == "stop" and not result["stopped"]:
                result["stopped"] = result["failures"]
            # A lost host is replaced in any case.
            if record["verdict"] != "exclude_host" and record["class"] != "host":
                continue
            if record["host_name"] == life.bad:
                result["excluded"] = result["excluded"] or result["failures"]
            elif record["verdict"] == "exclude_host":
                result["others"] += 1
    result["as_simulated"] = said["as_simulated"] == said["decisions"]
    return result


def table(lives, truths):
    rows = []
    for name in CLASSES:
        of = [life for life in lives if life["name"] == name]
        if not of:
            continue
        early = sum(0 < life["stopped"] <= 2 for life in of)
        excluded_early = sum(0 < life["excluded"] <= 2 for life in of)
        rows.append([name, truths[name], early, sum(life["stopped"] > 0 for life in of), excluded_early,
                     sum(life["excluded"] > 0 for life in of), sum(life["others"] > 0 for life in of)])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("failures", nargs="?", default="")
    parser.add_argument("--muster", default=str(SOURCE / "build/release/bin/muster"))
    parser.add_argument("--lives", type=int, default=100)
    parser.add_argument("--more", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--classes", default=",".join(CLASSES))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if os.environ.get("MUSTER_CORPUS") != str(os.getppid()):
        own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        os.environ["MUSTER_CORPUS"] = str(os.getpid())
        child = subprocess.run(["unshare", "--mount", *own, sys.executable, __file__, *sys.argv[1:]],
                               check=False)
        return child.returncode
    began = time.monotonic()
    names = options.classes.split(",")
    truths = {name: Life(name, 0, Arrivals(options.failures), "/").truth for name in names}
    seeds = range(options.seed, options.seed + options.lives)
    more = range(options.seed + options.lives, options.seed + options.lives + options.more)
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        def all_of(wanted):
            muster = os.path.abspath(options.muster)
            return list(pool.map(lambda each: lived(muster, options.failures, *each), wanted))
        lives = all_of([(name, seed) for seed in seeds for name in names])
        others = [name for name in names if truths[name] != "repeats"]
        beside = all_of([(name, seed) for seed in more for name in others])
    rows = table(lives, truths)
    harmless = [life for life in lives + beside if truths[life["name"]] != "repeats"]
    wrong = [life for life in harmless if life["stopped"]]
    said = {"lives": len(lives) + len(beside), "rows": rows, "harmless": len(harmless),
            "wrong_stops": len(wrong), "failures": sum(life["failures"] for life in harmless),
            "of_each": lives + beside}
    if options.json:
        print(json.dumps(said))
        return 0
    print("| class | in truth | stopped ≤ 2 | stopped | host excluded ≤ 2 | host excluded | a good host "
          "excluded |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(f"{len(wrong)} of {len(harmless)} lives whose failures do not repeat were stopped, with "
          f"{said['failures']} failures; decided as simulated: "
          f"{sum(life['as_simulated'] for life in lives + beside)} of {said['lives']}; "
          f"{time.monotonic() - began:.0f} s")
    for life in wrong:
        print("stopped:", life)
    return 0


if __name__ == "__main__":
    sys.exit(main())
