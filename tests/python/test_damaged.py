"""What the package muster makes of damaged directories and answers: muster.Error, and nothing else."""

import copy
import json
import os
import random
import shutil
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import launching

sys.path.insert(0, launching.PYTHON)
import muster  # noqa: E402
from muster import crc, display  # noqa: E402

ROUNDS = 400  # each changes five files or every answer

# In place of a value of a file or an answer.
ODD = [None, True, 0, -1, 1 << 70, 1.5, 1e308, float("nan"), float("inf"), "", "x", "\ud800", "a\0b",
       "9" * 5_000, [], [[]], {}, {"a": {}}, [None], [1, "2"]]


def lines(values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def journal(records):
    text = b""
    for number, one in enumerate(records, 1):
        body = json.dumps(dict(seq=number, **one), separators=(",", ":"))[:-1].encode()
        text += body + b',"crc":"%08x"}\n' % crc.crc32c(body)
    return text


def mutated(value, dice):
    """A copy with one to three members changed."""
    value = copy.deepcopy(value)
    for _ in range(dice.randint(1, 3)):
        places = []

        def walk(at):
            for key in (at if isinstance(at, dict) else range(len(at))):
                places.append((at, key))
                if isinstance(at[key], (dict, list)):
                    walk(at[key])

        if not isinstance(value, (dict, list)):
            return value
        walk(value)
        if not places:
            return dice.choice(ODD)
        at, key = dice.choice(places)
        how = dice.random()
        if how < 0.2:
            del at[key]
        elif how < 0.3 and isinstance(at, list):
            at += at[:2]
        else:
            at[key] = copy.deepcopy(dice.choice(ODD))
    return dice.choice(ODD) if dice.random() < 0.02 else value


def damaged(data, dice):
    """The bytes with some of them changed, removed or repeated."""
    data = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(data) + 1)
        how = dice.randrange(4)
        if how == 0:
            data[at:at + dice.randint(0, 20)] = b""
        elif how == 1:
            data[at:at] = bytes([dice.randrange(256)] * dice.randint(1, 8))
        elif how == 2:
            data[at:at] = data[:dice.randint(0, 200)]
        elif at < len(data):
            data[at] ^= 1 << dice.randrange(8)
    return bytes(data)


PLAN = {"format": 1, "name": "digits", "roles": [{"name": "worker"}], "processes": [{"role": 0, "index": 0}]}
SWEEP = {"format": 1, "sweep": "3f9a", "name": "lr", "objective": {"metric": "loss", "maximize": False}}
METRICS = [{"step": 1, "loss": 0.5, "note": "a"}, {"step": 2, "loss": 0.25}, {"epoch": 1, "loss": 1e20}]
USAGE = [{"at_ms": 5, "usage": [[0, 0, 100, 50, 7, None], [1, 0, 90, 10, 9, 3]]},
         {"at_ms": 9, "usage": [[0, 0, 200, 90, 8, None]]}]
RECORDS = [{"event": "sweep_began", "name": "lr"},
           {"event": "attempt_ended", "trial": 0, "losses": [[1, 0.5], [2, None]]}, {"event": "run_ended"}]
RUN = {"run": "aa11", "name": "digits", "outcome": "ok", "seconds": 1.5, "exit_code": 0, "why": "",
       "started_at": "2026-11-20T12:00:00Z", "columns": {"lr": 0.1}}
TRIAL = {"trial": 0, "id": "00ff", "state": "done", "attempt": 1, "value": 0.5, "loss": 0.5,
         "point": {"lr": 0.1}, "metrics": {"loss": 0.5}, "seconds": 3}


