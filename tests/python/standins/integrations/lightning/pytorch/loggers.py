"""The stand-in's part of lightning.pytorch.loggers."""

from abc import ABC, abstractmethod


class Logger(ABC):
    @property
    @abstractmethod
    def name(self):
        ...

    @property
    @abstractmethod
    def version(self):
        ...

    @abstractmethod
    def log_metrics(self, metrics, step=None):
        ...

    @abstractmethod
    def log_hyperparams(self, params, *args, **kwargs):
        ...

    def finalize(self, status):
        pass
