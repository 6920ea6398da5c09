"""What the package muster reads by itself: journals, metrics and plans of folders that anybody may have
written."""

import json
import os
import shutil
import sys
import tempfile
import unittest

import launching

sys.path.insert(0, launching.PYTHON)
import muster  # noqa: E402
from muster import crc, journal, metrics, usage  # noqa: E402


def record(seq, event, **fields):
    body = json.dumps(dict(seq=seq, event=event, **fields), separators=(",", ":"))[:-1].encode()
    return body + b',"crc":"%08x"}\n' % crc.crc32c(body)


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="muster-reading-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(data)


class Checksum(unittest.TestCase):
    def test_the_check_value_of_rfc_3720(self):
        self.assertEqual(crc.crc32c(b"123456789"), 0xE3069283)
        self.assertEqual(crc.crc32c(bytes(32)), 0x8A9136AA)


class Journal(FolderTest):
    THREE = record(1, "run_began", name="\u00e4") + record(2, "phase") + record(3, "run_ended", exit_code=0)

    def events(self, data):
        self.write("journal.jsonl", data)
        return [one["event"] for one in journal.records(self.folder)]

    def test_records_are_dictionaries_without_their_checksum(self):
        self.write("journal.jsonl", self.THREE)
        self.assertEqual(next(journal.records(self.folder)),
                         {"seq": 1, "event": "run_began", "name": "\u00e4"})

    def test_the_longest_valid_prefix_is_read_wherever_it_is_cut(self):
        ends = [at + 1 for at, byte in enumerate(self.THREE) if byte == 0x0A]
        for length in range(len(self.THREE) + 1):
            whole = sum(end <= length for end in ends)
            self.assertEqual(len(self.events(self.THREE[:length])), whole, length)

    def test_a_changed_byte_ends_it(self):
        for at in range(len(record(1, "run_began", name="\u00e4")), len(self.THREE), 7):
            data = bytearray(self.THREE)
            data[at] ^= 0x20
            self.assertIn(len(self.events(bytes(data))), (1, 2), at)

    def test_numbers_continue(self):
        self.assertEqual(self.events(record(1, "a") + record(3, "b")), ["a"])
        self.assertEqual(self.events(record(2, "a")), [])

    def test_valid_checksums_of_no_records_end_it(self):
        body = b"[1"
        line = body + b',"crc":"%08x"}\n' % crc.crc32c(body)
        deep = b'{"seq":2,"x":' + b"[" * 100_000
        self.assertEqual(self.events(record(1, "a") + line), ["a"])
        self.assertEqual(self.events(record(1, "a") + deep + b',"crc":"%08x"}\n' % crc.crc32c(deep)), ["a"])


class Usage(FolderTest):
    PROCESSES = [("data", 0), ("worker", 0)]

    def rows(self, text):
        self.write("usage.jsonl", text)
        return usage.rows(self.folder, self.PROCESSES)

    def test_a_run_without_samples_has_none(self):
        self.assertEqual(usage.rows(self.folder, self.PROCESSES), [])

    def test_cores_are_those_since_the_sample_before_or_the_start_of_the_attempt(self):
        rows = self.rows(b'{"at_ms":5000,"usage":[[1,0,4000,2000,10,null]]}\n'
                         b'{"at_ms":9000,"usage":[[0,0,9000,0,7,5],[1,0,8000,6000,20,null]]}\n'
                         b'{"at_ms":9500,"usage":[[1,1,100,300,30,null]]}\n')
        self.assertEqual([(row["role"], row["attempt"], row["seconds"], row["cores"]) for row in rows],
                         [("data", 0, 9, 0), ("worker", 0, 5, 0.5), ("worker", 0, 9, 1),
                          ("worker", 1, 9.5, 3)])
        self.assertEqual([row["memory_kib"] for row in rows], [7, 10, 20, 30])
        self.assertEqual([row["device_memory_kib"] for row in rows], [5, None, None, None])

    def test_invalid_lines_and_samples_are_left_out(self):
        rows = self.rows(b'\xff\n[]\n{"at_ms":true,"usage":[]}\n'
                         b'{"at_ms":1,"usage":[[0,0,1,1,1,-1],[0],7]}\n' + b"[" * 100_000 +
                         b'\n{"at_ms":1,"usage":[[9,0,1,1,1,null],[1,0,0,1,1,null]]}\n{"at_ms":2')
        self.assertEqual([(row["role"], row["cores"]) for row in rows], [("worker", 0)])


