"""How the package muster calls the program, with a program of the test's in its place."""

import inspect
import json
import os
import shutil
import stat
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import launching

sys.path.insert(0, launching.PYTHON)
import muster  # noqa: E402
from muster import command, display  # noqa: E402
from muster.one_run import overrides, points  # noqa: E402


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="muster-asking-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.program = os.path.join(self.folder, "bin", "muster")
        os.mkdir(os.path.dirname(self.program))
        self.answers("")
        environment = mock.patch.dict(os.environ, {"MUSTER": self.program})
        environment.start()
        self.addCleanup(environment.stop)

    def answers(self, output, messages="", code=0, more=""):
        with open(self.program, "w") as file:
            file.write("#!%s -S\nimport sys\nopen(%r, 'a').write(repr(sys.argv[1:]) + '\\n')\n"
                       "sys.stderr.write(%r)\nsys.stdout.write(%r)\nsys.stdout.flush()\n%s\nsys.exit(%d)\n"
                       % (sys.executable, os.path.join(self.folder, "calls"), messages, output, more, code))
        os.chmod(self.program, stat.S_IRWXU)

    def calls(self):
        with open(os.path.join(self.folder, "calls")) as file:
            return [line.strip() for line in file]


class Finding(ProgramTest):
    def test_the_variable_comes_before_the_path(self):
        self.assertEqual(muster.program(), self.program)
        with mock.patch.dict(os.environ, {"MUSTER": "/no/such/program"}):
            with self.assertRaisesRegex(muster.Error, "MUSTER=/no/such/program is not a program"):
                muster.program()
        with mock.patch.dict(os.environ, {"MUSTER": "", "PATH": os.path.dirname(self.program)}):
            self.assertEqual(muster.program(), self.program)
        with mock.patch.dict(os.environ, {"MUSTER": "", "PATH": "/no/such/folder"}):
            with self.assertRaisesRegex(muster.Error, "not on PATH"):
                muster.program()

    def test_an_installed_package_finds_the_program_of_its_prefix(self):
        package = os.path.join(self.folder, "share", "muster", "python", "muster", "command.py")
        with mock.patch.dict(os.environ, {"MUSTER": "", "PATH": "/no/such/folder"}):
            with mock.patch.object(command, "__file__", package):
                self.assertEqual(muster.program(), self.program)


