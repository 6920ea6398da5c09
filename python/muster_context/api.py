"""The implementation of apply(), parallel() and settings() of the package.

A call may do more than an import: a script that requests the settings gets them even below another Python
of the run, as long as that one has not imported mindspore.
"""

import importlib
import os

from . import context_file, launched


def apply():
    if not launched.context_file():
        return False
    from . import applying

    # No lock here: a thread that imports mindspore holds the import lock first.
    return applying.by_call(importlib.import_module("mindspore"))


def parallel(network):
    if not launched.context_file():
        return network
    from . import applying

    return applying.wrapped(importlib.import_module("mindspore"), network)


def settings(secrets):
    path = launched.context_file()
    if not path or not os.path.exists(path):
        return {}
    show = context_file.revealed if secrets else context_file.shown
    return {function: {name: show(value) for name, value in values.items()}
            for function, values in context_file.read(path).functions.items()}
