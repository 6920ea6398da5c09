"""Callbacks of training frameworks that report metrics to muster and stop the training when muster asks for
it.

    muster.integrations.transformers    Trainer of Hugging Face
    muster.integrations.lightning       Trainer of PyTorch Lightning
    muster.integrations.keras           fit() of Keras

muster asks by a signal, which ends a Python that does not handle it: SIGTERM at the end of a run, and
before it `checkpoint.signal` of the recipe. `Stop` turns it into a question that a training loop asks
between two steps:

    with muster.integrations.Stop() as stop:
        for batch in data:
            ...
            if stop.requested():
                break
"""

from muster_context import report
from muster_context.stopping import Stop

__all__ = ["Stop", "report", "report_numbers"]


def report_numbers(values, **more):
    """Reports those of `values` that are numbers or tensors of one element, under their names."""
    plain = {}
    for name, value in values.items():
        if hasattr(value, "item"):
            try:
                value = value.item()
            except (ValueError, RuntimeError, TypeError):  # several elements
                continue
        if isinstance(value, (int, float)):
            plain[name] = value
    return report(**dict(plain, **more))
