"""One sweep, by its folder."""

import json
import os
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Union

from . import display, journal, metrics
from .command import Error, ask, call, part, parts, stream
from .folder import Folder
from .one_run import Labelled, Run, await_end, options, points
from .table import Table


class Sweep(Labelled):
    """A sweep. `Sweep("digits~1")`: named as on the command line (`muster docs sweeps`), or by the path of
    its folder.

    `path` is its folder; `id`, `name` and `objective` ({"metric", "maximize"} or None) are those of
    sweep.json.
    """

    def __init__(self, word: Union[str, "os.PathLike[str]"] = "") -> None:
        path = os.fspath(word)
        is_path = os.path.isdir(path)
        self.path = os.path.abspath(path) if is_path else part(
            ask(["show", path, "--json"]), "sweep_dir", str)
        with Folder(self.path) as folder:
            self.description = folder.dictionary("sweep.json")

    @property
    def id(self) -> str:
        """The id of the sweep."""
        return part(self.description, "sweep", str)

    @property
    def name(self) -> str:
        """The name of the sweep."""
        return part(self.description, "name", str)

    @property
    def objective(self) -> Optional[Dict[str, Any]]:
        """{"metric": "loss", "maximize": False}, or None."""
        objective = self.description.get("objective")
        if objective is not None:
            part(objective, "metric", str)
            part(objective, "maximize", bool)
        return objective

    @property
    def second_objective(self) -> Optional[Dict[str, Any]]:
        """The same of the second objective, or None."""
        second = part(self.description, "description", dict).get("second_objective")
        if second is None:
            return None
        maximize = part(second, "direction", str) == "maximize"
        return {"metric": part(second, "metric", str), "maximize": maximize}

    @property
    def report(self) -> Dict[str, Any]:
        """How it stands, as `muster show --json`: state, counts, best, reasons, rungs, failures; read now."""
        return ask(["show", self.path, "--json"])

    @property
    def state(self) -> str:
        """"running", "complete", "stopped" or "lost" (its head was killed), read now."""
        return part(self.report, "state", str)

    def trials(self, where: Optional[str] = None, sort: Optional[str] = None,
               limit: Optional[int] = None) -> Table:
        """A Table with a row for each trial that has begun. `where`, `sort` and `limit` as for `muster ls
        SWEEP`.

        Columns: trial, id, state, attempt, the swept parameters, value (of the objective), objective.loss
        (the same with the sign by which smaller is better), seconds, started, ended, hosts, blamed, why,
        tags, run, plan, run_dir, and the metrics. A name of muster's own, of this table or another one of
        trials, is param.NAME or metric.NAME, and so is that of a metric that a parameter has as well.
        """
        words = ["ls", self.path, "--json"] + options(where=where, sort=sort, limit=limit)
        return _flat(parts(ask(words, nothing_is=(1,)), "trials"))

    def points(self) -> Table:
        """Of a sweep that repeats its points with several seeds: a Table with a row for each point, the best
        first; else an empty one.

        Columns: the swept parameters without the seed, value (the mean or median of the results), deviation,
        results (how many repetitions have succeeded), ranked (all have), trials. A parameter with one of
        these names is param.NAME."""
        table = Table()
        listed = ask(["ls", self.path, "--json"], nothing_is=(1,))
        for row in parts(listed, "points") if "points" in listed else []:
            own = {name: row.get(name) for name in ("value", "deviation", "results", "ranked", "trials")}
            swept = {"param." + name if name in own else name: value
                     for name, value in part(row, "point", dict).items()}
            table.append({**swept, **own})
        return table

    def best(self, n: Optional[int] = None, where: Optional[str] = None) -> Table:
        """The n best trials that succeeded, as rows of `trials()`, with `where` of those for which the
        condition holds; muster.Error if there are none. Without n the best one, and of a sweep with two
        objectives all of the Pareto front."""
        words = ["best", self.path, "--json"] + ([] if n is None else ["-n", str(n)])
        return _flat(parts(ask(words + options(where=where)), "trials"))

    def trial(self, word: Union[int, str]) -> Run:
        """The Run of a trial, of the attempt that it keeps, or of its latest one while it is not over: by
        number, a prefix of its id, "best", or "12.1" for its first attempt."""
        return Run(part(ask(["show", "%s:%s" % (self.path, word), "--json"]), "run_dir", str))

    def history(self, trials: Optional[Iterable[Union[int, Dict[str, Any]]]] = None,
                role: Optional[str] = None, most: int = metrics.MOST_ROWS) -> Table:
        """What trials reported: a Table with trial, role, index, attempt, restart and the reported values.
        `attempt` is that of the trial, from 1, and `restart` that of the process, from 0. An attempt that
        continued from a checkpoint has the reports of those before it, each up to where the next one went
        on. `trials`: numbers, or rows of trials() or best(); all by default. What patterns find in the log
        of a trial are rows without role, index and restart; if the log is gone, the losses that early
        stopping recorded, else the last values."""
        chosen = trials
        if trials is not None:
            chosen = set(_numbers(trials))
        losses = None
        logs: Dict[int, List[Dict[str, Any]]] = {}
        if role is None and self._reads_logs:
            for of_log, values in metrics.log_rows(self.path, most):
                if of_log["role"] is None:
                    logs.setdefault(of_log["trial"], []).append(values)
        found = Table()
        for row in parts(ask(["ls", self.path, "--json"], nothing_is=(1,)), "trials"):
            trial, last = part(row, "trial", int), part(row, "metrics", dict)
            if chosen is not None and trial not in chosen:
                continue
            head = {"trial": trial, "role": None, "index": None, "attempt": part(row, "attempt", int)}
            reports: List[Dict[str, Any]] = []
            for run_dir in row.get("run_dirs") or [row.get("run_dir")]:
                if isinstance(run_dir, str) and "\0" not in run_dir and os.path.isdir(run_dir):
                    of_attempt = dict(head, attempt=_attempt_of(run_dir, head["attempt"]))
                    more = metrics.rows(run_dir, role, most=most - len(found) - len(reports), head=of_attempt)
                    reports = metrics.continued(reports, more, self._resource)
            reports += [metrics.row_of(dict(head), values) for values in logs.get(trial, [])]
            if not reports and role is None and last:
                losses = self._losses() if losses is None else losses
                reports = losses.get(trial) or [last]
                reports = [metrics.row_of(dict(head), values) for values in reports]
            found.extend(reports)
        return found

    def journal(self) -> Iterator[Dict[str, Any]]:
        """The records of the sweep's journal that are written and valid, one by one."""
        return journal.records(self.path)

    def follow(self) -> Iterator[Dict[str, Any]]:
        """The records of the journal from the first one on, each as soon as it is written, until the
        sweep ends."""
        return stream(["watch", self.path, "--json"])

    def wait(self, timeout: Optional[float] = None) -> str:
        """Waits until no head runs the sweep, and returns its state. TimeoutError after `timeout` seconds."""
        await_end(self.path, timeout)
        return self.state

    def stop(self, trial: Union[int, str, None] = None, now: bool = False, wait: bool = False) -> None:
        """Stops the sweep, or one of its trials, as `muster stop` does."""
        word = self.path if trial is None else "%s:%s" % (self.path, trial)
        call(["stop", word] + options(now=now, wait=wait))

    def resume(self, *words: str, accept: bool = False, slots: Optional[int] = None,
               add_trials: Optional[int] = None, unskip: Optional[str] = None) -> None:
        """Continues the sweep in the background, as `muster resume --detach` does; returns once a trial has
        begun, or if none is left. `words` are further words of the command line: resume("--host",
        "n[01-04]"). muster.Error if it runs already, or if its recipe has changed, unless `accept` is set.
        """
        given = options(accept=accept, slots=slots, add_trials=add_trials, unskip=unskip)
        call(["resume", self.path, "--detach"] + given + list(words))

    def retry(self, *words: str, classes: Union[str, Sequence[str], None] = None,
              trials: Optional[Iterable[Union[int, Dict[str, Any]]]] = None, accept: bool = False) -> None:
        """Repeats its failed trials in the background, as `muster retry --detach` does: all, those of
        `classes` (["oom_device", "crash"]), or `trials`, numbers or rows of trials(), whatever their
        outcome. `words` as for resume()."""
        named = [classes] if isinstance(classes, str) else classes
        numbers = None if trials is None else [str(one) for one in _numbers(trials)]
        given = options(accept=accept, **{"class": _joined(named), "trial": _joined(numbers)})
        call(["retry", self.path, "--detach"] + given + list(words))

    def steer(self, slots: Optional[int] = None, add_trials: Optional[int] = None,
              unskip: Optional[str] = None) -> Dict[str, Any]:
        """Changes the number of slots or trials of the sweep while it runs, or tries points with a value that
        was skipped ("batch=4"), as `muster steer --json` does; returns the limits that hold now."""
        given = options(slots=slots, add_trials=add_trials, unskip=unskip)
        return ask(["steer", self.path, "--json"] + given)

    def enqueue(self, *points: Union[Dict[str, Any], Iterable[Dict[str, Any]]]) -> Dict[str, Any]:
        """Makes these points the next trials of the sweep while it runs, as `muster steer --try` does:
        enqueue({"lr": 0.1, "batch": 64}); also lists of points, and rows of trials() or best() of another
        sweep with the same parameters: enqueue(other.best(3)). Returns the limits that hold now.
        muster.Error with the recipe's words if a point is not possible; nothing has changed then. A point
        that was tried already is a warning, and muster.Error if all of them were."""
        words = []
        for point in _points(points):
            words += ["--try", json.dumps(self._point_of(point), allow_nan=False)]
        if not words:
            raise ValueError("enqueue: no point is given")
        return ask(["steer", self.path, "--json"] + words)

    def _point_of(self, given: Dict[str, Any]) -> Dict[str, Any]:
        """The swept parameters of a row of a table; other dictionaries as they are."""
        if "run_dir" not in given:
            return given
        names = self.description.get("names")
        columns = {"param." + name if name in metrics.TRIAL_COLUMNS else name: name
                   for name in names if isinstance(name, str)} if isinstance(names, list) else {}
        return {name: given[column] for column, name in columns.items()
                if given.get(column) is not None}

    @property
    def _reads_logs(self) -> bool:
        """Whether it reads metrics by patterns."""
        description = self.description.get("description")
        read = description.get("metrics") if isinstance(description, dict) else None
        return isinstance(read, dict) and bool(read.get("stdout"))

    @property
    def _resource(self) -> str:
        """The metric that early stopping reads progress from; empty without one."""
        description = self.description.get("description")
        rule = description.get("early_stop") if isinstance(description, dict) else None
        resource = rule.get("resource") if isinstance(rule, dict) else None
        return metrics.trial_column(resource) if isinstance(resource, str) else ""

    def _losses(self) -> Dict[int, List[Dict[str, Any]]]:
        """trial → {"step", objective} for each loss of its last attempt that recorded some."""
        found = {}
        if self.objective:
            sign = -1 if self.objective["maximize"] else 1
            for record in self.journal():
                losses = record.get("losses") if record.get("event") == "attempt_ended" else None
                if losses and isinstance(losses, list) and isinstance(record.get("trial"), int):
                    found[record["trial"]] = [
                        {"step": one[0], self.objective["metric"]: None if one[1] is None else sign * one[1]}
                        for one in losses if _is_loss(one)]
        return found

    def __repr__(self) -> str:
        return "<muster.Sweep %s>" % self.path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sweep) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    def _repr_html_(self) -> str:
        return display.page(self.path) or display.frame(self._summary_html(), 520)

    def _summary_html(self) -> str:
        rows = self.trials(sort=("objective.loss" if self.objective else None))
        text = display.heading("%s: %s" % (self.name, self.state))
        if self.objective:
            best: Dict[int, List[Dict[str, Any]]] = {part(row, "trial", int): [] for row in rows[:8]}
            for row in self.history(best):
                best[row["trial"]].append(row)
            column = metrics.trial_column(self.objective["metric"])
            text += display.curves([("trial %d" % trial, points(of_trial, column))
                                    for trial, of_trial in best.items()], self.objective["metric"])
        left_out = "id", "objective.loss", "started", "ended", "blamed", "run", "plan", "run_dir"
        shown = [name for name in rows.columns if name not in left_out]
        return text + display.table(shown, rows)


