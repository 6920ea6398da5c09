"""Trainer of PyTorch Lightning, of the packages lightning and pytorch_lightning:

    from muster.integrations.lightning import MusterCallback, MusterLogger

    trainer = Trainer(..., logger=MusterLogger(), callbacks=[MusterCallback()])
"""

try:
    from lightning.pytorch.callbacks import Callback
    from lightning.pytorch.loggers import Logger
    from lightning.pytorch.utilities import rank_zero_only
except ImportError:
    from pytorch_lightning.callbacks import Callback
    from pytorch_lightning.loggers import Logger
    from pytorch_lightning.utilities import rank_zero_only

import os

from . import Stop, report_numbers


class MusterLogger(Logger):
    """Reports what is logged, from rank 0. Hyperparameters are the recipe's and are not reported again."""

    @property
    def name(self):
        return "muster"

    @property
    def version(self):
        return os.environ.get("MUSTER_PROCESS", "").partition("/")[0] or "outside"

    @rank_zero_only
    def log_metrics(self, metrics, step=None):
        report_numbers(metrics, **({} if step is None else {"step": step}))

    def log_hyperparams(self, params, *args, **kwargs):
        pass


class MusterCallback(Callback):
    """Ends the training when muster asks; all ranks agree on it every `stop_every` batches."""

    def __init__(self, signals=("SIGTERM",), stop_every=10):
        self._stop = Stop(signals)
        self._stop_every = stop_every

    def on_train_start(self, trainer, pl_module):
        self._stop.begin()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if batch_idx % self._stop_every == 0:
            if trainer.strategy.reduce_boolean_decision(self._stop.requested(), all=False):
                trainer.should_stop = True

    def on_train_end(self, trainer, pl_module):
        self._stop.end()

    def on_exception(self, trainer, pl_module, exception):
        self._stop.end()