class Metrics(FolderTest):
    def rows(self, **options):
        return metrics.rows(self.folder, **options)

    def test_of_each_role_the_first_process_that_reported_counts(self):
        self.write("metrics/worker.1.0.jsonl", b'{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.25}\n')
        self.write("metrics/worker.1.1.jsonl", b'{"step": 2, "loss": 0.2}\n')
        self.write("metrics/worker.0.0.jsonl", b"")
        self.write("metrics/worker.10.0.jsonl", b'{"loss": 9}\n')
        self.write("metrics/server.0.0.jsonl", b'{"pushes": 7}\n')
        self.assertEqual(self.rows(), [
            {"role": "server", "index": 0, "attempt": 0, "pushes": 7},
            {"role": "worker", "index": 1, "attempt": 0, "step": 1, "loss": 0.5},
            {"role": "worker", "index": 1, "attempt": 0, "step": 2, "loss": 0.25},
            {"role": "worker", "index": 1, "attempt": 1, "step": 2, "loss": 0.2}])
        self.assertEqual([row["index"] for row in self.rows(role="worker", everyone=True)], [1, 1, 1, 10])

    def test_lines_that_are_no_reports_are_left_out(self):
        self.write("metrics/worker.0.0.jsonl",
                   b'{"loss": NaN, "index": 4}\nnonsense\n[1]\n\xff\n{"x": "' + b"y" * 70_000 + b'"}\n'
                   + b"[" * 60_000 + b'\n{"text": "' + b"y" * 201
                   + b'", "list": [1], "": 1, "ok": true}\n{"cut": 1')
        self.assertEqual(self.rows(), [
            {"role": "worker", "index": 0, "attempt": 0, "loss": None, "metric.index": 4},
            {"role": "worker", "index": 0, "attempt": 0, "ok": True}])

    def test_links_pipes_and_folders_are_refused(self):
        self.write("elsewhere", b'{"loss": 1}\n')
        os.mkdir(self.path("metrics"))
        os.symlink(self.path("elsewhere"), self.path("metrics/worker.0.0.jsonl"))
        with self.assertRaises(muster.Error):
            self.rows()
        os.unlink(self.path("metrics/worker.0.0.jsonl"))
        os.mkfifo(self.path("metrics/worker.0.0.jsonl"))
        with self.assertRaisesRegex(muster.Error, "not a regular file"):
            self.rows()
        shutil.rmtree(self.path("metrics"))
        os.symlink(self.folder, self.path("metrics"))
        with self.assertRaises(muster.Error):
            self.rows()

    def test_the_size_of_the_files_is_bounded(self):
        self.write("metrics/worker.0.0.jsonl", b'{"loss": 1}\n')
        os.truncate(self.path("metrics/worker.0.0.jsonl"), 1 << 40)  # a hole
        with self.assertRaisesRegex(muster.Error, "more than 256 MiB of metrics"):
            self.rows()

    def test_the_number_of_rows_is_bounded(self):
        self.write("metrics/worker.0.0.jsonl", b'{"loss": 1}\n' * 5)
        with self.assertRaisesRegex(muster.Error, "more than 4 reports"):
            self.rows(most=4)
        self.assertEqual(len(self.rows(most=5)), 5)


class Plan(FolderTest):
    def test_damaged_plans_are_errors(self):
        for data, problem in ((None, "No such file"), (b"{", "not JSON"), (b"[" * 100_000, "not JSON")):
            if data is not None:
                self.write("plan.json", data)
            with self.assertRaisesRegex(muster.Error, problem):
                muster.Run(self.folder).plan

    def test_a_plan_is_a_dictionary(self):
        self.write("plan.json", b'{"format": 1}')
        self.assertEqual(muster.Run(self.folder).plan, {"format": 1})


if __name__ == "__main__":
    unittest.main()
