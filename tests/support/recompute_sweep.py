#!/usr/bin/env python3
"""Computes the results of a sweep again, from its journal alone and by the documentation, and compares them with what
muster shows: `ls`, `best`, `show`, `export`, the data of the page, and the Python package.

usage: recompute_sweep.py MUSTER SWEEP_DIR
Prints one line for each number that differs, and exits with 1 if there is any.
"""

import collections
import csv
import io
import json
import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

FAILURES = {"oom_device", "oom_host", "diverged", "timeout", "host_lost", "preempted", "user_error", "crash", "stalled",
            "no_result"}


# --- the journal ------------------------------------------------------------------------------------------

class Sweep:
    """What the entries of the journal say, by the rules of docs/sweeps.md."""

    def __init__(self, folder):
        with open(os.path.join(folder, "sweep.json"), encoding="utf-8") as file:
            self.description = json.load(file)
        self.sign = -1 if (self.description.get("objective") or {}).get("maximize") else 1
        self.attempts = collections.defaultdict(dict)  # trial → attempt → its entries together
        self.rungs = collections.defaultdict(dict)  # rung → trial → whether it was stopped there
        self.impossible = set()
        self.raced = 0  # of these
        self.over = set()
        self.at_pause = set()  # trials whose latest attempt was to pause at a rung
        self.trials = 0
        self.judged_to = 0
        self.complete = False
        self.seeds = None  # how points are repeated
        self.order = []  # trials of repeated points in the order in which they began
        with open(os.path.join(folder, "journal.jsonl"), encoding="utf-8") as file:
            for line in file:
                self.take(json.loads(line))

    def take(self, entry):
        event = entry["event"]
        if event == "sweep_began":
            self.trials, self.complete = entry["trials"], False
            self.seeds = entry.get("seeds")
        elif event == "points_judged":
            self.raced += entry["count"] if entry.get("raced") else 0
            self.judged_to = max(self.judged_to, entry["first"] + entry["count"])
            for reason in entry["impossible"]:
                for first, last in reason["trials"]:
                    self.impossible.update(range(first, last + 1))
        elif event in ("value_skipped", "value_restored"):
            for first, last in entry["trials"]:
                change = "update" if event == "value_skipped" else "difference_update"
                getattr(self.impossible, change)(range(first, last + 1))
        elif event == "sweep_edited":
            self.trials = max(entry["trials"], self.judged_to)
            self.seeds = entry.get("seeds")
        elif event == "sweep_steered":
            self.trials = max(self.trials, entry.get("trials") or 0)
        elif event == "attempt_began":
            self.at_pause.discard(entry["trial"])
            if self.seeds and entry["trial"] not in self.attempts:
                self.order.append(entry["trial"])
            self.attempts[entry["trial"]][entry["attempt"]] = dict(entry, end=None)
        elif event == "attempt_ended":
            end = dict({"interrupted": False, "again": False, "loss": None}, **entry)
            self.attempts[entry["trial"]][entry["attempt"]]["end"] = end
            if not end["again"] and not end["interrupted"]:
                self.over.add(entry["trial"])
        elif event == "trials_reopened":
            for first, last in entry["trials"]:
                self.over.difference_update(range(first, last + 1))
                self.at_pause.difference_update(range(first, last + 1))
        elif event == "rung_reached":
            decision = entry["decision"]
            if decision.get("paused"):
                self.at_pause.add(entry["trial"])
            at = self.rungs[decision["rung"]]
            at[entry["trial"]] = at.get(entry["trial"], False) or decision["stop"]
        elif event == "trial_promoted":
            self.over.discard(entry["trial"])
            self.rungs[entry["rung"]][entry["trial"]] = False
        elif event == "sweep_ended":
            self.complete = entry["complete"]

    def kept(self, trial):
        """The number of the attempt that the trial keeps."""
        attempts = self.attempts[trial]
        results = {number: one["end"] for number, one in attempts.items()
                   if one["end"] is not None and not one["end"]["interrupted"]}
        ok = [(end["loss"] if end["loss"] is not None else float("inf"), number)
              for number, end in results.items() if end["class"] == "ok"]
        if ok:
            return min(ok)[1]
        stopped = [number for number, end in results.items() if end["class"] == "stopped"]
        return max(stopped) if stopped else max(attempts)

    def row(self, trial):
        number = self.kept(trial)
        end = self.attempts[trial][number]["end"]
        loss = None
        if end is not None and not end["interrupted"] and end["class"] in ("ok", "stopped"):
            loss = end["loss"]
        latest = self.attempts[trial][max(self.attempts[trial])]["end"]
        if trial in self.over:
            paused = trial in self.at_pause and latest["class"] == end["class"] == "stopped"
            state = "paused" if paused else end["class"]
        elif latest is None:
            state = "lost"
        else:
            state = "interrupted" if latest["interrupted"] else "again"
        return {"trial": trial, "attempt": number + 1, "state": state, "loss": loss,
                "value": None if loss is None else self.sign * loss}

    def rows(self):
        return [self.row(trial) for trial in sorted(self.attempts)]

    def counts(self):
        classes = collections.Counter(self.row(trial)["state"] for trial in self.over)
        return {"trials": self.trials, "over": len(self.over), "impossible": len(self.impossible),
                "failed": sum(count for name, count in classes.items() if name in FAILURES), "classes": dict(classes)}

    def points(self):
        """The points that are repeated, the best first, by docs/sweeps.md: {point, trials, losses, value, ...}."""
        found = {}
        for trial in self.order:
            point = {name: value for name, value in self.attempts[trial][0]["point"].items()
                     if name != self.seeds["param"]}
            one = found.setdefault(json.dumps(point, sort_keys=True), {"point": point, "trials": [], "losses": []})
            one["trials"].append(trial)
        succeeded = {trial: loss for loss, trial in self.successes()}
        for one in found.values():
            one["trials"].sort()
            losses = [succeeded[trial] for trial in one["trials"] if trial in succeeded]
            mean = statistics.median if self.seeds and self.seeds["median"] else statistics.fmean
            one.update(losses=losses, loss=mean(losses) if losses else None,
                       deviation=statistics.stdev(losses) if len(losses) > 1 else 0,
                       ranked=len(losses) >= self.seeds["count"])
        return sorted(found.values(), key=lambda one: (
            not one["ranked"], one["loss"] is None, one["loss"] or 0, one["trials"][0]))

    def ranking(self):
        """The trials that succeeded, the best first; of repeated points those with all their results."""
        ranked = {trial for one in self.points() if one["ranked"] for trial in one["trials"]} if self.seeds else None
        return [(loss, trial) for loss, trial in self.successes() if ranked is None or trial in ranked]

    def successes(self):
        """The trials that succeeded, the best first."""
        found = []
        for trial in self.attempts:
            end = self.attempts[trial][self.kept(trial)]["end"]
            if end is not None and not end["interrupted"] and end["class"] == "ok" and end["loss"] is not None:
                found.append((end["loss"], trial))
        return sorted(found)


