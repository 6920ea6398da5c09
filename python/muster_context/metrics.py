"""Lines in $MUSTER_METRICS.

Appends one line of JSON to a file that several processes write; the script and the reader define the meaning
of the values.
"""

import json
import math
import os

from . import launched


def report(values):
    path = os.environ.get("MUSTER_METRICS")
    line = json.dumps(_plain(values), allow_nan=False) + "\n"
    if not path:
        return False
    data = line.encode("ascii")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            written = os.write(descriptor, data)  # one write: lines of other processes do not mix with it
        finally:
            os.close(descriptor)
    except OSError as problem:
        launched.say("MUSTER_METRICS: %s" % problem)
        return False
    if written != len(data):
        launched.say("MUSTER_METRICS: only %d of %d bytes were written to %s" % (written, len(data), path))
    return written == len(data)


def _plain(value):
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "asnumpy"):  # a tensor of MindSpore, whose item() may return a tensor again
        value = value.asnumpy()
    item = value.item() if hasattr(value, "item") else value
    if item is None or isinstance(item, (bool, int, float, str)):
        return _plain(item)
    raise TypeError("a value of type %s cannot be reported" % type(value).__name__)
