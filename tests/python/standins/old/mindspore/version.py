"""The release of this stand-in."""

__version__ = "1.6.2"
