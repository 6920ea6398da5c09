"""Reads journals of runs and sweeps (`muster docs journal`)."""

import json

from .crc import crc32c
from .folder import Folder, lines

_LONGEST_LINE = 64 << 20
_MOST_BYTES = 1 << 30
_TAIL = len(b',"crc":"00000000"}')


def records(path):
    """The records of the journal in a folder, as dictionaries: its longest valid prefix. A line that is
    cut, has a wrong checksum or does not continue the numbering ends it."""
    with Folder(path) as folder, folder.file("journal.jsonl") as file:
        read = 0
        for number, line in enumerate(lines(file, _LONGEST_LINE), 1):
            record = _record(line, number)
            read += len(line or b"")
            if record is None or read > _MOST_BYTES:
                return
            yield record


def _record(line, number):
    if line is None or b"\0" in line:
        return None
    body, tail = line[:-_TAIL], line[-_TAIL:]
    if tail != b',"crc":"%08x"}' % crc32c(body):
        return None
    try:
        record = json.loads((body + b"}").decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return record if record.get("seq") == number else None