class Damaged(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="muster-damaged-"))
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(os.path.join(self.folder, "metrics"))
        run = dict(RUN, run_dir=self.folder)
        trial = dict(TRIAL, run_dir=self.folder)
        show = {"sweep_dir": self.folder, "state": "complete", "trials": 1, "over": 1,
                "best": {"trial": 0, "value": 0.5}, "run_dir": self.folder, "attempts": []}
        self.answers = {"ls": {"runs": [run], "trials": [trial], "sweeps": [{"sweep_dir": self.folder}]},
                        "ps": {"runs": [run], "sweeps": [{"sweep_dir": self.folder}]}, "show": show,
                        "best": {"trials": [trial]},
                        "report": {"run_dir": self.folder, "processes": [{"role": "worker", "index": 0}]}}
        self.answer = json.dumps
        called = mock.patch.object(muster.command, "_called", self.called)
        called.start()
        self.addCleanup(called.stop)
        self.write_all()

    def called(self, words, _nothing_is):
        if words[0] not in self.answers or "--html" in words:
            raise muster.Error("no such answer")
        return self.answer(self.answers[words[0]]).encode("utf-8", "surrogatepass"), ""

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def write_all(self, change=lambda value: value, dice=None):
        texts = {"plan.json": json.dumps(change(PLAN)).encode(),
                 "sweep.json": json.dumps(change(SWEEP)).encode(),
                 "metrics/worker.0.0.jsonl": lines(map(change, METRICS)),
                 "usage.jsonl": lines(map(change, USAGE)),
                 "journal.jsonl": journal([one if isinstance(one, dict) else {"event": one}
                                           for one in map(change, RECORDS)])}
        for name, text in texts.items():
            self.write(name, damaged(text, dice) if dice else text)

    def reads(self):
        """Everything that reads, by name."""
        def run():
            return muster.Run(self.folder)

        def sweep():
            return muster.Sweep(self.folder)

        return {
            "plan": lambda: run().plan, "journal": lambda: list(run().journal()),
            "metrics": lambda: run().metrics()._repr_html_(),
            "everyone": lambda: run().metrics(everyone=True),
            "resources": lambda: run().resources()._repr_html_(), "html": lambda: run()._repr_html_(),
            "facts": lambda: (run().id, run().name, run().columns, run().outcome, run().report),
            "runs": lambda: muster.runs(self.folder).table()._repr_html_(),
            "sweeps": lambda: muster.sweeps(self.folder).table()._repr_html_(),
            "sweep": lambda: (sweep().id, sweep().name, sweep().objective, sweep().state),
            "trials": lambda: sweep().trials()._repr_html_(), "best": lambda: sweep().best(),
            "trial": lambda: sweep().trial("best").path, "history": lambda: sweep().history()._repr_html_(),
            "history of some": lambda: sweep().history([0]), "sweep html": lambda: sweep()._repr_html_(),
        }

    def try_all(self, seed):
        errors = 0
        for name, read in self.reads().items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    read()
            except muster.Error:
                errors += 1
            except Exception as other:  # what this test is about
                self.fail("seed %d, %s: %r" % (seed, name, other))
        return errors

    def test_whole_ones_are_read(self):
        self.assertEqual(self.try_all(0), 0)

    def test_other_types_in_files_are_errors(self):
        errors = 0
        for seed in range(ROUNDS):
            dice = random.Random(seed)
            self.write_all(lambda value: mutated(value, dice))
            errors += self.try_all(seed)
        self.assertGreater(errors, 0)

    def test_changed_bytes_in_files_are_errors(self):
        for seed in range(ROUNDS):
            self.write_all(dice=random.Random(seed))
            self.try_all(seed)

    def test_other_types_in_answers_are_errors(self):
        errors = 0
        for seed in range(ROUNDS):
            dice = random.Random(seed)
            self.answer = lambda value: json.dumps(mutated(value, dice))
            errors += self.try_all(seed)
        self.assertGreater(errors, 0)

    def test_entries_of_another_kind_are_errors(self):
        for name in ("plan.json", "sweep.json", "journal.jsonl", "usage.jsonl", "metrics/worker.0.0.jsonl"):
            for make in (os.mkdir, os.mkfifo, lambda path: os.symlink("/etc/passwd", path)):
                path = os.path.join(self.folder, name)
                os.unlink(path)
                make(path)
                self.assertGreater(self.try_all(0), 0, name)
                os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
                self.write_all()

    def test_any_numbers_have_a_curve(self):
        for values in ([1e20], [1e300, 9e299], [1 << 60, float((1 << 60) + 1)], [0, 5e-324], [-1e20, -1e20]):
            self.assertIn("<svg", display.curves([("a", list(enumerate(values)))], "loss"), values)


if __name__ == "__main__":
    unittest.main()
