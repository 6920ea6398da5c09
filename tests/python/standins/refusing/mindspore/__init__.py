"""A MindSpore that refuses a value and a password, and quotes both."""

import standin

_context = standin.Context("1.6.2", refused={
    "max_call_depth": lambda value: ValueError("max_call_depth must be small, but got %r" % value),
    "client_password": lambda value: ValueError("the password %s is too short" % value),
})

__version__ = "1.6.2"
set_context = _context.setter("set_context")
get_context = _context.getter("get_context")
set_ps_context = _context.setter("set_ps_context")
get_ps_context = _context.getter("get_ps_context")
set_auto_parallel_context = _context.setter("set_auto_parallel_context")
get_auto_parallel_context = _context.getter("get_auto_parallel_context")
