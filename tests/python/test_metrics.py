"""Tests how the reports of a trial that continued are put together."""

import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "python"))

from muster import metrics  # noqa: E402


def reports(role, *steps, name="step"):
    return [{"role": role, name: step} for step in steps]


class Continued(unittest.TestCase):

    def test_earlier_reports_count_up_to_where_the_next_attempt_went_on(self):
        first, second = reports("worker", 1, 2, 3, 4), reports("worker", 3, 4, 5)
        self.assertEqual(metrics.continued(first, second), first[:2] + second)
        self.assertEqual(metrics.continued([], second), second)
        self.assertEqual(metrics.continued(first, []), first)

    def test_each_role_has_its_own_steps(self):
        first = reports("worker", 1, 2, 3) + reports("server", 10, 20)
        second = reports("worker", 3) + reports("server", 30)
        self.assertEqual(metrics.continued(first, second), first[:2] + first[3:] + second)

    def test_the_resource_comes_before_the_usual_names(self):
        first = [{"role": "worker", "step": step, "tokens": 100 * step} for step in (1, 2, 3)]
        second = [{"role": "worker", "step": 1, "tokens": 300}]
        self.assertEqual(metrics.continued(first, second, "tokens"), first[:2] + second)
        self.assertEqual(metrics.continued(first, second), second)

    def test_reports_without_a_step_stay(self):
        first, second = [{"role": "worker", "loss": 1}], [{"role": "worker", "loss": 2}]
        self.assertEqual(metrics.continued(first, second), first + second)

    def test_the_names_of_steps_are_those_of_the_program(self):
        with open(os.path.join(ROOT, "src/metrics/metrics_line.h"), encoding="utf-8") as file:
            source = file.read()
        names = re.search(r"kStepMetrics = \{([^}]*)\}", source)
        self.assertEqual(tuple(re.findall(r'"(\w+)"', names.group(1))), metrics._STEPS)


class Lines(unittest.TestCase):

    def test_a_number_that_is_too_large_leaves_the_others_of_its_line(self):
        for number in ("1e400", "-" + "9" * 400, "9" * 5000, "NaN"):
            line = ('{"step": 1, "loss": %s}' % number).encode()
            self.assertEqual(metrics._values(line), {"step": 1, "loss": None})


if __name__ == "__main__":
    unittest.main()
