"""Runs and sweeps of muster from Python: start, follow, read, draw.

    import muster

    run = muster.run("recipe.lua", lr=0.1)          start a run in the background
    for event in run.follow(): ...                  its journal, as it is written
    run.wait(); run.metrics().frame()               outcome; metrics as a data frame

    for run in muster.runs("runs", where="lr > 0.1"): ...
    muster.Run("digits~1").report["first_failure"]
    muster.Run("digits").explain("NEXT_RANK", rank=2)

    sweep = muster.sweep("recipe.lua", "--minimize", "loss", lr=[0.1, 0.3])
    sweep.trials().frame(); sweep.history(); sweep.best()

Needs the muster program (`muster.program()`) and nothing but the standard library; data frames need pandas.
Every problem is a muster.Error.
"""

from .command import Error, program
from .listing import runs, sweeps
from .one_run import Run
from .one_sweep import Sweep
from .start import run, sweep
from .table import Table

__all__ = ["Error", "Run", "Sweep", "Table", "program", "run", "runs", "sweep", "sweeps"]
