"""Requests to stop, as a question that a training loop asks between two steps.

muster asks by a signal, which ends a Python that does not handle it: SIGTERM at the end of a run, and before
it `checkpoint.signal` of the recipe.
"""

import os
import signal
import sys
import threading


class Stop:
    """Whether the process was asked to stop, from begin() to end(). Only the first signal is caught: a
    second one has its former effect. Without effect outside the main thread, where Python sets no
    handlers."""

    def __init__(self, signals=("SIGTERM",)):
        self._signals = [getattr(signal, name) for name in signals]
        self._before = {}
        self._asked = False

    def begin(self):
        if threading.current_thread() is threading.main_thread():
            for number in self._signals:
                if number not in self._before:
                    self._before[number] = signal.signal(number, self._take)
        return self

    def end(self):
        for number in list(self._before):
            self._restore(number)

    def requested(self):
        """Whether this process was asked."""
        return self._asked

    def requested_anywhere(self, device=None):
        """Whether any process of the group of torch.distributed was asked: ranks that leave a loop at
        different steps would wait for each other. All ranks call it, at the same steps. `device`: one
        from which the group's backend communicates (with NCCL the rank's GPU)."""
        dist = sys.modules.get("torch.distributed")  # not imported by anyone: there is no group
        if dist is None or not dist.is_available() or not dist.is_initialized() or dist.get_world_size() == 1:
            return self._asked
        import torch

        asked = torch.tensor([int(self._asked)], device=device)
        dist.all_reduce(asked, dist.ReduceOp.MAX)
        return bool(asked.item())

    def _take(self, number, _):
        self._asked = True
        self._restore(number)

    def _restore(self, number):
        before = self._before.pop(number, None)
        signal.signal(number, signal.SIG_DFL if before is None else before)

    def __enter__(self):
        return self.begin()

    def __exit__(self, *_):
        self.end()


_stops = {}


def should_stop(signals):
    if "MUSTER_METRICS" not in os.environ:  # outside a run signals keep their effect
        return False
    stop = _stops.setdefault(tuple(signals), Stop(signals))
    if not stop.requested():
        stop.begin()
    return stop.requested()
