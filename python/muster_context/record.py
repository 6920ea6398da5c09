"""`<role>.<index>.applied.json`: the result of applying the settled context, for muster's report.

Defines the fields of the file and replaces it atomically; `applying` and `at_start` supply the values.
Written at the start of every launched Python, so json is imported only where the values need it.
`muster docs python` describes the fields.
"""

import os
import sys
import time

from . import launched

SECRET = "(secret)"


def path():
    return launched.beside_context(".applied.json")


def now():
    """The time in UTC, as in 2024-05-06T07:08:09.123Z."""
    seconds = time.time()
    return "%s.%03dZ" % (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)), seconds % 1 * 1000)


_started_at = now()  # this file is read when the interpreter starts


def fresh():
    """The record of a Python that has started and has not imported mindspore."""
    return {
        "format": launched.FORMAT,
        "process": launched.process_name(),
        "attempt": launched.attempt(),
        "pid": os.getpid(),
        "python": "%d.%d.%d" % sys.version_info[:3],
        "executable": sys.executable or "",
        "started_at": _started_at,
        "imported": False,
        "release": None,      # the release according to the imported mindspore
        "expected": None,     # the recipe's release
        "how": None,          # "import hook" or "explicit call"
        "applied_at": None,
        "complete": False,    # every value was applied, except those that wait
        "waiting": [],        # functions whose values wait for a call of the script: parallel
        "applied": {},        # function → attribute → value as it was set, in the order of the calls
        "in_effect": {},      # … as it read back immediately
        "at_exit": None,      # … as it read when the interpreter ended; null if it was killed
        "exited_at": None,
        "overridden": None,   # [{function, attribute, applied, at_exit}]; null if unknown
        "unreadable": {},     # function → attribute → why its value is unknown
        "errors": [],         # [{kind, function, attribute, value, message}]
    }


def write(record):
    """Replaces the file by `record` atomically. Raises OSError."""
    temporary = "%s.%d.tmp" % (path(), os.getpid())
    try:
        with open(temporary, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write((_flat(record) or _text(record)).encode("utf-8"))
        os.replace(temporary, path())
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def plain(value):
    """`value` in a form for JSON: tuples become lists, unsupported types become their repr()."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else repr(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return repr(value)


def _text(record):
    import json

    return json.dumps(record, indent=2) + "\n"


def _flat(record):
    """The same text without json, for a record without nested values; None for any other."""
    try:
        from _json import encode_basestring_ascii as quoted
    except ImportError:
        return None
    words = {"None": "null", "False": "false", "True": "true"}
    lines = []
    for name, value in record.items():
        if isinstance(value, str):
            text = quoted(value)
        elif value is None or isinstance(value, (bool, int)) or value in ({}, []):
            text = words.get(str(value), str(value))
        else:
            return None
        lines.append("  %s: %s" % (quoted(name), text))
    return "{\n%s\n}\n" % ",\n".join(lines)
