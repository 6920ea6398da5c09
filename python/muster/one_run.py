"""One run, by its folder."""

import fcntl
import json
import os
import subprocess
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import display, journal, metrics, usage
from .command import Error, answer, ask, call, part, parts, program, stream
from .folder import Folder
from .table import Table

_STEPS = "step", "global_step", "iteration", "epoch"


class Labelled:
    """What a run and a sweep have by their folder alone: tags, a note and a ledger."""

    path: str

    def tag(self, *changes: str) -> List[str]:
        """Adds tags ("good", "ticket=42") and removes them ("good-"), as `muster tag` does; returns the
        resulting ones. Without changes: its tags."""
        return _text(["tag", self.path] + list(changes)).splitlines()

    def note(self, text: Optional[str] = None) -> str:
        """Replaces the note, as `muster note` does, and returns it; an empty text removes it. Without a
        text: its note."""
        words = [] if text is None else ["--", text] if text.strip() else ["--remove"]
        return _text(["note", self.path] + words).rstrip("\n")

    def ledger(self) -> Dict[str, Any]:
        """Where the time of its devices went, with the runs that it continued: `rows` and `total` in
        device seconds, as in `muster report --ledger --json` (`muster docs ledger`)."""
        return part(ask(["report", "--ledger", self.path, "--json"]), "ledger", dict)


class Run(Labelled):
    """A run, or a trial of a sweep. `Run("digits~1")`: named as on the command line
    (`muster docs run_directory`), or by the path of its folder.

    `path` is its folder; `id` and `name` are those of its summary.
    """

    def __init__(self, word: Union[str, "os.PathLike[str]"] = "") -> None:
        path = os.fspath(word)
        is_path = os.path.isdir(path)
        self.path = os.path.abspath(path) if is_path else part(
            ask(["report", path, "--json"]), "run_dir", str)
        self._row: Optional[Dict[str, Any]] = None

    @classmethod
    def _listed(cls, row: Dict[str, Any]) -> "Run":
        """The run of a row of `muster ls --json`."""
        run = cls(part(row, "run_dir", str))
        run._row = row
        return run

    @property
    def id(self) -> str:
        """The id of the run."""
        return part(self._known(), "run", str)

    @property
    def name(self) -> str:
        """The name of its recipe, or the one given at the start."""
        return part(self._known(), "name", str)

    @property
    def columns(self) -> Dict[str, Any]:
        """Values of the columns that `muster.runs(columns=…)` asked for."""
        known = self._known()
        return part(known, "columns", dict) if "columns" in known else {}

    @property
    def summary(self) -> Dict[str, Any]:
        """Its row in `muster ls --json`, read now: run, name, outcome, exit_code, why, started_at,
        seconds, …"""
        found, messages = answer(["ls", self.path, "--json"], nothing_is=(1,))
        rows = parts(found, "runs")
        if not rows:
            raise Error(messages, 1)
        self._row = rows[0]
        return self._row

    @property
    def outcome(self) -> str:
        """"running", "ok", "failed", "stopped" or "lost", read now."""
        return part(self.summary, "outcome", str)

    @property
    def report(self) -> Dict[str, Any]:
        """The report, as in report.json (`muster docs run_directory`); also of a run that has not ended."""
        return ask(["report", self.path, "--json"])

    @property
    def plan(self) -> Dict[str, Any]:
        """The plan, as in plan.json."""
        with Folder(self.path) as folder:
            return folder.dictionary("plan.json")

    def journal(self) -> Iterator[Dict[str, Any]]:
        """The records of the journal that are written and valid, one by one (`muster docs journal`)."""
        return journal.records(self.path)

    def metrics(self, role: Optional[str] = None, everyone: bool = False,
                most: int = metrics.MOST_ROWS) -> Table:
        """What its processes reported: a Table with role, index, attempt and the reported values, a row
        for each report. Of each role the first process that reported anything counts, with `everyone`
        all. Metrics that its recipe reads from a log are those of the process that writes the log, with no
        attempt; of the role ROLE.log if the process has reports of its own."""
        rows = metrics.rows(self.path, role, everyone, most)
        if not self.plan.get("metrics"):
            return Table(rows)
        reported = {row["role"] for row in rows} if role is None else {
            row["role"] for row in metrics.rows(self.path, None, False, most)}
        for head, values in metrics.log_rows(self.path, most):
            if head["role"] not in reported and role in (None, head["role"]):
                found = {"role": head["role"], "index": head["index"], "attempt": None}
                rows.append(metrics.row_of(found, values))
        return Table(rows)

    def resources(self) -> Table:
        """What its processes used over time: a Table with role, index, attempt, seconds (since the run
        began), cores, memory_kib and device_memory_kib, a row for each sample of a process with its
        descendants. Short runs have no samples."""
        return Table(usage.rows(self.path, [
            (part(one, "role", str), part(one, "index", int)) for one in parts(self.report, "processes")]))

    def logs(self, role: Optional[str] = None, index: Optional[int] = None,
             rank: Union[int, str, None] = None, attempt: Optional[int] = None, tail: Optional[int] = None,
             since: Optional[str] = None, grep: Optional[str] = None, merge: bool = False) -> str:
        """The text that `muster logs` prints. `rank`: a number, or ranks as "0-3,7"."""
        return _text(["logs", self.path], role=role, index=index, rank=rank, attempt=attempt, tail=tail,
                     since=since, grep=grep, merge=merge)

    def explain(self, name: str, role: Optional[str] = None, rank: Optional[int] = None,
                **parameters: Any) -> Dict[str, Any]:
        """Where a value of the plan comes from, as `muster explain --json`. `parameters`: other values
        for the recipe's parameters."""
        words = ["explain", self.path] + overrides(parameters) + [name, "--json"]
        return ask(words + options(role=role, rank=rank))

    def follow(self) -> Iterator[Dict[str, Any]]:
        """The records of the journal from the first one on, each as soon as it is written, until the run
        ends."""
        return stream(["watch", self.path, "--json"])

    def wait(self, timeout: Optional[float] = None) -> str:
        """Waits until the run has ended, and returns its outcome. TimeoutError after `timeout` seconds."""
        await_end(self.path, timeout)
        return self.outcome

    def stop(self, now: bool = False, dump: bool = False, wait: bool = False) -> None:
        """Stops the run, as `muster stop` does; with `wait` returns once it has ended."""
        call(["stop", self.path] + options(now=now, dump=dump, wait=wait))

    def _known(self) -> Dict[str, Any]:
        return self._row or self.summary

    def __repr__(self) -> str:
        return "<muster.Run %s>" % self.path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    def _repr_html_(self) -> str:
        return display.page(self.path) or display.frame(self._summary_html(), 420)

    def _summary_html(self) -> str:
        row = self.summary
        rows = self.metrics()
        text = display.heading("%s: %s" % (row.get("name"), row.get("outcome")))
        text += display.table(["run", "started_at", "seconds", "exit_code", "why"], [row])
        for metric in curves_of(rows)[:2]:
            by_role: Dict[str, List[Dict[str, Any]]] = {}
            for one in rows:
                by_role.setdefault(one["role"], []).append(one)
            series = [(role, points(of_role, metric)) for role, of_role in by_role.items()]
            text += display.curves(series, metric)
        return text


