"""Lists of runs and of sweeps."""

import os
from typing import TYPE_CHECKING, List, Optional, Sequence, Union

from . import display
from .command import Error, ask, part, parts
from .one_run import Run, options
from .one_sweep import Sweep
from .table import Table


if TYPE_CHECKING:
    import pandas


class Runs(List[Run]):
    """Runs, newest first; `table()` has a row for each."""

    def table(self) -> Table:
        """A Table: run, name, outcome, started_at, seconds, exit_code, why, run_dir, and the columns
        asked for."""
        names = "run", "name", "outcome", "started_at", "seconds", "exit_code", "why"
        rows = Table()
        for run in self:
            known = run._known()
            row = {name: known.get(name) for name in names}
            row.update((name, value) for name, value in run.columns.items() if name not in row)
            row["run_dir"] = run.path
            rows.append(row)
        return rows

    def frame(self) -> "pandas.DataFrame":
        """table() as a pandas.DataFrame."""
        return self.table().frame()

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


class Sweeps(List[Sweep]):
    """Sweeps, newest first; `table()` has a row for each."""

    def table(self) -> Table:
        """A Table: sweep, name, state, trials, over, best_trial, best_value, tags, note,
        sweep_dir."""
        rows = Table()
        for sweep in self:
            report = sweep.report
            best = part(report, "best", dict) if report.get("best") else {}
            rows.append({
                "sweep": sweep.id, "name": sweep.name, "state": report.get("state"),
                "trials": report.get("trials"), "over": report.get("over"), "best_trial": best.get("trial"),
                "best_value": best.get("value"), "tags": report.get("tags"), "note": report.get("note"),
                "sweep_dir": sweep.path})
        return rows

    def frame(self) -> "pandas.DataFrame":
        """table() as a pandas.DataFrame."""
        return self.table().frame()

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def runs(folder: Union[str, "os.PathLike[str]", None] = None, where: Optional[str] = None,
         sort: Optional[str] = None, limit: Optional[int] = None,
         columns: Union[str, Sequence[str], None] = None) -> Runs:
    """The runs below a folder, newest first; by default those of `muster ls`: below $MUSTER_HOME or ./runs.

    `where`, `sort` and `limit` as for `muster ls`: runs("runs", where="outcome == ok and lr > 0.1",
    sort="loss"). `columns`: names of parameters, derived values, tags and metrics that `table()` shows
    too.
    """
    if isinstance(columns, (list, tuple)):
        columns = ",".join(columns)
    words = ["ls", "--json"] + options(where=where, sort=sort, limit=limit, columns=columns)
    rows = parts(ask(words + _existing(folder), nothing_is=(1,)), "runs")
    return Runs(Run._listed(row) for row in rows)


def sweeps(folder: Union[str, "os.PathLike[str]", None] = None) -> Sweeps:
    """The sweeps below a folder, newest first; by default below $MUSTER_HOME or ./sweeps."""
    words = ["ls", "--sweeps", "--json"] if folder is None else ["ps", "--all", "--json"] + _existing(folder)
    rows = parts(ask(words, nothing_is=(1,)), "sweeps")
    return Sweeps(Sweep(part(row, "sweep_dir", str)) for row in rows)


def _existing(folder: Union[str, "os.PathLike[str]", None]) -> List[str]:
    if folder is None:
        return []
    if not os.path.isdir(folder):
        raise Error("%s: no such folder" % os.fspath(folder))
    return [os.fspath(folder)]
