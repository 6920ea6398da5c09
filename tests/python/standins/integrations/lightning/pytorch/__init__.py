"""The stand-in for the Trainer of Lightning."""

from .callbacks import Callback
from .loggers import Logger


class Strategy:
    """Of two processes, the other one of which decides by `other`."""

    def __init__(self, other):
        self.other = other

    def reduce_boolean_decision(self, decision, all=True):
        return (decision and self.other) if all else (decision or self.other)


class Trainer:
    def __init__(self, logger, callbacks, batches, at_batch=None, other=False):
        assert isinstance(logger, Logger) and logger.name and logger.version is not None
        assert all(isinstance(callback, Callback) for callback in callbacks)
        self.logger, self.callbacks, self.batches, self.at_batch = logger, callbacks, batches, at_batch
        self.strategy, self.should_stop, self.done = Strategy(other), False, 0

    def fit(self, module):
        self.logger.log_hyperparams({"lr": 0.1})
        for callback in self.callbacks:
            callback.on_train_start(self, module)
        while self.done < self.batches and not self.should_stop:
            if self.at_batch:
                self.at_batch(self.done)
            for callback in self.callbacks:
                callback.on_train_batch_end(self, module, None, None, self.done)
            self.done += 1
            self.logger.log_metrics({"loss": 1 / self.done}, step=self.done)
        for callback in self.callbacks:
            callback.on_train_end(self, module)
        self.logger.finalize("success")
