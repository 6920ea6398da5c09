"""MindSpore 2.6 with the functions that replace set_context."""

import sys

import functions
import standin

_context = standin.Context("2.6.0")

__version__ = "2.6.0"
GRAPH_MODE = 0
PYNATIVE_MODE = 1
set_context = _context.setter("set_context")
get_context = _context.getter("get_context")
set_ps_context = _context.setter("set_ps_context")
get_ps_context = _context.getter("get_ps_context")
set_auto_parallel_context = _context.setter("set_auto_parallel_context")
get_auto_parallel_context = _context.getter("get_auto_parallel_context")
functions.install(sys.modules[__name__], _context, "2.6")
