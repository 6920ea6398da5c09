"""The settled MindSpore context of a process that muster launched, for its script.

    import muster_context

    muster_context.apply()                        apply the recipe's settings, if that has not happened
    muster_context.settings()                     the settings as a dictionary
    muster_context.report(step=100, loss=0.25)    append a line to the run's metrics

None of these is needed where muster applies the context by itself. This file is read at the start of every
Python below a run, so it only defines the three functions; their code is imported when they are called.
Outside a run, all of them do nothing.
"""

__all__ = ["apply", "report", "settings"]


def apply():
    """Imports mindspore and applies the recipe's settings to it, at most once per process.

    True if the settings are in force in this process; False outside a run, and where another process has them
    already (the launched one, if this is its child). Ends the process with code 1, like `import mindspore`
    does,
    if the release is not the recipe's or a value is refused. Raises ImportError if there is no mindspore.
    """
    from . import api

    return api.apply()


def settings(secrets=False):
    """The settled context, {"set_context": {"mode": 0, …}, …}, with what was set only; {} outside a run.

    A new dictionary each time. Passwords are "(secret)" unless `secrets` is true. Raises ValueError or
    OSError if the context cannot be read.
    """
    from . import api

    return api.settings(secrets)


def report(**values):
    """Appends `values` to $MUSTER_METRICS as one line of JSON; any process of a run may call it, at any time.

    Takes text, numbers, booleans, None, lists and dictionaries of these, and tensors of one element. JSON has
    no NaN and no infinity: they become null. True if a line was written; False without $MUSTER_METRICS, and
    if it cannot be written (then with a line on stderr: a full disk ends no training). Raises TypeError for
    other values.
    """
    from . import metrics

    return metrics.report(values)