def _numbers(trials: Iterable[Union[int, Dict[str, Any]]]) -> List[int]:
    """Numbers of trials that are given by numbers or as rows."""
    return [one["trial"] if isinstance(one, dict) else one for one in trials]


def _points(given: Iterable[Any]) -> List[Dict[str, Any]]:
    """Points that are given one by one or in lists."""
    found: List[Dict[str, Any]] = []
    for one in given:
        several = [one] if isinstance(one, dict) else one
        if isinstance(several, (str, bytes)) or not hasattr(several, "__iter__"):
            raise TypeError("enqueue: a point is a dictionary such as {'lr': 0.1}, got %r" % (one,))
        for point in several:
            if not isinstance(point, dict):
                raise TypeError("enqueue: a point is a dictionary such as {'lr': 0.1}, got %r" % (point,))
            found.append(point)
    return found


def _joined(words: Optional[Iterable[str]]) -> Optional[str]:
    return None if words is None else ",".join(words)


def _attempt_of(run_dir: str, latest: int) -> int:
    """The number of the attempt, from 1, that a run directory "…/ID.ATTEMPT" belongs to."""
    number = run_dir.rpartition(".")[2]
    return int(number) + 1 if number.isdigit() and len(number) < 10 else latest


def _is_loss(one: Any) -> bool:
    """[step, loss], the loss a number or None."""
    return (isinstance(one, list) and len(one) == 2 and all(
        value is None or isinstance(value, (int, float)) and not isinstance(value, bool) for value in one))


def _flat(trials: List[Dict[str, Any]]) -> Table:
    """Rows of `muster ls SWEEP --json` with point and metrics as columns."""
    line = ["trial", "id", "state", "attempt"]
    rest = ["value", "objective.loss", "seconds", "started", "ended", "hosts", "blamed", "why", "tags", "run",
            "plan", "run_dir"]
    taken = set(metrics.TRIAL_COLUMNS)
    for trial in trials:
        part(trial, "point", dict), part(trial, "metrics", dict)
    names = {name for trial in trials for name in trial["point"]}
    swept = {name: name if name not in taken else "param." + name for name in names}
    taken.update(swept)
    table = Table()
    for trial in trials:
        row = {name: trial.get(name) for name in line}
        row.update((swept[name], value) for name, value in trial["point"].items())
        row.update((name, trial.get(name)) for name in rest)
        for name, value in trial["metrics"].items():
            row[name if name not in taken else "metric." + name] = value
        table.append(row)
    return table
