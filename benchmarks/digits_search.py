#!/usr/bin/env python3
"""Searches five parameters of a real training (recipes/digits_search.lua): random points that run to the end beside TPE
with ASHA and promotion. Prints for each seed the device time until a trial has reached the target.

usage: digits_search.py [--muster build/release/bin/muster] [--seeds 20] [--first 0] [--target 0.958] [--seconds 60]
                        [--until end|any]

The device time is the time of all attempts, one at a time, up to the end of the first whose result reaches the target:
  end     the result of a trial that ran to its end
  any     up to the end of the first attempt that has reached it after any pass
  passes  over the training data until `end`, which do not depend on what else the machine does
A search ends when it has reached the one of --until; one that did not within --seconds counts with the time that it
took (marked >).
"""

import argparse
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
SEARCHES = ("random", "tpe, asha, promote")


def sweep_file(folder, search, seed):
    """The recipe's search with another sampler, and without early stopping for random points."""
    text = (SOURCE / "recipes/digits_search.lua").read_text()
    kind = "random" if search == "random" else "tpe"
    text, found = re.subn(r"muster\.tpe \{[^}]*\}", "muster.%s { seed = %d, trials = 2000 }" % (kind, seed), text)
    assert found == 1
    if search == "random":
        text, found = re.subn(r"\n *early_stop = [^\n]*", "", text)
        assert found == 1
    file = folder / "search.lua"
    file.write_text(text)
    return file


def best_of(folder):
    """The best accuracy that an attempt reported."""
    best = 0
    for file in (folder / "metrics").glob("worker.0.*.jsonl"):
        best = max([best] + [json.loads(line)["accuracy"] for line in file.read_text().splitlines()])
    return best


class Reached:
    """What the journal says: device time and passes until the target was reached, or in all."""

    def __init__(self, journal, target, with_curves=True):
        self.until = {"end": None, "any": None, "passes": None}
        began = {}
        folders = {}
        passes = 0
        self.trials = 0
        self.best = 0
        total = 0
        for line in journal.read_text().splitlines(keepends=True):
            if not line.endswith("\n"):
                break
            entry = json.loads(line)
            if entry["event"] == "attempt_began" and entry["attempt"] == 0:
                self.trials += 1
                began[entry["trial"]] = 0
            if entry["event"] == "attempt_began":
                attempt = "t/%s/%s.%d" % (entry["id"][:2], entry["id"], entry["attempt"])
                folders[entry["trial"]] = journal.parent / attempt
            if entry["event"] == "attempt_began" and "resumed" in entry:
                began[entry["trial"]] = int(re.search(r"epoch_(\d+)", entry["resumed"]["checkpoint"]).group(1))
            if entry["event"] != "attempt_ended":
                continue
            total += entry["ms"] / 1000
            passes += max(0, entry.get("metrics", {}).get("epoch", 0) - began[entry["trial"]])
            accuracy = -entry["loss"] if entry.get("loss") is not None else 0
            if entry["class"] not in ("ok", "stopped") or entry.get("interrupted"):
                continue
            self.best = max(self.best, accuracy if entry["class"] == "ok" else 0)
            if accuracy >= target and entry["class"] == "ok":
                self.until["end"] = self.until["end"] or total
                self.until["passes"] = self.until["passes"] or passes
            if with_curves and self.until["any"] is None and best_of(folders[entry["trial"]]) >= target:
                self.until["any"] = total
        self.total = {"end": total, "any": total, "passes": passes}


def search(muster, kind, seed, options):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        env = dict(os.environ, MUSTER_HOME=str(folder / "home"), PATH="%s:%s" % (muster.parent, os.environ["PATH"]))
        call = [str(muster), "sweep", str(sweep_file(folder, kind, seed)), "--slots", "1", "--no-progress", "--quiet",
                "--max-time", "%ds" % options.seconds]
        sweep = subprocess.Popen(call, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while sweep.poll() is None:
            journals = list((folder / "home").rglob("journal.jsonl"))
            journal = min(journals, key=lambda one: len(one.parts), default=None)
            if journal is not None and Reached(journal, options.target, options.until == "any").until[options.until]:
                sweep.send_signal(signal.SIGTERM)
                sweep.wait()
            time.sleep(0.5)
        errors = sweep.stderr.read()
        if sweep.returncode not in (0, 143):
            raise SystemExit("%s, seed %d: %s" % (kind, seed, errors))
        return Reached(journal, options.target)


def main():
    parser = argparse.ArgumentParser(description="searches five parameters of a real training")
    parser.add_argument("--muster", type=pathlib.Path, default=SOURCE / "build/release/bin/muster")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target", type=float, default=0.958)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--until", choices=("end", "any"), default="end")
    options = parser.parse_args()
    times = {kind: {"end": [], "any": [], "passes": []} for kind in SEARCHES}
    for seed in range(options.first, options.first + options.seeds):
        for kind in SEARCHES:
            reached = search(options.muster.resolve(), kind, seed, options)
            shown = []
            for what, value in reached.until.items():
                if options.until == "any" and what != "any":
                    continue
                times[kind][what].append(value or reached.total[what])
                shown.append("%s %s%.2f" % (what, "" if value else ">", value or reached.total[what]))
            print("  seed %3d  %-20s  %s   %d trials, best %.6f" %
                  (seed, kind, "  ".join(shown), reached.trials, reached.best), flush=True)
    for what in ("end", "any", "passes") if options.until == "end" else ("any",):
        medians = [statistics.median(times[kind][what]) for kind in SEARCHES]
        print("  %s: median %.2f and %.2f: ratio %.2f" %
              (what, medians[0], medians[1], medians[1] / medians[0]))


if __name__ == "__main__":
    main()
