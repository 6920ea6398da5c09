"""The functions scripts may call."""

import json
import os

import launching


class Apply(launching.LaunchTest):
    def test_a_call_applies_where_the_hook_cannot(self):
        self.write_context(set_context={"mode": 0})
        paths = [launching.PYTHON, os.path.join(launching.STANDINS, "old"), launching.STANDINS]
        for flag in ("-I", "-S", "-E"):
            with self.subTest(flag):
                self.setUp()
                self.write_context(set_context={"mode": 0})
                outcome = self.must_run("""
import sys
sys.path[:0] = %r
import muster_context
print(muster_context.apply(), muster_context.apply())
import mindspore
print(mindspore.context.get_context("mode"))
""" % paths, flag, "-B")
                self.assertEqual(outcome.out, "True True\n0\n")
                self.assertEqual(self.calls(), [("set_context", "mode", "0")])
                applied = self.applied()
                self.assertEqual((applied["how"], applied["at_exit"]),
                                 ("explicit call", {"set_context": {"mode": 0}}))

    def test_a_call_after_the_hook_changes_nothing(self):
        self.write_context(set_context={"mode": 0})
        outcome = self.must_run("import mindspore, muster_context; mindspore.context.set_context(mode=1);"
                                "print(muster_context.apply(), mindspore.context.get_context('mode'))")
        self.assertEqual(outcome.out, "True 1\n")
        self.assertEqual(self.applied()["how"], "import hook")

    def test_a_call_applies_to_a_mindspore_that_is_imported_already(self):
        self.write_context(set_context={"mode": 0})
        outcome = self.must_run("import mindspore, muster_context; get = mindspore.context.get_context;"
                                "print(get('mode'), muster_context.apply(), get('mode'))", hook=False)
        self.assertEqual(outcome.out, "1 True 0\n")

    def test_calls_of_many_threads_apply_once(self):
        for hook in (True, False):
            with self.subTest(hook=hook):
                self.setUp()
                self.write_context(set_context={"mode": 0})
                outcome = self.must_run("""
import threading, muster_context
start, seen = threading.Barrier(8), []
def call():
    start.wait()
    seen.append(muster_context.apply())
def load():
    start.wait()
    import mindspore
    seen.append(True)
threads = [threading.Thread(target=target) for target in (call, load) * 4]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(seen == [True] * 8)
""", hook=hook)
                self.assertEqual(outcome.out, "True\n")
                self.assertEqual(self.calls(), [("set_context", "mode", "0")])

    def test_outside_a_run_nothing_is_done(self):
        outcome = self.must_run("import muster_context as m, sys; print(m.apply(), m.settings(),"
                                " m.report(loss=1), 'mindspore' in sys.modules)", MUSTER_CONTEXT=None)
        self.assertEqual(outcome.out, "False {} False False\n")

    def test_without_mindspore_the_error_is_the_usual_one(self):
        self.write_context()
        outcome = self.run_script("import muster_context; muster_context.apply()", standin="none")
        self.assertIn("No module named 'mindspore'", outcome.err)
        self.assertEqual(outcome.code, 1)


class Settings(launching.LaunchTest):
    def test_settings_are_the_settled_ones_with_tuples_and_without_secrets(self):
        password = {"secret_file": self.write("secret", "hunter2")}
        self.write_context(set_context={"mode": 0}, set_ps_context={"client_password": password},
                           set_auto_parallel_context={"dataset_strategy": [[1, 8]]})
        outcome = self.must_run("""
import muster_context
settings = muster_context.settings()
assert settings == {"set_context": {"mode": 0}, "set_ps_context": {"client_password": "(secret)"},
                    "set_auto_parallel_context": {"dataset_strategy": ((1, 8),)}}, settings
settings["set_context"]["mode"] = 1
assert muster_context.settings()["set_context"] == {"mode": 0}
print(muster_context.settings(secrets=True)["set_ps_context"])
""")
        self.assertEqual(outcome.out, "{'client_password': 'hunter2'}\n")

    def test_a_child_may_read_the_settings(self):
        self.write_context(set_context={"mode": 0})
        outcome = self.must_run("import subprocess, sys; subprocess.check_call([sys.executable, '-c',"
                                "'import muster_context; print(muster_context.settings())'])")
        self.assertEqual(outcome.out, "{'set_context': {'mode': 0}}\n")

    def test_settings_that_cannot_be_read_raise(self):
        self.write("context/worker.2.json", '{"format": 7}')
        outcome = self.run_script("import muster_context; muster_context.settings()")
        self.assertIn("ValueError: the context is not of format 1", outcome.err)


class Report(launching.LaunchTest):
    def lines(self):
        with open(self.path("metrics")) as file:
            return [json.loads(line) for line in file]

    def setUp(self):
        super().setUp()
        self.write_context()

    def report(self, script, **options):
        return self.run_script("from muster_context import report\n" + script,
                               MUSTER_METRICS=self.path("metrics"), **options)

    def test_every_report_is_a_line(self):
        outcome = self.report("print(report(step=1, loss=0.5, done=False, name='\u00e4', more=None))\n"
                              "print(report(step=2, sizes=(1, 2), by={'a': 1}))")
        self.assertEqual((outcome.out, outcome.err), ("True\nTrue\n", ""))
        self.assertEqual(self.lines(),
                         [{"step": 1, "loss": 0.5, "done": False, "name": "\u00e4", "more": None},
                                        {"step": 2, "sizes": [1, 2], "by": {"a": 1}}])

    def test_numbers_that_json_has_not_become_null(self):
        self.report("report(a=float('nan'), b=float('inf'), c=-float('inf'), d=[float('nan')])")
        self.assertEqual(self.lines(), [{"a": None, "b": None, "c": None, "d": [None]}])

    def test_tensors_of_one_element_are_numbers(self):
        self.report("""
class Array:
    def item(self):
        return 0.25
class Tensor:
    def asnumpy(self):
        return Array()
    def item(self):
        return self
report(loss=Tensor(), accuracy=Array())
""")
        self.assertEqual(self.lines(), [{"loss": 0.25, "accuracy": 0.25}])

    def test_other_values_raise_and_write_nothing(self):
        outcome = self.report("report(loss=object())")
        self.assertTrue(outcome.err.endswith("TypeError: a value of type object cannot be reported\n"),
                        outcome.err)
        self.assertFalse(os.path.exists(self.path("metrics")))

    def test_lines_of_many_processes_stay_whole(self):
        self.report("""
import os
pids = []
for worker in range(8):
    pid = os.fork()
    if pid == 0:
        for step in range(50):
            report(worker=worker, step=step, text="x" * 200)
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitpid(pid, 0)
""")
        self.assertEqual(sorted((line["worker"], line["step"]) for line in self.lines()),
                         [(worker, step) for worker in range(8) for step in range(50)])

    def test_a_file_that_cannot_be_written_ends_no_training(self):
        outcome = self.run_script("import muster_context; print(muster_context.report(step=1))",
                                  MUSTER_METRICS=self.path("no", "such", "folder"))
        self.assertEqual((outcome.code, outcome.out), (0, "False\n"))
        self.assertIn("muster_context: MUSTER_METRICS: ", outcome.err)

    def test_a_disk_that_is_full_ends_no_training(self):
        outcome = self.run_script("import muster_context; print(muster_context.report(step=1))",
                                  MUSTER_METRICS="/dev/full")
        self.assertEqual((outcome.code, outcome.out), (0, "False\n"))