# --- the views --------------------------------------------------------------------------------------------

def ask(muster, *words):
    done = subprocess.run([muster, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.stdout.decode()


def page_of(muster, folder, path):
    ask(muster, "report", folder, "--html", path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    os.remove(path)
    return json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL).group(1))


class Comparison:
    def __init__(self, sweep):
        self.sweep = sweep
        self.problems = []
        self.numbers = 0

    def equal(self, what, shown, true):
        self.numbers += 1
        if isinstance(shown, float) or isinstance(true, float):
            same = shown is not None and true is not None and abs(shown - true) <= 1e-12 * max(1, abs(true))
        else:
            same = shown == true
        if not same:
            self.problems.append("%s: %r is shown, %r is true" % (what, shown, true))

    def rows(self, view, rows, names):
        true = self.sweep.rows()
        self.equal("%s: trials" % view, [row["trial"] for row in rows], [row["trial"] for row in true])
        for shown, own in zip(rows, true):
            for name in names:
                self.equal("%s: %s of trial %d" % (view, name, own["trial"]), shown[name], own[name])


def compare(muster, folder):
    sweep = Sweep(folder)
    found = Comparison(sweep)
    everything = ("attempt", "state", "value")

    listed = json.loads(ask(muster, "ls", folder, "--json"))["trials"]
    found.rows("ls", listed, everything)
    exported = [dict(row, trial=int(row["trial"]), attempt=int(row["attempt"]),
                     value=float(row["value"]) if row["value"] else None)
                for row in csv.DictReader(io.StringIO(ask(muster, "export", folder, "--csv")))]
    found.rows("export", exported, everything)

    counts, ranking = sweep.counts(), sweep.ranking()
    shown = json.loads(ask(muster, "show", folder, "--json"))
    for name in ("trials", "over", "impossible", "classes"):
        found.equal("show: " + name, shown[name], counts[name])
    found.equal("show: failed", sum(count for name, count in shown["classes"].items() if name in FAILURES),
                counts["failed"])
    rungs = [(rung + 1, len(trials), sum(trials.values())) for rung, trials in sorted(sweep.rungs.items())]
    found.equal("show: rungs", [(one["rung"], one["trials"], one["stopped"]) for one in shown["rungs"]], rungs)

    if sweep.seeds:
        points(found, sweep, "ls", json.loads(ask(muster, "ls", folder, "--json")).get("points", []), sweep.points())
        if ranking:
            shown_best = json.loads(ask(muster, "best", folder, "--json", "-n", "1000"))["points"]
            points(found, sweep, "best", shown_best, [one for one in sweep.points() if one["ranked"]])
    best_loss = ranking[0][0] if ranking else None
    if ranking and sweep.seeds:
        best_loss = sweep.points()[0]["loss"]

    best = json.loads(ask(muster, "best", folder, "--json", "-n", "1000"))["trials"] if ranking else []
    found.equal("best: losses", [sweep.sign * row["value"] for row in best], [loss for loss, _ in ranking])
    found.equal("best: trials", sorted(row["trial"] for row in best), sorted(trial for _, trial in ranking))
    if ranking:
        found.equal("show: best", sweep.sign * shown["best"]["value"], best_loss)
        directory = json.loads(ask(muster, "show", folder + ":best", "--json"))["run_dir"]
        own = next(row for row in listed if row["trial"] == shown["best"]["trial"])
        found.equal("SWEEP:best: directory", directory, own["run_dir"])
        found.equal("show: attempt of the best", shown["best"]["attempt"], own["attempt"])

    page = page_of(muster, folder, folder.rstrip("/") + ".html")
    columns = {column["name"]: column["values"] for column in page["columns"]}
    found.rows("page", [{name: columns[name][i] for name in ("trial",) + everything}
                        for i in range(len(columns["trial"]))], everything)
    source = page["sources"][0]
    for name in ("over", "failed"):
        found.equal("page: " + name, source["counts"][name], counts[name])
    found.equal("page: impossible", source["counts"]["impossible"], counts["impossible"] - sweep.raced)
    found.equal("page: possible", source["counts"]["possible"], counts["trials"] - counts["impossible"])
    found.equal("page: rungs", [(one["rung"] + 1, one["trials"], one["stopped"]) for one in source["rungs"]], rungs)
    if ranking:
        found.equal("page: best", sweep.sign * source["best"]["value"], best_loss)
    if sweep.seeds and sweep.order:
        of_page = source["points"]
        found.equal("page: number of points", of_page["total"], len(sweep.points()))
        found.equal("page: seeds", (of_page["seed"], of_page["count"], of_page["median"]),
                    (sweep.seeds["param"], sweep.seeds["count"], sweep.seeds["median"]))
        points(found, sweep, "page", of_page["points"], sweep.points()[:len(of_page["points"])])
    importance(found, sweep, source)

    os.environ["MUSTER"] = muster
    import muster as package
    in_python = package.Sweep(folder)
    found.rows("Python", list(in_python.trials()), everything)
    if sweep.seeds:
        in_table = [dict(row, point={name: row[name] for name in own["point"]})
                    for row, own in zip(in_python.points(), sweep.points())]
        points(found, sweep, "Python", in_table, sweep.points())
    if ranking:
        found.equal("Python: best", sweep.sign * in_python.best()[0]["value"],
                    min(sweep.points()[0]["losses"]) if sweep.seeds else ranking[0][0])
        if os.path.isdir(directory):
            found.equal("Python: trial best", in_python.trial("best").path, os.path.abspath(directory))
    return found


def points(found, sweep, view, shown, true):
    found.equal("%s: points" % view, [one["point"] for one in shown], [one["point"] for one in true])
    for one, own in zip(shown, true):
        what = "%s: %s of " + str(own["point"])
        found.equal(what % (view, "trials"), one["trials"], own["trials"])
        found.equal(what % (view, "results"), one["results"], len(own["losses"]))
        found.equal(what % (view, "value"), one["value"], None if own["loss"] is None else sweep.sign * own["loss"])
        found.equal(what % (view, "deviation"), float(one["deviation"]), float(own["deviation"]))
        found.equal(what % (view, "ranked"), one["ranked"], own["ranked"])


def importance(found, sweep, source):
    """The shares of the variance of a complete grid (one-way effects), if the page says that it has computed them."""
    results = {trial: loss for loss, trial in sweep.successes()}
    if len(results) < 5 or max(results.values()) == min(results.values()):
        found.equal("page: importance", source["importance"], None)
        return
    if source["importance"] is None or source["importance"]["method"] != "means":
        return
    shares = {one["name"]: one["share"] for one in source["importance"]["parameters"]}
    cells = collections.defaultdict(list)
    for trial, loss in results.items():
        point = sweep.attempts[trial][sweep.kept(trial)]["point"]
        cells[tuple(json.dumps(point[name]) for name in shares if name != "interactions")].append(loss)
    means = {cell: statistics.fmean(losses) for cell, losses in cells.items()}
    total = statistics.pvariance(means.values())
    for place, name in enumerate(one for one in shares if one != "interactions"):
        groups = collections.defaultdict(list)
        for cell, mean in means.items():
            groups[cell[place]].append(mean)
        own = statistics.pvariance([statistics.fmean(group) for group in groups.values()])
        if abs(shares[name] - own / total) > 1e-9:
            found.problems.append("page: importance of %s: %r is shown, %r is true" % (name, shares[name], own / total))


def main():
    found = compare(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    for problem in found.problems:
        print(problem)
    print("%d numbers compared, %d differ" % (found.numbers, len(found.problems)))
    sys.exit(1 if found.problems else 0)


if __name__ == "__main__":
    main()
