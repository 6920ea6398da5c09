#!/usr/bin/env python3
"""Opens the page of a real run or sweep in Chromium: check_real_page.py KIND PAGE SCREENSHOTS.

kinds: "early" is a sweep of five trials that ASHA judged, "trial" one of them, "restarted" a run in which a process failed and was restarted,
"wide" one of 300 processes.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from open_page import OpenPage, run_tests  # noqa: E402


class TrialPage(OpenPage):
    """One trial of that sweep."""

    def test_is_named_as_the_trial_of_its_sweep(self):
        self.assertEqual(self.browser.text("h1").split()[0], "early:2")
        self.assertIn("/sweeps/early/", self.browser.text("#outcome"))
        self.assertRegex(self.browser.js("return document.querySelector('#outcome a').href"), r"^file:///.*/sweeps/early/")
        self.assertEqual(self.browser.js("return muster.page.model.firstMetric"), "loss")


class EarlyStopping(OpenPage):
    def test_has_the_rungs_with_who_was_stopped_there(self):
        self.assertIn("rungs", self.sections())
        rows = self.browser.js("""return [...document.querySelectorAll('#rungs tbody tr')]
            .map((row) => [...row.children].map((cell) => cell.innerText).filter(Boolean))""")
        # Rung, resource, reached, stopped there, best loss.
        self.assertEqual(rows, [["1", "1", "5", "2", "1"], ["2", "2", "3", "1", "1"], ["3", "4", "2", "0", "1"]])
        self.assertEqual(self.browser.js("""return [...document.querySelectorAll('#rungs tbody tr')]
            .map((row) => [...row.querySelectorAll('.part')].map((part) => part.style.width))"""),
            [["60%", "40%"], ["40%", "20%"], ["40%", "0%"]])

    def test_lists_what_was_stopped_when(self):
        self.assertIn("3 trials stopped early", self.browser.text("#rungs summary"))
        self.browser.js("document.querySelector('#rungs details').open = true")
        stopped = self.browser.text("#rungs ul").split("\n")
        self.assertEqual([line.split(":")[0] for line in stopped], ["trial 1", "trial 3", "trial 4"])
        for line, rung in zip(stopped, (1, 1, 2)):
            self.assertIn(f"rung {rung}", line)
        self.assertEqual(self.browser.js("return muster.page.model.column('state').values"),
                         ["ok", "stopped", "ok", "stopped", "stopped"])

    def test_has_a_lane_for_each_device(self):
        for one in self.attempts():
            self.assertEqual([device.split(": ")[1] for device in one["devices"]], ["0", "1"])
            self.assertLess(one["from"], one["to"])
        self.assertEqual(len({device for one in self.attempts() for device in one["devices"]}), 2)
        self.assertIn("2 lanes", self.browser.text("#devices .hint"))
        self.browser.settle()
        self.assertTrue(self.is_painted("devices"))

    def attempts(self):
        return self.browser.js("return muster.page.model.attempts")

    def test_ends_curves_where_trials_were_stopped(self):
        self.assertEqual(self.browser.js("return muster.page.model.curves.get('loss').map((curve) => [...curve.x])"),
                         [[1, 2, 3, 4], [1], [1, 2, 3, 4], [1], [1, 2]])

    def test_filters_by_tags(self):
        self.browser.focus("#where")
        self.browser.keys(*"tag.owner == ann and keep")
        self.assertEqual(self.browser.text("#problem"), "")
        self.assertEqual(self.browser.js("return muster.page.state.rows.map((row) => muster.page.model.keys[row])"), ["0:2"])

    def test_prints_what_was_stopped(self):
        self.assert_prints("Early stopping", "stopped there", "Devices over time", *self.attempts()[0]["devices"])


class WideRun(OpenPage):
    """A run of 300 processes."""

    def test_says_how_many_more_there_are(self):
        self.assertIn("256 points; and 44 more processes with metrics", self.browser.text("#curves .hint"))
        self.assertIn("and logs of 236 more in the folder of the run", self.browser.text("#logs"))
        self.browser.js("document.querySelectorAll('#plan details').forEach((one) => { one.open = true; })")
        self.browser.focus("#plan button[aria-label='explain PEER']")
        self.browser.keys("Enter")
        self.assertIn("and 100 more", self.browser.text("#plan .answer"))


class Restarted(OpenPage):
    def lane(self, name):
        return self.browser.js(f"return muster.page.model.data.run.lanes.find((lane) => lane.name === '{name}')")

    def test_marks_the_restart_and_both_attempts(self):
        lane = self.lane("worker.1")
        self.assertEqual([mark["kind"] for mark in lane["marks"]], ["restart"])
        self.assertIn("exited with code 75", lane["marks"][0]["text"])
        ends = [span for span in lane["spans"] if span["state"] not in ("starting", "running")]
        self.assertEqual([(span["attempt"], span["state"]) for span in ends], [(0, "failed"), (1, "ok")])
        self.assertLessEqual(ends[0]["to"], lane["marks"][0]["at"])
        self.assertLessEqual(lane["marks"][0]["at"], ends[1]["from"])
        self.assertEqual(self.lane("worker.0")["marks"], [])
        self.assertIn("▸ restart", self.browser.text("#lanes .legend"))
        self.assertIn("Restart of worker.1", self.browser.text("#outcome"))
        self.browser.settle()
        self.assertTrue(self.is_painted("lanes"))

    def test_names_the_devices_of_each_process(self):
        self.assertEqual(self.lane("worker.0")["devices"], ["0"])
        self.assertEqual(self.lane("worker.1")["devices"], ["1"])
        self.assertIn("devices", self.browser.js("return muster.tableCsv().split('\\r\\n')[0].split(',')"))

    def test_marks_where_the_curve_of_the_second_attempt_begins(self):
        self.assertEqual(self.browser.js("""
            const { model } = muster.page;
            return model.curves.get('loss').map((curve) => [[...curve.x], curve.starts])[model.rowOf.get('0:worker.1')]"""),
            [[1, 2, 3], [2]])

    def test_prints_every_part(self):
        self.assert_prints("Curves", "Start-up", "Processes over time", "Plan", "Logs", "Table", "Restart of worker.1",
                           "worker.0", "exit code", "trained to step 3")


if __name__ == "__main__":
    run_tests({"early": EarlyStopping, "trial": TrialPage, "wide": WideRun, "restarted": Restarted})