def _text(words: List[str], **given: Any) -> str:
    """What the program prints, as text."""
    return call(words + options(**given)).decode("utf-8", "replace")


def points(rows: Sequence[Dict[str, Any]], metric: str) -> List[Tuple[Any, Any]]:
    """(step, value) of the rows that have the metric; numbered where no step was reported."""
    found: List[Tuple[Any, Any]] = []
    for row in rows:
        if row.get(metric) is not None:
            steps = [row[name] for name in _STEPS if row.get(name) is not None]
            found.append((steps[0] if steps else len(found), row[metric]))
    return found


def curves_of(rows: Sequence[Dict[str, Any]]) -> List[str]:
    """Names of the reported numbers that are worth a curve, losses first."""
    names: Dict[str, None] = {}
    for row in rows:
        for name, value in row.items():
            if name not in ("role", "index", "attempt", "trial") + _STEPS and isinstance(value, (int, float)):
                names[name] = None
    return sorted(names, key=lambda name: "loss" not in name)


def overrides(parameters: Dict[str, Any]) -> List[str]:
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


def plain(value: Any) -> Any:
    """Numbers and arrays of numpy (and tensors) as numbers and lists of Python; others as they are."""
    for method in ("tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    return value


def _item(value: Any) -> Any:
    """A number or list for a value that JSON does not know."""
    found = plain(value)
    if found is not value:
        return found
    raise TypeError("a value of type %s cannot be a parameter" % type(value).__name__)


def options(**given: Any) -> List[str]:
    """--name VALUE for those that are given, --name for flags that are set."""
    words = []
    for name, value in given.items():
        if value is True:
            words.append("--" + name.replace("_", "-"))
        elif value is not None and value is not False:
            words += ["--" + name.replace("_", "-"), str(value)]
    return words


def await_end(path: str, timeout: Optional[float]) -> None:
    """Until the head has exited: the end of its journal, and then its lock on the folder."""
    command = [program(), "watch", path, "--json"]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise TimeoutError("%s has not ended after %g s" % (path, timeout or 0))
    try:
        with Folder(path) as folder, folder.file("lock") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
    except (Error, OSError):  # a copy of a folder has no lock, and some file systems have none
        pass
