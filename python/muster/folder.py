"""Reads files of a run directory, which programs of the run may have written, or the author of a copy.

Links are not followed, only regular files are read, and no more than asked for.
"""

import json
import os
import stat

from .command import Error

_BLOCK = 1 << 16
MOST_JSON = 256 << 20  # bytes of a file that is read as a whole


class Folder:
    """An open directory; a context."""

    def __init__(self, path):
        self.path = path
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as problem:
            raise Error("%s: %s" % (path, problem.strerror))
        except ValueError as problem:  # a null byte
            raise Error("%r: %s" % (path, problem))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._fd)

    def names(self, below):
        """Names of the entries of a folder in it, sorted; none if it does not exist."""
        try:
            fd = self._open(below, os.O_DIRECTORY)
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise self._problem(below, problem)
        try:
            return sorted(os.listdir(fd))
        finally:
            os.close(fd)

    def json(self, name):
        """The content of a JSON file."""
        with self.file(name) as file:
            data = file.read(MOST_JSON + 1)
        if len(data) > MOST_JSON:
            raise Error("%s/%s: larger than %d MiB" % (self.path, name, MOST_JSON >> 20))
        try:
            return json.loads(data.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as problem:
            raise Error("%s/%s: not JSON: %s" % (self.path, name, problem))

    def dictionary(self, name):
        """The content of a JSON file that is an object."""
        found = self.json(name)
        if not isinstance(found, dict):
            raise Error("%s/%s: not an object" % (self.path, name))
        return found

    def file(self, name):
        """The file, open for reading bytes."""
        try:
            fd = self._open(name, os.O_NONBLOCK)
        except OSError as problem:
            raise self._problem(name, problem)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise Error("%s/%s: not a regular file" % (self.path, name))
        return os.fdopen(fd, "rb")

    def _open(self, name, flags):
        parts = name.split("/")
        folder = self._fd
        try:
            for number, part in enumerate(parts):
                last = number == len(parts) - 1
                how = flags if last else os.O_DIRECTORY
                fd = os.open(part, how | os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                if folder != self._fd:
                    os.close(folder)
                folder = fd
            return fd
        except OSError:
            if folder != self._fd:
                os.close(folder)
            raise

    def _problem(self, name, problem):
        return Error("%s/%s: %s" % (self.path, name, problem.strerror))


def lines(file, longest):
    """Whole lines of an open file without their ends; None for one that is longer than `longest`. A last line
    without an end is left out: it is still being written."""
    rest, too_long = b"", False
    while True:
        block = file.read(_BLOCK)
        if not block:
            return
        whole = (rest + block).split(b"\n")
        rest = whole.pop()
        for line in whole:
            yield None if too_long or len(line) > longest else line
            too_long = False
        if len(rest) > longest:
            rest, too_long = b"", True
