"""Applies the settled context to an imported mindspore, once, and records the result.

Decides when to apply it, ends the process on a refusal, and detects changes by the script. `rules` describes
MindSpore's functions; `context_file` reads the settings, `auto_parallel` wraps networks, `launched` decides
which process may have the settings, and `record` writes the record.
"""

import atexit
import importlib
import os
import sys
import threading

from . import auto_parallel, context_file, launched, record, rules

BY_HOOK = "import hook"
BY_CALL = "explicit call"

_lock = threading.RLock()
_applied_by = None  # pid, once the settings are in force
_application = None


def after_import(module):
    """Called by the import hook in its own process. Ends the process if the settings cannot be applied."""
    try:
        _apply_once(module, BY_HOOK)
    except Exception as problem:  # our own errors: refusals by MindSpore have ended the process
        launched.say("%s: %s" % (type(problem).__name__, problem))


def by_call(module):
    """Called by the script. True if the settings are in force in this process."""
    return _apply_once(module, BY_CALL)


def wrapped(module, network):
    """Called by the script. The network in AutoParallel, if the recipe has settings for it."""
    if _apply_once(module, BY_CALL):
        with _lock:
            return _application.wrap(network)
    launched.say("the settings of %s are in force in another process: process %d does not wrap its network"
                 % (_name(), os.getpid()))
    return network


def import_failed(problem):
    """Records that mindspore could not be imported; the exception propagates."""
    if _applied_by is not None:
        return  # it was reloaded
    try:
        entry = record.fresh()
        entry["errors"] = [_error("import", "%s: %s" % (type(problem).__name__, problem))]
        launched.claim(importing=False, then=lambda: record.write(entry))
    except Exception as failure:
        launched.say("%s: %s" % (type(failure).__name__, failure))


def _apply_once(module, how):
    global _applied_by, _application
    with _lock:
        if _applied_by is not None:
            return True  # also in a forked child: it has its parent's settings
        try:
            if not launched.claim(importing=True):
                if how == BY_HOOK:  # a caller gets the result of the call
                    launched.say("the settings of %s are in force in another process, not in process %d"
                                 % (_name(), os.getpid()))
                return False
        except OSError as problem:
            launched.say("the report will not know what became of the context: %s" % problem)
        _applied_by = os.getpid()
        _application = Application(module, how)
        _application.run()
        return True


