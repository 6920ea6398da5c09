"""Runs at the start of every Python below a launched process, since its folder is on PYTHONPATH.

Hands over to muster_context, and to the sitecustomize module that it shadows. Independent of MindSpore.
Children inherit PYTHONPATH, so any Python, old ones too, may read this file: it uses only syntax that all of
them support, and an error of muster prints one line on stderr and has no other effect.
"""
import os
import sys

_here = os.path.realpath(os.path.dirname(os.path.abspath(__file__)))

if os.environ.get("MUSTER_CONTEXT") and sys.version_info >= (3, 7):
    try:
        # muster_context is beside this folder; scripts may import it as well.
        if os.path.dirname(_here) not in sys.path:
            sys.path.insert(0, os.path.dirname(_here))
        from muster_context import at_start

        at_start.begin()
    except Exception as _problem:
        sys.stderr.write("muster_context: %s: %s\n" % (type(_problem).__name__, _problem))

# From here on this file has no effect: the next sitecustomize on the path is imported under its own name,
# from its own file, with its own errors. If there is none, the ImportError is the one that site.py expects.
# (The reference keeps this module alive: Python 2 would clear it.)
_this_module = sys.modules.pop("sitecustomize", None)
sys.path[:] = [_entry for _entry in sys.path
               if not (os.path.isabs(_entry) and os.path.realpath(_entry) == _here)]
import sitecustomize  # noqa: E402,F401
