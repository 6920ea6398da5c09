"""Reads samples of resource usage: lines of JSON in usage.jsonl of a run directory."""

import json

from .folder import Folder, lines

_LONGEST_LINE = 4 << 20
_NAME = "usage.jsonl"


def rows(path, processes):
    """The samples of a run directory, ordered by process and time. `processes`: (role, index) of each
    process of the plan."""
    with Folder(path) as folder:
        if _NAME not in folder.names("."):
            return []
        with folder.file(_NAME) as file:
            samples = [one for line in lines(file, _LONGEST_LINE) for one in _samples(line)]
    found, before = [], None
    for process, at, attempt, running, cpu, memory, device in sorted(samples, key=lambda one: one[:2]):
        if process >= len(processes):
            continue
        same = before is not None and before[:2] == (process, attempt) and before[2] < running
        ms, used = (running - before[2], cpu - before[3]) if same else (running, cpu)
        before = process, attempt, running, cpu
        role, index = processes[process]
        found.append({"role": role, "index": index, "attempt": attempt, "seconds": at / 1000,
                      "cores": max(used, 0) / ms if ms else 0.0, "memory_kib": memory,
                      "device_memory_kib": device})
    return found


def _samples(line):
    try:
        value = json.loads((line or b"").decode("utf-8"))
    except (ValueError, RecursionError):
        return
    if not isinstance(value, dict) or not _is_count(value.get("at_ms")):
        return
    usage = value.get("usage")
    for one in usage if isinstance(usage, list) else []:
        valid = isinstance(one, list) and len(one) == 6 and all(map(_is_count, one[:5]))
        if valid and (one[5] is None or _is_count(one[5])):
            yield (one[0], value["at_ms"]) + tuple(one[1:])


def _is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1 << 53
