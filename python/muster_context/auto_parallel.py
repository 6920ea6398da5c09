"""Wraps networks in mindspore.parallel.auto_parallel.AutoParallel, and makes layouts of data sets.

Knows how MindSpore's class and methods are called; the order of the calls is in `rules`, and `applying`
decides when they are made and records them.
"""

import importlib
import weakref

from . import context_file, record, rules


class Refused(Exception):
    """The release lacks something, or a method refused its value. The text may hold %(release)s."""

    def __init__(self, kind, message, name=None):
        super().__init__(message)
        self.kind = kind
        self.name = name


class Wrapping:
    """The settings of one wrapped network."""

    def __init__(self, module, values):
        self._module = module
        self._values = values
        self._cell = None

    def order(self):
        return rules.in_order(rules.PARALLEL, self._values)

    def cell(self, network):
        """AutoParallel(network) with all settings. Raises Refused, and what the constructor raises."""
        cell = self._class()(network, parallel_mode=self._values["mode"])
        for name in self.order():
            if name != "mode" and self._values[name] is not False:
                self._call(cell, name, self._values[name])
        self._cell = _reference(cell)
        return cell

    def value_in_effect(self, name):
        """What AutoParallel returns of a setting. Raises LookupError if that is nothing."""
        if name != "pipeline":
            raise LookupError("AutoParallel has no function that returns it")
        cell = self._cell()
        if cell is None:
            raise LookupError("the wrapped network is gone")
        return {"stages": cell.get_pipeline_stages()}

    def unreadable(self):
        """{parameter: reason} of a table that is returned in part only."""
        return {"pipeline." + name: "LookupError: AutoParallel has no function that returns it"
                for name in sorted(self._values.get("pipeline", {})) if name != "stages"}

    def _class(self):
        folder, _, last = rules.AUTO_PARALLEL.rpartition(".")
        found = getattr(_submodule(self._module, folder), last, None)
        if found is None:
            raise Refused("function", "MindSpore %%(release)s has no mindspore.%s" % rules.AUTO_PARALLEL)
        return found

    def _call(self, cell, name, value):
        method = getattr(cell, name, None)
        if method is None:
            raise Refused("function", "AutoParallel of MindSpore %%(release)s has no %s" % name, name)
        argument = with_layouts(self._module, name, context_file.revealed(value))
        try:
            if name in rules.SPREAD:
                method(**argument)
            elif argument is True:
                method()
            else:
                method(argument)
        except Exception as problem:
            text = "AutoParallel.%s(%r) raised %s: %s" % (name, record.plain(value),
                                                          type(problem).__name__, problem)
            raise Refused("setter", text.replace("%", "%%"), name) from problem


def with_layouts(module, name, value):
    """`value` with MindSpore's Layout in place of the tables of a data set's strategy."""
    if name not in context_file.TUPLES or not isinstance(value, tuple):
        return value
    return tuple(_layout(module, item) if isinstance(item, dict) else item for item in value)


def _layout(module, table):
    made = getattr(_submodule(module, "parallel"), "Layout", None)
    if made is None:
        made = getattr(_submodule(module, "parallel.shard"), "Layout", None)
    if made is None:
        raise ValueError("this MindSpore has no Layout")
    layout = made(tuple(table["device_matrix"]), tuple(table["alias_name"]), table.get("rank_list"))
    return layout(*(tuple(axis) if isinstance(axis, list) else axis for axis in table["tensor_map"]))


def _submodule(module, name):
    try:
        return importlib.import_module("%s.%s" % (module.__name__, name))
    except ImportError:
        return None


def _reference(cell):
    """Lets the network be freed where its class allows that."""
    try:
        return weakref.ref(cell)
    except TypeError:
        return lambda: cell