class Application:
    """An application of the context to an imported mindspore."""

    def __init__(self, module, how):
        self._module = module
        self._pid = os.getpid()
        self._thread = threading.get_ident()
        self._record = record.fresh()
        self._record.update(imported=True, how=how, applied_at=record.now(), release=self._imported_release())
        self._freezes = (rules.release_of(self._record["release"]) or (0,))[0] >= 2
        self._functions = {}
        self._wrapped = None

    def run(self):
        self._functions = self._read()
        for function, values in self._functions.items():
            if values and function == rules.PARALLEL:
                self._record["waiting"].append(function)
            elif values and rules.is_call(function):
                self._call(function, values)
            elif values:
                self._set_all(function, values)
        self._record["complete"] = True
        for function, name, value in self._settings():
            if not self._frozen_by_reading(function, name):
                self._read_back("in_effect", function, name, value)
        # Registered after mindspore's own cleanup, so that this runs before it.
        atexit.register(self._at_exit)
        self._write()

    def wrap(self, network):
        """The network in AutoParallel; as it is without such settings. Also in forked children."""
        values = self._functions.get(rules.PARALLEL)
        if not values:
            return network
        wrapping = auto_parallel.Wrapping(self._module, values)
        try:
            cell = wrapping.cell(network)
        except auto_parallel.Refused as refusal:
            self._stop(refusal.kind, str(refusal) % {"release": self._record["release"]}, rules.PARALLEL,
                       refusal.name, values.get(refusal.name))
        except Exception as problem:  # the script's own network, or its call comes too early
            self._record["errors"].append(_error("setter", "%s: %s" % (type(problem).__name__, problem),
                                                 rules.PARALLEL))
            self._write_own()
            raise
        self._wrapped = wrapping
        self._record["applied"][rules.PARALLEL] = {name: record.plain(values[name])
                                                   for name in wrapping.order()}
        self._record["waiting"] = []
        self._record["errors"] = []  # of an earlier call, which the script has survived
        for name in wrapping.order():
            self._read_back("in_effect", rules.PARALLEL, name, values[name])
        self._record["unreadable"].setdefault(rules.PARALLEL, {}).update(wrapping.unreadable())
        self._write_own()
        return cell

    def _imported_release(self):
        version = getattr(self._module, "__version__", None)
        if version is None:
            version = getattr(self._submodule("version"), "__version__", None)
        return version if version is None else str(version)

    def _submodule(self, name):
        try:
            return importlib.import_module("%s.%s" % (self._module.__name__, name))
        except ImportError:
            return None

    def _read(self):
        path = launched.context_file()
        try:
            content = context_file.read(path)
        except (OSError, ValueError) as problem:
            self._stop("context", "its context cannot be read: %s" % problem)
        self._record["expected"] = content.release
        imported = rules.release_of(self._record["release"])
        if not content.accept_release and (imported is None or imported != rules.release_of(content.release)):
            self._stop("release", "the recipe is for MindSpore %s, but %s was imported; install that one, "
                       "change the recipe's release, or accept another one with accept_release"
                       % (content.release, self._record["release"] or "an unknown one"))
        return content.functions

    def _set_all(self, function, values):
        setter = self._function(function)
        if setter is None:
            self._stop("function", "MindSpore %s has no %s" % (self._record["release"], function), function)
        for name in rules.in_order(function, values):
            value = values[name]
            try:
                argument = auto_parallel.with_layouts(self._module, name, context_file.revealed(value))
            except (OSError, ValueError) as problem:
                self._stop("secret", "the secret for %s of %s cannot be read: %s" % (name, function, problem),
                           function, name, value)
            try:
                setter(**{name: argument})
            except Exception as problem:
                self._stop("setter", "%s(%s=%r) raised %s: %s" % (function, name, context_file.shown(value),
                                                                  type(problem).__name__, problem),
                           function, name, value)
            self._record["applied"].setdefault(function, {})[name] = record.plain(context_file.shown(value))

    def _call(self, function, values):
        called = self._function(function)
        if called is None:
            self._stop("function", "MindSpore %s has no mindspore.%s"
                       % (self._record["release"], function), function)
        arguments = {name: value for name, value in values.items() if name != rules.CALLED}
        try:
            called(**{name: context_file.revealed(value) for name, value in arguments.items()})
        except Exception as problem:
            shown = ", ".join("%s=%r" % (name, context_file.shown(value))
                              for name, value in arguments.items())
            self._stop("setter", "mindspore.%s(%s) raised %s: %s"
                       % (function, shown, type(problem).__name__, problem),
                       function)
        self._record["applied"][function] = {name: record.plain(context_file.shown(value))
                                             for name, value in values.items()}

    def _function(self, name):
        """mindspore.<name> where there is one, else mindspore.context.<name>; None without either."""
        found = self._module
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is None and "." in name:
            folder, _, last = name.rpartition(".")
            return getattr(self._submodule(folder), last, None)
        return found if found is not None else getattr(self._submodule("context"), name, None)

    def _settings(self):
        """(function, attribute, value) of everything that was applied and may be read."""
        for function, names in self._record["applied"].items():
            for name in names:
                value = self._functions[function][name]
                if not isinstance(value, context_file.Secret):
                    yield function, name, value

    def _frozen_by_reading(self, function, name):
        return self._freezes and function == "set_context" and name in rules.FROZEN_BY_READING

    def _read_back(self, field, function, name, value):
        try:
            if name in rules.KEPT_PER_THREAD and threading.get_ident() != self._thread:
                raise LookupError("kept per thread, and set in another one")
            got = record.plain(self._value_in_effect(function, name))
            self._record[field].setdefault(function, {})[name] = got
            return got
        except Exception as problem:
            reason = "%s: %s" % (type(problem).__name__, problem)
            self._record["unreadable"].setdefault(function, {})[name] = reason
            return None

    def _value_in_effect(self, function, name):
        if function == rules.PARALLEL:
            return self._wrapped.value_in_effect(name)
        if function in rules.GETTERS:
            return self._function(rules.GETTERS[function])(name)
        current = self._function("get_current_device") if function == "set_device" else None
        if current is None:
            raise LookupError("MindSpore %s has no function that returns it" % self._record["release"])
        return current()[0 if name == "device_target" else 1]

    def _at_exit(self):
        if os.getpid() != self._pid:
            return  # a forked child
        try:
            self._record["at_exit"] = {}
            self._record["exited_at"] = record.now()
            for function, name, value in self._settings():
                self._read_back("at_exit", function, name, value)
            self._record["overridden"] = list(self._overridden())
            self._write()
            if self._record["waiting"] and os.environ.get("MS_ROLE", "MS_WORKER") == "MS_WORKER":
                launched.say("the settings of parallel were not applied: the script did not call "
                             "muster_context.parallel(network)")
        except Exception as problem:
            launched.say("the values at exit are not known: %s: %s" % (type(problem).__name__, problem))

    def _overridden(self):
        for function, values in self._record["at_exit"].items():
            for name, got in values.items():
                if name in self._record["in_effect"].get(function, {}):
                    same = got == self._record["in_effect"][function][name]
                elif self._frozen_by_reading(function, name):
                    same = rules.reads_as(name, self._functions[function][name], got)
                else:
                    continue  # it could not be read after it was set
                if not same:
                    yield {"function": function, "attribute": name,
                           "applied": self._record["applied"][function][name], "at_exit": got}

    def _write(self):
        try:
            record.write(self._record)
        except OSError as problem:
            launched.say("the report will not know what became of the context: %s" % problem)

    def _write_own(self):
        """Leaves the record to the parent in a forked child."""
        if os.getpid() == self._pid:
            self._write()

    def _stop(self, kind, message, function=None, name=None, value=None):
        """Ends the process: a training with other settings than the recipe's must not go on.

        Not by an exception, which an `except:` around the import or a thread would swallow.
        """
        message = self._without_secrets(message)
        self._record["errors"].append(_error(kind, message, function, name,
                                             record.plain(context_file.shown(value))))
        self._write()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass
        launched.say("%s: %s (context: %s)" % (_name(), message, launched.context_file()))
        os._exit(1)

    def _without_secrets(self, text):
        for values in self._functions.values():
            for value in values.values():
                if isinstance(value, context_file.Secret) and value.known_text():
                    for shape in (value.known_text(), repr(value.known_text())[1:-1]):
                        text = text.replace(shape, record.SECRET)
        return text


def _error(kind, message, function=None, attribute=None, value=None):
    return {"kind": kind, "function": function, "attribute": attribute, "value": value, "message": message}


def _name():
    """`<role>.<index>`."""
    return os.path.basename(launched.beside_context(""))
