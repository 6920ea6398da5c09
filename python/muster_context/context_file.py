"""The settled context as written by muster: `<role>.<index>.json`.

Reads the file, and knows which attributes MindSpore expects as tuples, which of its constants have names, and
where secrets come from. Does not apply anything; a secret is read when its value is needed.
"""

import json
import os

from . import record, rules

FORMAT = 1
# In the order of application: the device first, then the setters; the other functions follow by name. The
# settings of rules.PARALLEL wait for the network.
FUNCTIONS = ("set_device", "set_context", "set_ps_context", "set_auto_parallel_context")

# The only attribute for which MindSpore distinguishes tuples from lists; it expects them at every level.
# Tables inside are layouts.
TUPLES = {"dataset_strategy"}
# Never shown, whatever their source.
PASSWORDS = {"client_password", "server_password"}
CONSTANTS = {
    "mode": {"GRAPH_MODE": 0, "PYNATIVE_MODE": 1},
    "debug_level": {"RELEASE": 0, "DEBUG": 1},
    "jit_syntax_level": {"STRICT": 0, "COMPATIBLE": 1, "LAX": 2},
}


class Secret:
    """A value that is never shown: from a file, a descriptor, or a literal."""

    def __init__(self, file=None, descriptor=None, text=None):
        self._file = file
        self._descriptor = descriptor
        self._text = text

    def reveal(self):
        """The value. Raises OSError, and ValueError if it is not UTF-8.

        A descriptor is closed after it has been read, so that no child inherits it.
        """
        if self._text is None:
            if self._file is not None:
                with open(self._file, "rb") as file:
                    content = file.read()
            else:
                with open(self._descriptor, "rb") as file:
                    if file.seekable():
                        file.seek(0)  # several Pythons of a shell share the position of the descriptor
                    content = file.read()
            try:
                self._text = content.decode("utf-8")
            except UnicodeDecodeError:
                raise ValueError("the secret is not UTF-8") from None  # the error would quote it
        return self._text

    def known_text(self):
        """The value if it has been read, else ""."""
        return self._text or ""


class ContextFile:
    """The content: the recipe's release, whether others are accepted, {function: {attribute: value}}."""

    def __init__(self, release, accept_release, functions):
        self.release = release
        self.accept_release = accept_release
        self.functions = functions


_descriptors = {}


def read(path):
    """The context in `path`. Raises OSError, and ValueError with the reason if it is invalid."""
    with open(path, "rb") as file:
        content = json.loads(file.read().decode("utf-8"))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError("the context is not of format %d" % FORMAT)
    release, functions = content.get("mindspore"), content.get("context")
    if not isinstance(release, str) or not isinstance(functions, dict):
        raise ValueError("the context names no release or holds no functions")
    for function, values in functions.items():
        known = function in FUNCTIONS or function == rules.PARALLEL or rules.is_call(function)
        if not known or not isinstance(values, dict):
            raise ValueError("the context cannot be applied with %s" % function)
    order = [function for function in FUNCTIONS if function in functions]
    order += sorted(function for function in functions if function not in FUNCTIONS)
    restored = {function: {name: _restored(name, value) for name, value in functions[function].items()}
                for function in order}
    return ContextFile(release, content.get("accept_release") is True, restored)


def shown(value):
    """`value` for output, with secrets hidden."""
    return record.SECRET if isinstance(value, Secret) else value


def revealed(value):
    """`value` for MindSpore. Raises OSError or ValueError for a secret that cannot be read."""
    return value.reveal() if isinstance(value, Secret) else value


def _restored(name, value):
    if isinstance(value, dict) and len(value) == 1:
        if isinstance(value.get("secret_file"), str) and os.path.isabs(value["secret_file"]):
            return Secret(file=value["secret_file"])
        if type(value.get("secret_fd")) is int and value["secret_fd"] >= 0:
            # One Secret per descriptor: it can be read only once.
            return _descriptors.setdefault(value["secret_fd"], Secret(descriptor=value["secret_fd"]))
    if name in PASSWORDS and isinstance(value, str):
        return Secret(text=value)
    if name in TUPLES:
        return _as_tuples(value)
    if name in CONSTANTS and isinstance(value, str):
        return CONSTANTS[name].get(value, value)
    return value


def _as_tuples(value):
    return tuple(_as_tuples(item) for item in value) if isinstance(value, list) else value
