#!/usr/bin/env python3
"""Checks sweep directories against their documentation: the journal alone determines the state of a sweep.

Uses the format of docs/sweeps.md and nothing of muster's code: it has its own checksum, reader and ids. A
sweep may be checked at any time, also while its head is dead: trials that are not finished are allowed.
"""

import argparse
import hashlib
import json
import pathlib
import stat
import sys

EVENTS = {"sweep_began", "points_judged", "attempt_began", "rung_reached", "median_stopped", "attempt_ended",
          "host_quarantined", "trials_reopened", "sweep_steered", "sweep_ended", "trial_promoted",
          "sweep_edited", "value_skipped", "value_restored", "no_gain_expected"}
CLASSES = {"ok", "infeasible", "stopped", "oom_device", "oom_host", "diverged", "timeout", "host_lost", "preempted", "user_error",
           "crash", "stalled", "no_result"}


def crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


CRC = list(crc_table())


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ CRC[(value ^ byte) & 255]
    return value ^ 0xFFFFFFFF


def number_text(number):
    """The fewest digits that read back as the same double, as std::to_chars writes them."""
    if number == 0:
        return "0"
    digits = repr(number)
    sign = "-" if digits.startswith("-") else ""
    digits = digits.lstrip("-")
    mantissa, _, exponent = digits.partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    power = int(exponent or 0) - len(fraction)
    figures = (whole + fraction).lstrip("0")
    power += len(figures) - len(figures.rstrip("0"))
    figures = figures.rstrip("0")
    scientific = figures[0] + ("." + figures[1:] if len(figures) > 1 else "")
    size = power + len(figures) - 1
    scientific += "e" + ("-" if size < 0 else "+") + str(abs(size)).zfill(2)
    if power >= 0:
        fixed = str(abs(int(number)))
    elif size >= 0:
        fixed = figures[:size + 1] + "." + figures[size + 1:]
    else:
        fixed = "0." + "0" * (-size - 1) + figures
    return sign + (fixed if len(fixed) <= len(scientific) else scientific)


class NotKnown(Exception):
    """A value whose canonical text this program does not write."""


