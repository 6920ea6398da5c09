"""A MindSpore that offers its functions in the package and in mindspore.context."""

from .context import *  # noqa: F401,F403
from . import context  # noqa: F401

__version__ = "2.3.0rc2"
