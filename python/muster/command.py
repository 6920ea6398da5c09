"""Finds the muster program and calls it."""

import json
import os
import shutil
import subprocess
import tempfile
import warnings
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple


VERSION = "0.1.0"  # of this package, which is that of the program that it came with


class Error(Exception):
    """A problem that muster reported, or found while it read a folder.

    `exit_code` is the program's (`muster docs commands`; None if no program was involved), `text` its
    messages and `command` its words.
    """

    def __init__(self, text: str, exit_code: Optional[int] = None, command: Sequence[Any] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.exit_code = exit_code
        self.command = list(command)


def program() -> str:
    """The path of the muster program: $MUSTER, else the one on PATH, else the one that this package came
    with."""
    given = os.environ.get("MUSTER")
    if given:
        found = shutil.which(given)
        if not found:
            raise Error("MUSTER=%s is not a program" % given)
        return found
    prefix = os.path.dirname(os.path.abspath(__file__))
    for _ in ("python", "muster", "share", "PREFIX"):
        prefix = os.path.dirname(prefix)
    found = shutil.which("muster") or shutil.which(os.path.join(prefix, "bin", "muster"))
    if not found:
        raise Error("the program muster is not on PATH; set the variable MUSTER to its path")
    return found


def call(words: List[str]) -> bytes:
    """What the program prints; its warnings become warnings."""
    output, messages = _called(words, ())
    _warn(messages)
    return output


def ask(words: List[str], nothing_is: Sequence[int] = ()) -> Dict[str, Any]:
    """The JSON that the program prints. `nothing_is`: exit codes besides 0 after which it is valid all
    the same: a list is empty, or something in it cannot be read."""
    found, messages = answer(words, nothing_is)
    if "error:" in messages or "warning:" in messages:  # "no run in …" is an empty list
        _warn(messages)
    return found


def answer(words: List[str], nothing_is: Sequence[int] = ()) -> Tuple[Dict[str, Any], str]:
    """The JSON that the program prints, and its messages."""
    output, messages = _called(words, nothing_is)
    try:
        found = json.loads(output.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as problem:
        raise Error("the output of muster %s is not JSON: %s" % (words[0], problem), 0, words)
    if not isinstance(found, dict):
        raise Error("the output of muster %s is not an object" % words[0], 0, words)
    return found, messages


def part(found: Any, name: str, kind: Any) -> Any:
    """The member of something that was read, of this type or one of these; Error if there is none."""
    value = found.get(name) if isinstance(found, dict) else None
    valid = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    if not valid or isinstance(value, str) and not _names_something(value):
        raise Error("what was read has no valid %r" % name)
    return value


def _names_something(text):
    """Whether the system takes it as a path or a word of a command."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def parts(found: Any, name: str) -> List[Dict[str, Any]]:
    """The same for a list of dictionaries."""
    rows = part(found, name, list)
    if not all(isinstance(row, dict) for row in rows):
        raise Error("what was read has no valid %r" % name)
    return rows


def _called(words, nothing_is):
    command = [program()] + [_word(word) for word in words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    messages = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode != 0 and not (done.returncode in nothing_is and done.stdout):
        raise _failed(command, done.returncode, messages)
    return done.stdout, messages


def _warn(messages):
    if messages:
        warnings.warn(messages, stacklevel=4)


def _failed(command, exit_code, messages):
    messages = messages or "%s failed with exit code %d" % (" ".join(command[:2]), exit_code)
    if exit_code == 2:  # a program of another version may not know an option
        other = _version_of(command[0])
        if other not in ("", VERSION):
            messages += "\n%s is muster %s, the Python package muster %s: install both in the same version" \
                % (command[0], other, VERSION)
    return Error(messages, exit_code, command)


def _version_of(path):
    """What the program says; empty if it says nothing sensible."""
    try:
        done = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = done.stdout.decode("utf-8", "replace").split()
    return words[1] if len(words) == 2 and words[0] == "muster" else ""


def stream(words: List[str]) -> Iterator[Dict[str, Any]]:
    """The JSON lines that the program prints while it runs; the program ends with the generator."""
    command = [program()] + [_word(word) for word in words]
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages)
        lines = 0
        try:
            for line in process.stdout:
                lines += 1
                try:
                    record = json.loads(line.decode("utf-8", "replace"))
                except (ValueError, RecursionError) as problem:
                    raise Error("a line of muster %s is not JSON: %s" % (words[0], problem), None, words)
                yield record
            process.wait()
        finally:
            process.stdout.close()
            if process.poll() is None:
                process.terminate()
                process.wait()
        messages.seek(0)
        text = messages.read(1 << 20).decode("utf-8", "replace").strip()
        if lines == 0 and process.returncode != 0:  # else it is the exit code of the run that was followed
            raise _failed(command, process.returncode, text)


def _word(word):
    word = os.fspath(word) if hasattr(word, "__fspath__") else str(word)
    if "\0" in word:
        raise ValueError("a word of a command cannot contain a null byte: %r" % word)
    return word

