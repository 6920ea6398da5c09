"""MindSpore as it was up to 1.x: the functions are in mindspore.context only."""

from . import context  # noqa: F401
from .version import __version__  # noqa: F401