class Problems(ProgramTest):
    def test_a_failure_has_exit_code_text_and_command(self):
        self.answers("{}", "muster: error: it burns\nhint: water\n", code=3)
        with self.assertRaises(muster.Error) as caught:
            muster.runs(where="x")
        error = caught.exception
        self.assertEqual((error.exit_code, error.text), (3, "muster: error: it burns\nhint: water"))
        self.assertEqual(str(error), error.text)
        self.assertEqual(error.command, [self.program, "ls", "--json", "--where", "x"])

    def test_a_usage_error_of_another_version_names_both(self):
        refuses = "if '--version' in sys.argv: print('muster 0.0.9'); sys.exit(0)"
        self.answers("", "unknown option", code=2, more=refuses)
        with self.assertRaises(muster.Error) as caught:
            muster.runs()
        self.assertEqual(
            caught.exception.text, "unknown option\n%s is muster 0.0.9, the Python package muster %s: "
            "install both in the same version" % (self.program, command.VERSION))
        self.answers("", "unknown option", code=2, more=refuses.replace("0.0.9", command.VERSION))
        with self.assertRaises(muster.Error) as caught:
            muster.runs()
        self.assertEqual(caught.exception.text, "unknown option")
        self.answers("", "unknown option", code=3, more=refuses)
        with self.assertRaises(muster.Error) as caught:
            muster.runs()
        self.assertEqual(caught.exception.text, "unknown option")

    def test_the_version_is_that_of_the_program_and_of_the_distribution(self):
        with open(os.path.join(launching.PYTHON, "pyproject.toml")) as file:
            self.assertIn('version = "%s"\n' % command.VERSION, file.read())
        with open(os.path.join(os.path.dirname(launching.PYTHON), "CMakeLists.txt")) as file:
            self.assertIn("project(muster VERSION %s " % command.VERSION, file.read())

    def test_output_that_is_no_json_is_an_error(self):
        self.answers("no JSON")
        with self.assertRaisesRegex(muster.Error, "not JSON"):
            muster.runs()

    def test_an_empty_list_is_no_problem_and_an_unreadable_run_is_a_warning(self):
        self.answers('{"runs": []}', "muster: no run in x\n", code=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(muster.runs(), [])
        self.answers('{"runs": []}', "muster: error: x: damaged\n", code=1)
        with self.assertWarnsRegex(UserWarning, "damaged"):
            self.assertEqual(muster.runs(), [])

    def test_a_followed_run_may_fail_without_an_error_and_a_refusal_is_one(self):
        run = muster.Run(self.folder)
        self.answers('{"event": "run_ended"}\n', code=1)
        self.assertEqual(list(run.follow()), [{"event": "run_ended"}])
        self.answers("", "muster: error: no run\n", code=2)
        with self.assertRaisesRegex(muster.Error, "no run"):
            list(run.follow())

    def test_a_generator_that_is_left_ends_the_program(self):
        self.answers('{"event": "run_began"}\n',
                     more="import os, time\nopen(%r, 'w').write(str(os.getpid()))\ntime.sleep(600)"
                     % os.path.join(self.folder, "pid"))
        events = muster.Run(self.folder).follow()
        self.assertEqual(next(events), {"event": "run_began"})
        events.close()
        try:
            with open(os.path.join(self.folder, "pid")) as file:
                pid = int(file.read() or 0)
        except FileNotFoundError:
            return  # it was ended before it could write its pid
        with self.assertRaises(ProcessLookupError):
            os.kill(pid or 1 << 22, 0)

    def test_a_wait_that_takes_too_long_is_a_timeout(self):
        self.answers("", more="import time\ntime.sleep(600)")
        with self.assertRaises(TimeoutError):
            muster.Run(self.folder).wait(timeout=0.2)


class Starting(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(os.path.join(self.folder, "sweep.json"), "w") as file:
            json.dump({"sweep": "abc", "name": "s"}, file)
        self.answers("0123456789ab %s\n" % self.folder)

    def test_parameters_are_typed_and_words_come_after_them(self):
        run = muster.run("r.lua", "--tag", "good", "--", "python3", lr=0.1, name="a b", sizes=[1, 2],
                         on=True, none=None, **{"optimizer.beta1": 0.9})
        self.assertEqual(run.path, self.folder)
        self.assertEqual(self.calls(), [repr([
            "run", "r.lua", "--detach", "lr:=0.1", "name=a b", "sizes:=[1, 2]", "on:=true", "none:=null",
            "optimizer.beta1:=0.9", "--tag", "good", "--", "python3"])])

    def test_lists_are_axes_of_a_sweep(self):
        sweep = muster.sweep("r.lua", "--minimize", "loss", lr=[0.1, 1e-05], n=range(2), on=[True, False],
                             workers=2)
        self.assertEqual((sweep.path, sweep.id, sweep.name, sweep.objective), (self.folder, "abc", "s", None))
        self.assertEqual(self.calls(), [repr([
            "sweep", "r.lua", "--detach", "--grid", "lr=0.1,1e-05", "--grid", "n=0,1", "--grid",
            "on=true,false", "workers:=2", "--minimize", "loss"])])
        for value in ("a,b", ""):
            with self.assertRaisesRegex(ValueError, "describe the sweep in a file"):
                muster.sweep("r.lua", x=[value])
        with self.assertRaisesRegex(ValueError, '"--grid", "x=1..8"'):
            muster.sweep("r.lua", x=["1..8"])

    def test_numbers_and_arrays_of_numpy_are_numbers_and_lists(self):
        number = type("int64", (), {"item": lambda self: 7})()
        array = type("ndarray", (), {"tolist": lambda self: [0.001, 0.01]})()
        self.assertEqual(overrides({"n": number, "lr": array, "both": [number, array]}),
                         ["n:=7", "lr:=[0.001, 0.01]", "both:=[7, [0.001, 0.01]]"])
        flag = type("bool_", (), {"tolist": lambda self: True})()
        muster.sweep("r.lua", lr=array, on=[flag], n=[number], seed=number)
        self.assertEqual(self.calls(), [repr([
            "sweep", "r.lua", "--detach", "--grid", "lr=0.001,0.01", "--grid", "on=true", "--grid", "n=7",
            "seed:=7"])])
        with self.assertRaises(TypeError):
            overrides({"n": object()})

    def test_a_folder_that_is_not_there_is_an_error(self):
        self.answers("0123456789ab /no/such/folder\n")
        with self.assertRaisesRegex(muster.Error, "no folder"):
            muster.run("r.lua")

    def test_null_bytes_are_refused(self):
        with self.assertRaises(ValueError):
            muster.run("r.lua", x="a\0b")


class Changing(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(os.path.join(self.folder, "sweep.json"), "w") as file:
            json.dump({"sweep": "abc", "name": "s"}, file)
        self.answers("good\nticket=42\n")
        self.sweep = muster.Sweep(self.folder)

    def expect(self, *words):
        self.assertEqual(self.calls()[-1], repr([words[0], self.folder] + list(words[1:])))

    def test_runs_and_sweeps_have_tags_and_notes(self):
        for one in (self.sweep, muster.Run(self.folder)):
            self.assertEqual(one.tag("good", "ticket=42", "bad-"), ["good", "ticket=42"])
            self.expect("tag", "good", "ticket=42", "bad-")
            self.assertEqual(one.tag(), ["good", "ticket=42"])
            self.expect("tag")
            self.assertEqual(one.note("--two\nlines"), "good\nticket=42")
            self.expect("note", "--", "--two\nlines")
            one.note()
            self.expect("note")
            one.note("")
            self.expect("note", "--remove")

    def test_a_sweep_is_continued_in_the_background(self):
        self.assertIsNone(self.sweep.resume())
        self.expect("resume", "--detach")
        self.sweep.resume("--host", "n[01-04]", accept=True, slots=4, add_trials=20)
        self.expect("resume", "--detach", "--accept", "--slots", "4", "--add-trials", "20", "--host",
                    "n[01-04]")
        self.answers("", "muster: error: it runs already\n", code=75)
        with self.assertRaises(muster.Error) as caught:
            self.sweep.resume()
        self.assertEqual(caught.exception.exit_code, 75)

    def test_trials_are_retried_by_class_number_or_row(self):
        self.sweep.retry()
        self.expect("retry", "--detach")
        self.sweep.retry(classes=["oom_device", "crash"])
        self.expect("retry", "--detach", "--class", "oom_device,crash")
        self.sweep.retry("-q", classes="crash", trials=[3, {"trial": 5, "lr": 0.1}])
        self.expect("retry", "--detach", "--class", "crash", "--trial", "3,5", "-q")

    def test_limits_are_steered(self):
        self.answers('{"slots": 4, "trials": 60}')
        self.assertEqual(self.sweep.steer(slots=4, add_trials=20), {"slots": 4, "trials": 60})
        self.expect("steer", "--json", "--slots", "4", "--add-trials", "20")

    def test_repeated_points_have_a_table_of_their_own(self):
        self.answers('{"trials": []}')
        self.assertEqual(list(self.sweep.points()), [])
        self.answers('{"points": [{"point": {"lr": 0.1, "value": 7}, "value": 1.5, "deviation": 0.5, '
                     '"results": 2, "ranked": false, "trials": [0, 3]}], "trials": []}')
        self.assertEqual(list(self.sweep.points()), [
            {"lr": 0.1, "param.value": 7, "value": 1.5, "deviation": 0.5, "results": 2, "ranked": False,
             "trials": [0, 3]}])

    def test_points_are_enqueued(self):
        self.answers('{"trials": 61}')
        self.assertEqual(self.sweep.enqueue({"lr": 0.1, "sizes": [1, 2]}, {"lr": 1}), {"trials": 61})
        self.expect("steer", "--json", "--try", '{"lr": 0.1, "sizes": [1, 2]}', "--try", '{"lr": 1}')
        self.sweep.enqueue(muster.Table([{"lr": 0.1}, {"lr": 0.2}]), {"lr": 0.3})
        self.expect("steer", "--json", "--try", '{"lr": 0.1}', "--try", '{"lr": 0.2}', "--try", '{"lr": 0.3}')
        for wrong in ("lr=0.1", [("lr", 0.1)], 3, [[{"lr": 0.1}]]):
            with self.assertRaisesRegex(TypeError, "a point is a dictionary"):
                self.sweep.enqueue(wrong)
        self.assertRaises(ValueError, self.sweep.enqueue)
        self.assertRaises(ValueError, self.sweep.enqueue, muster.Table())
        self.assertRaises(ValueError, self.sweep.enqueue, {"lr": float("nan")})

    def test_the_best_are_those_for_which_a_condition_holds(self):
        self.answers('{"trials": []}')
        self.sweep.best(3, where="lr > 0.1")
        self.expect("best", "--json", "-n", "3", "--where", "lr > 0.1")


class Annotations(unittest.TestCase):
    """Editors and type checkers know what is public."""

    def test_public_functions_have_annotations(self):
        found = [muster.run, muster.sweep, muster.runs, muster.sweeps, muster.program]
        for kind in (muster.Run, muster.Sweep, muster.Table):
            for name in dir(kind):
                one = getattr(kind, name)
                one = one.fget if isinstance(one, property) else one
                if not name.startswith("_") and getattr(one, "__module__", "").startswith("muster."):
                    found.append(one)
        self.assertGreater(len(found), 40)
        for function in found:
            names = set(inspect.signature(function).parameters) - {"self", "cls"} | {"return"}
            self.assertLessEqual(names, set(function.__annotations__), function)
            self.assertTrue(function.__doc__, function)

    def test_the_packages_say_that_they_are_typed(self):
        for package in ("muster", "muster_context"):
            self.assertTrue(os.path.exists(os.path.join(launching.PYTHON, package, "py.typed")))
        with open(os.path.join(launching.PYTHON, "pyproject.toml")) as file:
            self.assertIn('muster = ["py.typed"]', file.read())


class Showing(ProgramTest):
    EVIL = '"><script>alert(1)</script>'

    def test_values_are_escaped_inside_the_frame_and_for_it(self):
        shown = muster.Table([{"a": 1, self.EVIL: self.EVIL}])._repr_html_()
        self.assertTrue(shown.startswith('<iframe sandbox="" srcdoc="&lt;meta'), shown)
        self.assertEqual(shown.count("<"), 2)  # the frame's own tag and its end
        self.assertIn("&amp;lt;script&amp;gt;", shown)

    def test_tables_know_their_columns(self):
        table = muster.Table([{"a": 1}, {"b": 2, "a": None}])
        self.assertEqual((table.columns, table.column("b")), (["a", "b"], [None, 2]))
        self.assertEqual(table[:1].columns, ["a"])
        self.assertEqual(table[1], {"b": 2, "a": None})

    def test_long_tables_are_cut(self):
        shown = display.table(["n"], [{"n": n} for n in range(500)])
        self.assertEqual(shown.count("<tr>"), 201)
        self.assertIn("200 of 500 rows", shown)

    def test_curves_keep_their_extremes_and_skip_what_is_no_number(self):
        series = [(x, 0.0) for x in range(10_000)]
        series[7_001] = (7_001, 5.0)
        series[1_234] = (1_234, -5.0)
        svg = display.curves([(self.EVIL, series + [(1, float("nan")), (2, None), (3, 10 ** 400)])], "loss")
        self.assertNotIn("<script", svg)
        self.assertIn(">5<", svg)
        self.assertIn(">-5<", svg)
        self.assertLess(len(svg), 20_000)
        self.assertIn(",10.0", svg)  # the top of the picture is reached
        self.assertEqual(display.curves([("a", [(1, None)])], "loss"), "")

    def test_points_are_numbered_without_steps(self):
        self.assertEqual(points([{"loss": 3}, {"x": 1}, {"loss": 2}], "loss"), [(0, 3), (1, 2)])
        self.assertEqual(points([{"loss": 3, "epoch": 5}], "loss"), [(5, 3)])

    def test_the_page_of_the_report_is_shown_where_there_is_one(self):
        self.answers("", more="open(sys.argv[sys.argv.index('--html') + 1], 'w').write('<p>page</p>')")
        shown = muster.Run(self.folder)._repr_html_()
        self.assertTrue(shown.startswith('<iframe sandbox="allow-scripts" srcdoc="&lt;p&gt;page&lt;/p&gt;"'),
                        shown)


if __name__ == "__main__":
    unittest.main()
