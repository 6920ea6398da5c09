"""Decides which Python of a launched process gets the settled context.

Uses the environment of the process, a mark that a Python leaves for its children, and a claim file beside the
context; independent of MindSpore and of the context's content. It is read at the start of every Python below
a run, so it imports only modules that are already loaded.

The launched process need not be the Python that trains: it may be a shell that runs one Python after the
other, or a program that replaces itself. Two mechanisms select the Python that gets the context:

- The mark. The first Python in a chain of ancestors writes its identity into MUSTER_CONTEXT_HOLDER. A Python
  that finds the mark of another one is a child (a DataLoader's worker, a tool) and does not use context and
  files.
- The claim, `<role>.<index>.<attempt>.claim`. Of several Pythons without a common Python ancestor, the
  first to import mindspore gets the settings; until then the first to start holds the claim. A claim ends
  with its holder, so that in `python3 prepare.py && python3 train.py` both get the settings, one after the
  other.

An identity is pid and start time (proc(5)): it survives exec, and a reused pid is distinguished from its
former owner.
"""

import os
import sys

FORMAT = 1
MARK = "MUSTER_CONTEXT_HOLDER"


_given = None  # from muster: context, process, attempt


def _environment():
    """The values of muster's variables at the first call; the script may change its environment later."""
    global _given
    if _given is None:
        names = "MUSTER_CONTEXT", "MUSTER_PROCESS", "MUSTER_ATTEMPT"
        _given = tuple(os.environ.get(name, "") for name in names)
    return _given


def context_file():
    """Path of this process's settled context, "" outside a run."""
    return _environment()[0]


def process_name():
    """`<run id>/<role>.<index>.<attempt>` from muster, or ""."""
    return _environment()[1]


def attempt():
    """The number of this start of the process, from 0, as text."""
    return _environment()[2] or "0"


def beside_context(ending):
    """Path of a file of `<role>.<index>` beside its context, such as `….applied.json`."""
    path = context_file()
    return (path[:-len(".json")] if path.endswith(".json") else path) + ending


def say(text):
    """Prints one line on stderr; ignores a closed stderr."""
    try:
        sys.stderr.write("muster_context: %s\n" % " ".join(text.split()))
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass


def start_time(pid):
    """When process `pid` started, in ticks since boot; None if it has ended, 0 where there is no /proc."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()  # from field 3 on: the name may contain blanks
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
    """Whether a Python ancestor, of the same start of the same process, has left its mark."""
    holder, _, process = os.environ.get(MARK, "").partition(" ")
    return bool(holder) and process == process_name() and holder != "%d.%d" % identity()


def mark():
    """Marks this process as the ancestor of its children."""
    os.environ[MARK] = "%d.%d %s" % (identity() + (process_name(),))


def claim(importing, then=None):
    """Claims the context for this process; False if another one keeps it. Calls `then` under its lock.

    A holder loses the claim when it has ended, or if it has not imported mindspore and this process is
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
    """Locks the file until it is closed; does without on a file system without locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except (ImportError, OSError):
        pass


def _holder(text):
    """(pid, start time, whether it has imported mindspore), None if `text` is no valid claim."""
    if not text:
        return None
    import json

    try:
        held = json.loads(text.decode())
        return int(held["pid"]), int(held["start"]), bool(held["imported"])
    except (ValueError, KeyError, TypeError):
        return None
