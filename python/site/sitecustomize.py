"""Runs at the start of every Python that muster launched, and of those below: its folder is on PYTHONPATH.

Knows how to hand over to muster_context and to the sitecustomize that it shadows. Knows nothing about
MindSpore. Children inherit PYTHONPATH, so this file is read by any Python, old ones too: it keeps to what all
of them understand, and whatever goes wrong on muster's side is one line on stderr and no more.
"""
import os
import sys

_here = os.path.realpath(os.path.dirname(os.path.abspath(__file__)))

if os.environ.get("MUSTER_CONTEXT") and sys.version_info >= (3, 7):
    try:
        # muster_context lies beside this folder; scripts may import it as well.
        if os.path.dirname(_here) not in sys.path:
            sys.path.insert(0, os.path.dirname(_here))
        from muster_context import at_start

        at_start.begin()
    except Exception as _problem:
        sys.stderr.write("muster_context: %s: %s\n" % (type(_problem).__name__, _problem))

# From here on everything is as if this file were not there: the next sitecustomize on the path is imported
# under its own name, from its own file, with its own errors. If there is none, the ImportError is the one
# that site.py expects. (The name keeps this module alive: Python 2 would empty it.)
_this_module = sys.modules.pop("sitecustomize", None)
sys.path[:] = [_entry for _entry in sys.path
               if not (os.path.isabs(_entry) and os.path.realpath(_entry) == _here)]
import sitecustomize  # noqa: E402,F401
