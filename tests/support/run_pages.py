"""Parses docs/journal.md and docs/run_directory.md: names of events and fields, and of files.

Reads the tables of the two pages; check_run.py compares runs with them.
"""

import functools
import json
import pathlib
import re
import stat

DOCS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"
OF_EVERY_RECORD = {"seq", "wall", "at", "event", "crc"}
# The keys in these values come from the recipe, the machine or a program.
OWN_NAMES = {"ports", "cores", "inherited", "env", "patterns", "value", "set", "last", "libraries", "sources", "more"}
# Parts of names in the pages' tables, and the patterns they stand for.
PARTS = {"<role>": r"[^/]+", "<index>": r"\d+", "<attempt>": r"\d+", "<n>": r"\d+", "<host>": r"host\d+", "…": r".+"}


def rows(page):
    """The first cells of a page's tables, with the whole line."""
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            yield line.split("|")[1], line


def words(text):
    return set(re.findall(r"`([^`]+)`", text))


@functools.lru_cache
def told_events():
    return {next(iter(words(cell))): words(line) for cell, line in rows("journal.md")}


@functools.lru_cache
def told_words():
    return set().union(*(words(line) for line in (DOCS / "journal.md").read_text(encoding="utf-8").splitlines()))


@functools.lru_cache
def told_files():
    patterns = []
    for cell, _ in rows("run_directory.md"):
        for name in words(cell):
            parts = re.split("(" + "|".join(map(re.escape, PARTS)) + ")", name)
            patterns.append(re.compile("".join(PARTS.get(part, re.escape(part)) for part in parts)))
    return patterns


@functools.lru_cache
def told_keys():
    """Every name in backticks in both pages, and every name in their JSON."""
    text = "".join((DOCS / page).read_text(encoding="utf-8") for page in ("run_directory.md", "journal.md"))
    return {name for word in words(re.sub(r"^```.*$", "", text, flags=re.MULTILINE)) for name in re.findall(r"\w+", word)}


def keys_of(value, within=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            if within not in OWN_NAMES:
                yield key
            yield from keys_of(inner, key)
    for element in value if isinstance(value, list) else []:
        yield from keys_of(element, within)


def untold_of_json(folder):
    """One line for each undocumented name in the JSON files."""
    for name in ("report.json", "binding.json", "inputs.json"):
        path = folder / name
        # A file may be empty if the head was killed between creating and writing it.
        if path.is_file() and path.stat().st_size > 0:
            for key in sorted(set(keys_of(json.loads(path.read_bytes()))) - told_keys()):
                yield f"docs/run_directory.md does not tell of {key} in {name}"


def untold_of_record(record):
    """One line for each undocumented name in a record."""
    event = record["event"]
    if event not in told_events():
        yield f"docs/journal.md does not tell of {event}"
        return
    for field, value in record.items():
        if field in OF_EVERY_RECORD:
            continue
        if field not in told_events()[event]:
            yield f"docs/journal.md does not tell of {field} of {event}"
        for element in value if isinstance(value, list) else []:
            for name in element if isinstance(element, dict) else []:
                if name not in told_words():
                    yield f"docs/journal.md does not tell of {name} in {field} of {event}"


def is_of_processes(path, name):
    """Processes may write into the folder, with their own umask; muster's files are 0600."""
    return "/" not in name and stat.S_IMODE(path.lstat().st_mode) != 0o600


def untold_of_files(folder):
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or is_of_processes(path, name):
            continue
        if not any(pattern.fullmatch(name) for pattern in told_files()):
            yield f"docs/run_directory.md does not tell of {name}"
