"""Starts runs and sweeps in the background."""

import os
from typing import Any, List, Sequence

from .command import Error, call
from .one_run import Run, overrides, plain
from .one_sweep import Sweep


def run(recipe: str, *words: str, **parameters: Any) -> Run:
    """Starts a run as `muster run --detach` does and returns it once its first processes have been ordered
    to start.

    `words` are further words of the command line, `parameters` the recipe's: run("train.lua", "--tag",
    "good", lr=0.1), run("@torch", "--", "python3", "train.py", workers=8), run("train.lua",
    **{"optimizer.beta1": 0.9}).
    """
    return Run(_begun(["run", recipe, "--detach"], overrides(parameters), words))


def sweep(recipe: str, *words: str, **parameters: Any) -> Sweep:
    """Starts a sweep as `muster sweep --detach` does and returns it once its first trial has begun.

    A parameter that is a list or an array of numpy is an axis (--grid), any other one is fixed:
    sweep("train.lua", "--minimize", "loss", lr=numpy.logspace(-3, -1, 3), width=[8, 16], workers=2).
    Conditions, samplers and budgets are `words`; so are lists as fixed values ("sizes:=[1,2]"), and the
    axes of a sweep file are its own.
    """
    axes: List[str] = []
    fixed = {}
    for name, value in parameters.items():
        value = plain(value)
        if isinstance(value, (list, tuple, range)):
            axes += ["--grid", "%s=%s" % (name, ",".join(_on_axis(name, one) for one in value))]
        else:
            fixed[name] = value
    return Sweep(_begun(["sweep", recipe, "--detach"], axes + overrides(fixed), words))


def _on_axis(name: str, value: Any) -> str:
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if ".." in text:
        raise ValueError("%s: the range %r is a word of the command line: muster.sweep(recipe, \"--grid\", "
                         "\"%s=%s\")" % (name, value, name, text))
    if "," in text or not text:
        raise ValueError("%s: %r cannot be a value of an axis here; describe the sweep in a file"
                         % (name, value))
    return text


def _begun(words: List[str], settings: List[str], more: Sequence[str]) -> str:
    """The folder that a command with --detach prints."""
    output = call(words + settings + list(more)).decode("utf-8", "replace")
    _, _, path = output.rstrip("\n").partition(" ")
    if not os.path.isdir(path):
        raise Error("muster printed no folder: %r" % output, 0, words)
    return path
