"""The settled MindSpore context of a process that muster launched, for its script.

    import muster_context

    muster_context.apply()                        apply the recipe's settings, if that has not happened
    muster_context.settings()                     the settings as a dictionary
    network = muster_context.parallel(network)    wrap a network in the recipe's AutoParallel (2.6 and later)
    muster_context.report(step=100, loss=0.25)    append a line to the run's metrics
    muster_context.should_stop()                  whether muster asked this process to stop

Where muster applies the context by itself, only parallel() is needed, and only by recipes with
parallel { … }. This file is read at the start of every Python below a run, so it only defines the
functions; their code is imported when they are called. Outside a run, all of them do nothing.
"""

__all__ = ["apply", "parallel", "report", "settings", "should_stop"]


def apply() -> bool:
    """Imports mindspore and applies the recipe's settings to it, at most once per process.

    True if the settings are in force in this process; False outside a run, and where another process has them
    already (the launched one, if this is its child). Ends the process with code 1, like `import mindspore`
    does,
    if the release is not the recipe's or a value is refused. Raises ImportError if there is no mindspore.
    """
    from . import api

    return api.apply()


def parallel(network):
    """The network in mindspore.parallel.auto_parallel.AutoParallel, with the recipe's parallel { … }.

    Call it for the outermost cell, after mindspore.communication.init(): AutoParallel reads rank and group
    then. The same network outside a run, without such settings, and (with a line on stderr) where another
    process has the settings. May be called for several networks. Applies the other settings first, as
    apply() does. An exception of AutoParallel(network) propagates; the process ends with code 1 if a method
    refuses its value. Raises ImportError if there is no mindspore.
    """
    from . import api

    return api.parallel(network)


def settings(secrets: bool = False) -> "dict[str, object]":
    """The settled context, {"set_context": {"mode": 0, …}, …}, with what was set only; {} outside a run.

    A new dictionary each time. Passwords are "(secret)" unless `secrets` is true. Raises ValueError or
    OSError if the context cannot be read.
    """
    from . import api

    return api.settings(secrets)


def report(**values: object) -> bool:
    """Appends `values` to $MUSTER_METRICS as one line of JSON; any process of a run may call it, at any time.

    Takes text, numbers, booleans, None, lists and dictionaries of these, and tensors of one element. JSON has
    no NaN and no infinity: they become null. True if a line was written; False without $MUSTER_METRICS, and
    if it cannot be written (then with a line on stderr: a full disk ends no training). Raises TypeError for
    other values.
    """
    from . import metrics

    return metrics.report(values)


def should_stop(signals=("SIGTERM",)) -> bool:
    """Whether muster asked this process to stop: by the early stopping of a sweep, by `muster stop`, at a
    limit, or since another process failed. Ask between two steps, save what is needed, and exit with 0
    within the grace of the role's `stop`.

    The first call, in the main thread, catches the signals, of which the first to come is the request;
    before that, and in other threads, they end the process. Name `checkpoint.signal` of the recipe as well,
    if it has one: should_stop(["SIGTERM", "SIGUSR1"]). A second signal has its former effect. Ranks that
    communicate leave a loop together by muster.integrations.Stop.
    """
    from . import stopping

    return stopping.should_stop(signals)
