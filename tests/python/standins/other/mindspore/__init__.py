"""A release other than the one in recipes."""

from .context import *  # noqa: F401,F403

__version__ = "1.9.0"
