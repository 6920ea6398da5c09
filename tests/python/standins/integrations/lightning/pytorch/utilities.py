"""The stand-in's part of lightning.pytorch.utilities."""

import functools
import os


def rank_zero_only(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        return function(*args, **kwargs) if os.environ.get("RANK", "0") == "0" else None

    return wrapped
