"""A release that is not what recipes ask for."""

from .context import *  # noqa: F401,F403

__version__ = "1.9.0"
