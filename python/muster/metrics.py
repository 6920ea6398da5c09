"""Reads what processes reported: lines of JSON in metrics/ROLE.INDEX.ATTEMPT.jsonl of a run directory."""

import json
import math
import os
import re

from .command import Error, call
from .folder import Folder, lines

_NAME = re.compile(r"(?P<role>[^/]+)\.(?P<index>\d{1,9})\.(?P<attempt>\d{1,9})\.jsonl\Z")
_LONGEST_LINE = 64 << 10
_LONGEST_TEXT = 200
_MOST_NAMES = 200
_MOST_BYTES = 256 << 20  # of the files that are read for one run
MOST_ROWS = 2_000_000
# Columns of trials in all views (src/sweep/record/trial_columns.h): no metric has one of these names there.
TRIAL_COLUMNS = (
    "trial", "id", "state", "attempt", "value", "objective.loss", "started", "ended", "took", "hosts",
    "blamed", "why", "run", "plan", "dir", "tags", "note", "tag", "source", "kind", "seconds", "run_dir",
    "role", "index", "report", "restart")
# What counts progress: the first of them that was reported.
_STEPS = ("step", "global_step", "iteration", "iter", "epoch")


def rows(path, role=None, everyone=False, most=MOST_ROWS, head=()):
    """The reports of a run directory in the order of processes, attempts and lines, each a dictionary
    that begins with `head`, role, index and attempt; the last is called restart if `head` has an attempt.
    For each role only the process that the report names is read, the first that reported anything;
    with `everyone` all are."""
    found = []
    with Folder(path) as folder:
        total = 0
        done = {}  # role → index of the process that counts
        for of_role, index, attempt, name in _files(folder):
            if role is not None and of_role != role or not everyone and done.get(of_role, index) != index:
                continue
            with folder.file("metrics/" + name) as file:
                total += os.fstat(file.fileno()).st_size
                if total > _MOST_BYTES:
                    raise Error("%s: more than %d MiB of metrics" % (path, _MOST_BYTES >> 20))
                for line in lines(file, _LONGEST_LINE):
                    values = _values(line)
                    if values is None:
                        continue
                    done[of_role] = index
                    if len(found) == most:
                        raise Error("%s: more than %d reports; raise `most` to read them" % (path, most))
                    own = {"role": of_role, "index": index,
                           "restart" if "attempt" in head else "attempt": attempt}
                    found.append(row_of(dict(head, **own), values))
    return found


def continued(reports, more, resource=""):
    """The reports of a trial together with those of an attempt that continued it from a checkpoint: the
    earlier ones of each role up to where it went on."""
    begins = {}
    for row in more:
        step = next((name for name in (resource,) + _STEPS if name and _is_number(row.get(name))), None)
        if step and row["role"] not in begins:
            begins[row["role"]] = step, row[step]
    kept, ended = [], set()
    for row in reports:
        step, begin = begins.get(row["role"], (None, None))
        if step and _is_number(row.get(step)) and row[step] >= begin:
            ended.add(row["role"])
        if row["role"] not in ended:
            kept.append(row)
    return kept + more


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _files(folder):
    found = []
    for name in folder.names("metrics"):
        match = _NAME.match(name)
        if match:
            found.append((match["role"], int(match["index"]), int(match["attempt"]), name))
    return sorted(found)


def log_rows(path, most=MOST_ROWS):
    """What patterns find in the logs of a run or of the trials of a sweep, as the program reads it: pairs of
    {"trial", "role", "index"} and the values. Of a trial the role is None; of a run it is that of the
    process, or ROLE.log beside the reports of the process itself."""
    found = []
    for line in call(["export", path, "--curves", "--jsonl"]).splitlines():
        row = json.loads(line.decode("utf-8"))
        head = {name: row.get(name) for name in ("trial", "role", "index")}
        values = {name[len("metric."):]: value for name, value in row.items()
                  if name.startswith("metric.") and value is not None}
        if len(found) == most:
            raise Error("%s: more than %d reports; raise `most` to read them" % (path, most))
        found.append((head, values))
    return found


def trial_column(metric):
    """The name that a metric has in tables of trials."""
    return "metric." + metric if metric in TRIAL_COLUMNS else metric


def row_of(head, values):
    """`head` with the reported values; of a trial, or where `head` has it, a name is metric.NAME."""
    taken = TRIAL_COLUMNS if "trial" in head else tuple(head)
    for name, value in values.items():
        head[name if name not in taken else "metric." + name] = value
    return head


def _values(line):
    """Numbers, booleans and short texts by name; None if the line is no report. Numbers that are not
    finite are None."""
    try:
        values = json.loads((line or b"").decode("utf-8"), parse_int=_whole_number)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    plain = {}
    for name, value in values.items():
        if isinstance(value, float) and not math.isfinite(value):
            value = None
        if (_is_short(name) and name and len(plain) < _MOST_NAMES
                and (value is None or isinstance(value, (bool, int, float)) or _is_short(value))):
            plain[name] = value
    return plain


def _whole_number(digits):
    """An integer; infinite if it is too large for a double, like any other number."""
    number = float(digits)
    return int(digits) if math.isfinite(number) else number


def _is_short(text):
    return isinstance(text, str) and len(text.encode("utf-8", "replace")) <= _LONGEST_TEXT
