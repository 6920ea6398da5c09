"""The start of a launched Python: sets the import hook, claims the context, and records both.

Sets the hook and wraps the loader; `applying`, which is imported after mindspore, does everything about
mindspore.
"""

import _thread  # threading would cost a millisecond
import os
import sys

from . import launched, record


def begin():
    """Called by sitecustomize. Does nothing outside a run and in children of a launched Python."""
    if not launched.context_file() or launched.is_child():
        return
    if not os.path.isfile(launched.context_file()):
        launched.say("no context at %s: MindSpore keeps its own settings" % launched.context_file())
        return
    launched.mark()
    sys.meta_path.insert(0, ImportHook(os.getpid()))
    try:
        launched.claim(importing=False, then=lambda: record.write(record.fresh()))
    except OSError as problem:
        launched.say("the report will not know what became of the context: %s" % problem)


class ImportHook:
    """A finder that lets the others find mindspore and applies the settings after it has been executed.

    It stays on sys.meta_path afterwards: removing it could make other threads that iterate over the list
    skip a finder. For any other name it costs a comparison.
    """

    def __init__(self, pid):
        self._pid = pid  # forked children have this hook too, but not the right to apply
        self._asking = set()  # threads

    def find_spec(self, name, path=None, target=None):
        if name != "mindspore" or os.getpid() != self._pid:
            return None
        thread = _thread.get_ident()
        if thread in self._asking:  # called by another hook of this kind, which asks all finders in turn
            return None
        self._asking.add(thread)
        try:
            spec = self._found_by_others(name, path, target)
        finally:
            self._asking.discard(thread)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = ApplyingLoader(spec.loader)
        return spec

    def _found_by_others(self, name, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if finder is not self and find else None
            if spec is not None:
                return spec
        return None


class ApplyingLoader:
    """The loader of mindspore, which applies the settings afterwards; the module does not see it."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        create = getattr(self._loader, "create_module", None)
        return create(spec) if create else None

    def exec_module(self, module):
        spec = module.__spec__
        if spec.loader is self:
            spec.loader = self._loader
        if getattr(module, "__loader__", None) is self:
            module.__loader__ = self._loader
        from . import applying

        try:
            self._loader.exec_module(module)
        except Exception as problem:
            applying.import_failed(problem)
            raise
        applying.after_import(sys.modules.get(spec.name, module))