def canonical(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, str) and all(" " <= c <= "~" and c not in '"\\' for c in value):
        return '"' + value + '"'
    if isinstance(value, dict) and value and all(name.isidentifier() for name in value):
        return "{" + ", ".join(f"{name} = {canonical(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list) and value:
        return "{" + ", ".join(canonical(one) for one in value) + "}"
    raise NotKnown(value)


class Sweep:
    def __init__(self, folder):
        self.folder = folder.resolve() if folder.is_symlink() else folder  # the link to the newest
        self.problems = []
        self.records = []
        self.broken_end = ""
        self.began = None
        self.judged = set()  # trials that were evaluated
        self.impossible = set()
        self.over = {}  # finished trials -> class
        self.running = {}  # running trials -> attempt
        self.attempts = {}  # trial -> number of attempts
        self.ids = {}  # id -> trial
        self.points_checked = 0
        self.chosen = []  # points that were chosen and are not judged yet
        self.were_chosen = set()  # trials of such points
        self.edited_from = 0  # trials below it began before the last edit, or never begin

    def wrong(self, rule, text):
        self.problems.append(f"{rule}: {text}")

    def read(self):
        data = (self.folder / "journal.jsonl").read_bytes()
        lines = data.split(b"\n")
        if lines[-1]:
            self.broken_end = "the last line is cut"
        for number, line in enumerate(lines[:-1]):
            body, tail = line[:-18], line[-18:]
            if tail != b',"crc":"%08x"}' % crc32c(body):
                self.wrong("S1", f"line {number + 1}: the checksum does not fit")
                return
            record = json.loads(line)
            if record["seq"] != number + 1:
                self.wrong("S1", f"line {number + 1} is number {record['seq']}")
                return
            if record["event"] not in EVENTS:
                self.wrong("S1", f"line {number + 1}: {record['event']} is no event")
                return
            self.records.append(record)

    def check(self):
        self.read()
        if self.records and self.records[0]["event"] != "sweep_began":
            self.wrong("S1", "the journal does not begin with sweep_began")
        for record in self.records:
            getattr(self, record["event"])(record)
        self.check_folders()

    # --- entries ---------------------------------------------------------------------------------------------

    def sweep_began(self, record):
        if self.began is not None:
            for key in ("sweep", "name"):
                if record[key] != self.began[key]:
                    self.wrong("S2", f"{record['seq']}: a head of another sweep, {record[key]}")
            if record["recipe"] != self.began["recipe"] and not record["accepted"]:
                self.wrong("S2", f"{record['seq']}: another recipe, and nobody accepted it")
        self.began = record

    def points_judged(self, record):
        trials = range(record["first"], record["first"] + record["count"])
        # A trial that turns out impossible when it is planned is evaluated once more, and those that an edit gives up
        # are: all of the entry.
        last = record["first"] + record["count"] - 1
        turned = [[[record["first"], last]]] == [reason["trials"] for reason in record["impossible"]]
        for trial in trials:
            if trial in self.judged and not (turned and trial not in self.impossible):
                self.wrong("S3", f"trial {trial} is judged twice")
            if trial in self.over or trial in self.running:
                self.wrong("S3", f"trial {trial} is judged, and it runs or is over")
            if trial >= self.began["trials"]:
                self.wrong("S3", f"trial {trial} is judged, and there are {self.began['trials']}")
        self.judged.update(trials)
        if record.get("chosen", False):
            points = record["points"]
            if points != self.chosen[:len(points)] or len(points) != record["count"]:
                self.wrong("S14", f"{record['seq']}: the points are not the next ones that were chosen")
            self.chosen = self.chosen[len(points):]
            self.were_chosen.update(trials)
        for reason in record["impossible"]:
            before = -1
            for first, last in reason["trials"]:
                if first <= before or last < first or first not in trials or last not in trials:
                    self.wrong("S3", f"{record['seq']}: the trials of a reason are in disorder or were not judged")
                before = last
                self.impossible.update(range(first, last + 1))

    def attempt_began(self, record):
        trial, attempt = record["trial"], record["attempt"]
        if trial not in self.judged:
            self.wrong("S4", f"trial {trial} begins and was not judged")
        if trial < self.edited_from and trial not in self.attempts and trial not in self.were_chosen:
            self.wrong("S16", f"trial {trial} begins, and an edit gave it up")
        if trial in self.impossible:
            self.wrong("S4", f"trial {trial} begins and is impossible")
        if trial in self.over:
            self.wrong("S5", f"trial {trial} begins again and was over")
        if trial in self.running:
            self.wrong("S6", f"trial {trial}: attempt {attempt} begins while {self.running[trial]} runs")
        if attempt != self.attempts.get(trial, 0):
            self.wrong("S6", f"trial {trial}: attempt {attempt} begins where {self.attempts.get(trial, 0)} is next")
        if self.ids.setdefault(record["id"], trial) != trial:
            self.wrong("S7", f"trials {trial} and {self.ids[record['id']]} are the same point {record['id']}")
        try:
            known = hashlib.sha256(canonical(record["point"]).encode()).hexdigest()[:16]
            self.points_checked += 1
            if known != record["id"]:
                self.wrong("S7", f"trial {trial}: the id of its point is {known}, the journal says {record['id']}")
        except NotKnown:
            pass
        resumed = record.get("resumed")
        if resumed is not None:
            folder = f"/t/{record['id'][:2]}/{record['id']}.{resumed['attempt']}/"
            if resumed["attempt"] >= attempt or folder not in resumed["checkpoint"]:
                self.wrong("S12", f"trial {trial}: attempt {attempt} goes on from {resumed['checkpoint']}, which no "
                                  "earlier attempt of the trial wrote")
        self.attempts[trial] = attempt + 1
        self.running[trial] = attempt

    def attempt_ended(self, record):
        trial, attempt = record["trial"], record["attempt"]
        if self.running.get(trial) != attempt:
            self.wrong("S6", f"trial {trial}: attempt {attempt} ends and does not run")
        if record["class"] not in CLASSES:
            self.wrong("S1", f"{record['seq']}: {record['class']} is no class")
        self.running.pop(trial, None)
        if not record.get("again", False) and not record.get("interrupted", False):
            if trial in self.over:
                self.wrong("S5", f"trial {trial} is over twice")
            self.over[trial] = record["class"]

    def reports(self, record):
        if self.running.get(record["trial"]) != record["attempt"]:
            self.wrong("S6", f"trial {record['trial']}: attempt {record['attempt']} reports and does not run")

    rung_reached = reports
    median_stopped = reports

    def value_skipped(self, record):
        for first, last in record["trials"]:
            for trial in range(first, last + 1):
                if trial not in self.judged or trial in self.impossible or self.attempts.get(trial, 0) > 0:
                    self.wrong("S16", f"{record['seq']}: trial {trial} is skipped, and did not wait")
                self.impossible.add(trial)

    def value_restored(self, record):
        for first, last in record["trials"]:
            for trial in range(first, last + 1):
                if trial not in self.impossible:
                    self.wrong("S16", f"{record['seq']}: trial {trial} is tried after all, and was not skipped")
                self.impossible.discard(trial)

    def no_gain_expected(self, record):
        if record["bound"] > record["noise"]:
            self.wrong("S17", f"{record['seq']}: no gain is expected, and the bound is above the noise")

    def host_quarantined(self, record):
        if not record["host"]:
            self.wrong("S1", f"{record['seq']}: a host without a name is quarantined")

    def trials_reopened(self, record):
        for first, last in record["trials"]:
            for trial in range(first, last + 1):
                if self.over.pop(trial, None) is None:
                    self.wrong("S5", f"trial {trial} is reopened and was not over")

    def trial_promoted(self, record):
        if self.over.pop(record["trial"], None) != "stopped" or record["rank"] > record["threshold"]:
            self.wrong("S15", f"trial {record['trial']} is promoted, and it was not paused among the best")

    def sweep_steered(self, record):
        if not any(key in record for key in ("trials", "max_trials", "slots", "points", "device_hours")):
            self.wrong("S13", f"{record['seq']}: steered, and nothing changes")
        trials = record.get("trials", self.began["trials"])
        if trials < self.began["trials"]:
            self.wrong("S13", f"{record['seq']}: steered from {self.began['trials']} to {trials} trials")
        self.began["trials"] = trials
        self.chosen += record.get("points", [])

    def sweep_edited(self, record):
        judged = max(self.judged) + 1 if self.judged else 0
        if record["from"] != judged:
            self.wrong("S16", f"{record['seq']}: edited at trial {record['from']}, and {judged} is the next one")
        if record["trials"] < record["from"]:
            self.wrong("S16", f"{record['seq']}: {record['trials']} trials, and {record['from']} are judged")
        if record["recipe"] != self.began["recipe"] and not record["accepted"]:
            self.wrong("S2", f"{record['seq']}: another recipe, and nobody accepted it")
        self.edited_from = record["from"]
        self.began["trials"] = record["trials"]
        self.began["recipe"] = record["recipe"]

    def sweep_ended(self, record):
        if self.running:
            self.wrong("S8", f"the head leaves while trials {sorted(self.running)[:5]} run")
        if record["complete"] and len(self.over) + len(self.impossible) != self.began["trials"]:
            self.wrong("S8", f"complete, and {len(self.over)} are over and {len(self.impossible)} impossible "
                             f"of {self.began['trials']}")

    # --- folders ---------------------------------------------------------------------------------------------

    def check_folders(self):
        begun = {identity: self.attempts[trial] for identity, trial in self.ids.items()}
        top = self.folder / "t"
        for two in sorted(top.iterdir()) if top.is_dir() else []:
            for folder in sorted(two.iterdir()):
                identity, _, attempt = folder.name.partition(".")
                if identity[:2] != two.name or identity not in begun:
                    self.wrong("S9", f"{folder.relative_to(self.folder)} belongs to no trial that began")
                elif not attempt.isdigit() or int(attempt) >= begun[identity]:
                    self.wrong("S9", f"{folder.relative_to(self.folder)} belongs to no attempt that began")
        paths = [self.folder, self.folder / "journal.jsonl", self.folder / "sweep.json", self.folder / "index.sqlite",
                 self.folder / "lock", top]
        paths += [path for path in top.glob("*")] + [path for path in top.glob("*/*")]
        for path in paths:
            if not path.exists():
                continue
            status = path.lstat()
            wanted = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
            if stat.S_IMODE(status.st_mode) != wanted:
                self.wrong("S10", f"{path.relative_to(self.folder)} has mode {stat.S_IMODE(status.st_mode):o}")

    def check_complete(self, trials):
        missing = [t for t in range(trials) if t not in self.over and t not in self.impossible]
        if missing:
            self.wrong("S11", f"{len(missing)} of {trials} trials are not over: {missing[:5]}, …")


def check(folder, complete=None):
    sweep = Sweep(folder)
    try:
        sweep.check()
        if complete is not None:
            sweep.check_complete(complete)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as problem:
        sweep.wrong("format", f"cannot be checked: {type(problem).__name__}: {problem}")
    return sweep


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     epilog="example: tests/support/check_sweep.py --complete 48 sweeps/digits/*-*")
    parser.add_argument("paths", type=pathlib.Path, nargs="+", help="sweep directories")
    parser.add_argument("--complete", type=int, metavar="N", help="all of N trials have to be over, or impossible")
    arguments = parser.parse_args()
    bad = 0
    for folder in arguments.paths:
        sweep = check(folder, arguments.complete)
        bad += bool(sweep.problems)
        for problem in sweep.problems:
            print(f"{folder}: {problem}")
        if not sweep.problems:
            end = f", {sweep.broken_end}" if sweep.broken_end else ""
            print(f"{folder}: ok, {len(sweep.records)} records, {len(sweep.over)} trials over, "
                  f"{len(sweep.impossible)} impossible, {len(sweep.running)} running, "
                  f"{sweep.points_checked} ids{end}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
