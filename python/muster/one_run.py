"""One run, by its folder."""

import fcntl
import json
import os
import subprocess

from . import display, journal, metrics, usage
from .command import Error, answer, ask, call, part, parts, program, stream
from .folder import Folder
from .table import Table

_STEPS = "step", "global_step", "iteration", "epoch"


class Run:
    """A run, or a trial of a sweep. `Run("digits~1")`: named as on the command line
    (docs/run_directory.md), or by the path of its folder.

    `path` is its folder; `id` and `name` are those of its summary.
    """

    def __init__(self, word=""):
        path = os.fspath(word)
        is_path = os.path.isdir(path)
        self.path = os.path.abspath(path) if is_path else part(
            ask(["report", path, "--json"]), "run_dir", str)
        self._row = None

    @classmethod
    def _listed(cls, row):
        """The run of a row of `muster ls --json`."""
        run = cls(part(row, "run_dir", str))
        run._row = row
        return run

    @property
    def id(self):
        return part(self._known(), "run", str)

    @property
    def name(self):
        return part(self._known(), "name", str)

    @property
    def columns(self):
        """Values of the columns that `muster.runs(columns=…)` asked for."""
        known = self._known()
        return part(known, "columns", dict) if "columns" in known else {}

    @property
    def summary(self):
        """Its row in `muster ls --json`, read now: run, name, outcome, exit_code, why, started_at,
        seconds, …"""
        found, messages = answer(["ls", self.path, "--json"], nothing_is=(1,))
        rows = parts(found, "runs")
        if not rows:
            raise Error(messages, 1)
        self._row = rows[0]
        return self._row

    @property
    def outcome(self):
        """"running", "ok", "failed", "stopped" or "lost", read now."""
        return part(self.summary, "outcome", str)

    @property
    def report(self):
        """The report, as in report.json (docs/run_directory.md); also of a run that has not ended."""
        return ask(["report", self.path, "--json"])

    @property
    def plan(self):
        """The plan, as in plan.json."""
        with Folder(self.path) as folder:
            return folder.dictionary("plan.json")

    def journal(self):
        """The records of the journal that are written and valid, one by one (docs/journal.md)."""
        return journal.records(self.path)

    def metrics(self, role=None, everyone=False, most=metrics.MOST_ROWS):
        """What its processes reported: a Table with role, index, attempt and the reported values, a row
        for each report. Of each role the first process that reported anything counts, with `everyone`
        all."""
        return Table(metrics.rows(self.path, role, everyone, most))

    def resources(self):
        """What its processes used over time: a Table with role, index, attempt, seconds (since the run
        began), cores, memory_kib and device_memory_kib, a row for each sample of a process with its
        descendants. Short runs have no samples."""
        return Table(usage.rows(self.path, [
            (part(one, "role", str), part(one, "index", int)) for one in parts(self.report, "processes")]))

    def logs(self, role=None, index=None, rank=None, attempt=None, tail=None, since=None, grep=None,
             merge=False):
        """The text that `muster logs` prints. `rank`: a number, or ranks as "0-3,7"."""
        return self._text(["logs", self.path], role=role, index=index, rank=rank, attempt=attempt, tail=tail,
                          since=since, grep=grep, merge=merge)

    def explain(self, name, role=None, rank=None, **parameters):
        """Where a value of the plan comes from, as `muster explain --json`. `parameters`: other values
        for the recipe's parameters."""
        words = ["explain", self.path] + overrides(parameters) + [name, "--json"]
        return ask(words + options(role=role, rank=rank))

    def follow(self):
        """The records of the journal from the first one on, each as soon as it is written, until the run
        ends."""
        return stream(["watch", self.path, "--json"])

    def wait(self, timeout=None):
        """Waits until the run has ended, and returns its outcome. TimeoutError after `timeout` seconds."""
        await_end(self.path, timeout)
        return self.outcome

    def stop(self, now=False, dump=False, wait=False):
        """Stops the run, as `muster stop` does; with `wait` returns once it has ended."""
        call(["stop", self.path] + options(now=now, dump=dump, wait=wait))

    def tag(self, *changes):
        """Adds tags ("good", "ticket=42") and removes them ("good-"), as `muster tag` does."""
        call(["tag", self.path] + list(changes))

    def _text(self, words, **given):
        return call(words + options(**given)).decode("utf-8", "replace")

    def _known(self):
        return self._row or self.summary

    def __repr__(self):
        return "<muster.Run %s>" % self.path

    def __eq__(self, other):
        return isinstance(other, Run) and other.path == self.path

    def __hash__(self):
        return hash(self.path)

    def _repr_html_(self):
        return display.page(self.path) or display.frame(self._summary_html(), 420)

    def _summary_html(self):
        row = self.summary
        rows = self.metrics()
        text = display.heading("%s: %s" % (row.get("name"), row.get("outcome")))
        text += display.table(["run", "started_at", "seconds", "exit_code", "why"], [row])
        for metric in curves_of(rows)[:2]:
            by_role = {}
            for one in rows:
                by_role.setdefault(one["role"], []).append(one)
            series = [(role, points(of_role, metric)) for role, of_role in by_role.items()]
            text += display.curves(series, metric)
        return text


def points(rows, metric):
    """(step, value) of the rows that have the metric; numbered where no step was reported."""
    found = []
    for row in rows:
        if row.get(metric) is not None:
            steps = [row[name] for name in _STEPS if row.get(name) is not None]
            found.append((steps[0] if steps else len(found), row[metric]))
    return found


def curves_of(rows):
    """Names of the reported numbers that are worth a curve, losses first."""
    names = {}
    for row in rows:
        for name, value in row.items():
            if name not in ("role", "index", "attempt", "trial") + _STEPS and isinstance(value, (int, float)):
                names[name] = None
    return sorted(names, key=lambda name: "loss" not in name)


def overrides(parameters):
    """Parameters as words of a command line: texts as the parameter reads them, everything else as JSON."""
    words = []
    for name, value in parameters.items():
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if isinstance(value, str):
            words.append("%s=%s" % (name, value))
        else:
            words.append("%s:=%s" % (name, json.dumps(value, default=_item)))
    return words


def _item(value):
    """The number of a numpy scalar, which JSON does not know."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError("a value of type %s cannot be a parameter" % type(value).__name__)


def options(**given):
    """--name VALUE for those that are given, --name for flags that are set."""
    words = []
    for name, value in given.items():
        if value is True:
            words.append("--" + name.replace("_", "-"))
        elif value is not None and value is not False:
            words += ["--" + name.replace("_", "-"), str(value)]
    return words


def await_end(path, timeout):
    """Until the head has exited: the end of its journal, and then its lock on the folder."""
    command = [program(), "watch", path, "--json"]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise TimeoutError("%s has not ended after %g s" % (path, timeout))
    try:
        with Folder(path) as folder, folder.file("lock") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
    except (Error, OSError):  # a copy of a folder has no lock, and some file systems have none
        pass
