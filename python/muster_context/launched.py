"""Which Python the settled context of a launched process is for.

Knows the environment muster gives a process, the mark a Python leaves for its children, and the claim file
beside the context; knows neither MindSpore nor what the context says. It is read at the start of every Python
below a run, so it imports nothing that is not there already.

What muster launches need not be the Python that trains: it may be a shell that runs one Python after the
other, or a program that replaces itself. Two things together tell which one the context is for:

- The mark. The first Python of a line of ancestors writes its identity into MUSTER_CONTEXT_HOLDER. Whoever
  finds the mark of somebody else is a child (a DataLoader's worker, a tool that was called) and leaves
  context and files alone.
- The claim, `<role>.<index>.<attempt>.claim`. Of several Pythons without a common Python above them, the
  first to import mindspore gets the settings; until then the first to start holds the claim. A claim ends
  with its holder, so that in `python3 prepare.py && python3 train.py` both get the settings, one after the
  other.

An identity is pid and start time (proc(5)): it outlives exec, and a reused pid is not mistaken for its former
owner.
"""

import os
import sys

FORMAT = 1
MARK = "MUSTER_CONTEXT_HOLDER"


_given = None  # by muster: context, process, attempt


def _environment():
    """What muster's variables said when this was asked first; the script may change its environment."""
    global _given
    if _given is None:
        names = "MUSTER_CONTEXT", "MUSTER_PROCESS", "MUSTER_ATTEMPT"
        _given = tuple(os.environ.get(name, "") for name in names)
    return _given


def context_file():
    """Path of this process's settled context, "" outside a run."""
    return _environment()[0]


def process_name():
    """`<run id>/<role>.<index>.<attempt>` as muster gave it, "" if it did not."""
    return _environment()[1]


def attempt():
    """Which start of the process this is, from 0, as text."""
    return _environment()[2] or "0"


def beside_context(ending):
    """Path of the file that `<role>.<index>` has beside its context, such as `….applied.json`."""
    path = context_file()
    return (path[:-len(".json")] if path.endswith(".json") else path) + ending


def say(text):
    """One line on stderr; a closed stderr is nobody's failure."""
    try:
        sys.stderr.write("muster_context: %s\n" % " ".join(text.split()))
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass


def start_time(pid):
    """When process `pid` started, in ticks since boot; None if it has ended, 0 where there is no /proc."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()  # from field 3 on: the name may hold blanks
        return None if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, IndexError):
        if os.path.exists("/proc/self/stat"):
            return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return 0


def identity():
    """(pid, start time) of this process."""
    return os.getpid(), start_time(os.getpid()) or 0


def is_child():
    """Whether a Python above this one, of the same start of the same process, has left its mark."""
    holder, _, process = os.environ.get(MARK, "").partition(" ")
    return bool(holder) and process == process_name() and holder != "%d.%d" % identity()


def mark():
    """Marks this process as the one its children stand below."""
    os.environ[MARK] = "%d.%d %s" % (identity() + (process_name(),))


def claim(importing, then=None):
    """Claims the context for this process; False if another keeps it. Calls `then` under the claim's lock.

    A holder gives way when it has ended, and when it has not imported mindspore and this process is
    `importing` it. Raises OSError if the file cannot be written.
    """
    path = beside_context(".%s.claim" % attempt())
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(descriptor)
        me = identity()
        holder = _holder(os.read(descriptor, 4096))
        gives_way = not holder or holder[:2] == me or (importing and not holder[2])
        if not gives_way and start_time(holder[0]) == holder[1]:
            return False
        text = '{"format": %d, "pid": %d, "start": %d, "imported": %s}\n' % (
            (FORMAT,) + me + ("true" if importing else "false",))
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)
        if then:
            then()
        return True
    finally:
        os.close(descriptor)


def _lock(descriptor):
    """Holds the file until it is closed; a file system without locks gets along without."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except (ImportError, OSError):
        pass


def _holder(text):
    """(pid, start time, whether it has imported mindspore), None if `text` is no claim."""
    if not text:
        return None
    import json

    try:
        held = json.loads(text.decode())
        return int(held["pid"]), int(held["start"]), bool(held["imported"])
    except (ValueError, KeyError, TypeError):
        return None
