"""Tests applied.json, which a run's report reads."""

import json
import os
import stat
import subprocess
import sys

import launching

FIELDS = ["format", "process", "attempt", "pid", "python", "executable", "started_at", "imported", "release",
          "expected", "how", "applied_at", "complete", "waiting", "applied", "in_effect", "at_exit",
          "exited_at", "overridden", "unreadable", "errors"]
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"


class Record(launching.LaunchTest):
    def test_a_script_that_never_imports_mindspore_is_told_from_one_that_never_ran(self):
        self.write_context(set_context={"mode": 0})
        self.assertFalse(os.path.exists(self.path("context/worker.2.applied.json")))
        outcome = self.must_run("import os; print(os.getpid())")
        applied = self.applied()
        self.assertEqual(list(applied), FIELDS)
        self.assertEqual(applied["imported"], False)
        self.assertEqual((applied["format"], applied["process"], applied["attempt"], applied["pid"]),
                         (1, "run/worker.2.0", "0", int(outcome.out)))
        self.assertEqual(applied["python"], "%d.%d.%d" % sys.version_info[:3])
        self.assertRegex(applied["started_at"], TIME)
        self.assertEqual([applied[name] for name in ("release", "expected", "how", "at_exit", "overridden")],
                         [None] * 5)

    def test_all_fields_are_there_after_an_ordinary_run(self):
        self.write_context(set_context={"mode": 0})
        self.must_run("import mindspore")
        applied = self.applied()
        self.assertEqual(list(applied), FIELDS)
        self.assertEqual((applied["release"], applied["how"], applied["errors"]),
                         ("1.6.2", "import hook", []))
        self.assertEqual(applied["in_effect"], {"set_context": {"mode": 0}})
        self.assertEqual(applied["at_exit"], {"set_context": {"mode": 0}})
        self.assertEqual(applied["overridden"], [])
        for name in ("started_at", "applied_at", "exited_at"):
            self.assertRegex(applied[name], TIME)

    def test_the_start_stays_what_it_was_at_the_start(self):
        self.write_context()
        self.must_run("import shutil; shutil.copy(%r, %r); import mindspore" % (
            self.path("context/worker.2.applied.json"), self.path("before.json")))
        with open(self.path("before.json")) as file:
            self.assertEqual(json.load(file)["started_at"], self.applied()["started_at"])

    def test_odd_names_survive_the_first_record(self):
        self.set_process('r\u00fcn "x\\y"/worker.2.3')
        self.write_context()
        self.must_run("")
        self.assertEqual((self.applied()["process"], self.applied()["attempt"]), (self.process, "3"))

    def test_the_files_are_private_and_replaced_as_a_whole(self):
        self.write_context(set_context={"mode": 0})
        self.must_run("import os; os.umask(0); import mindspore; os.link(%r, %r)" % (
            self.path("context/worker.2.applied.json"), self.path("before")))
        for name in ("context/worker.2.applied.json", "context/worker.2.0.claim"):
            self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), 0o600)
        self.assertNotEqual(os.stat(self.path("before")).st_ino,
                            os.stat(self.path("context/worker.2.applied.json")).st_ino)
        self.assertEqual(sorted(os.listdir(self.path("context"))),
                         ["worker.2.0.claim", "worker.2.applied.json", "worker.2.json"])

    def test_what_the_script_overrides_is_named_with_both_values(self):
        for standin, release in (("old", "1.6.2"), ("new", "2.3.1")):
            with self.subTest(standin):
                self.setUp()
                self.write_context(release,
                                   set_context={"mode": 0, "max_call_depth": 10, "save_graphs": True},
                                   set_auto_parallel_context={"dataset_strategy": [[1, 8]], "device_num": 8})
                self.must_run("""
import mindspore
context = getattr(mindspore, "context", mindspore)
context.set_context(max_call_depth=20, enable_graph_kernel=True)
context.set_auto_parallel_context(dataset_strategy=((1, 4),))
""", standin=standin)
                applied = self.applied()
                self.assertEqual(applied["overridden"], [
                    {"function": "set_context", "attribute": "max_call_depth", "applied": 10, "at_exit": 20},
                    {"function": "set_auto_parallel_context", "attribute": "dataset_strategy",
                     "applied": [[1, 8]], "at_exit": [[1, 4]]}])
                self.assertEqual(applied["at_exit"]["set_context"]["mode"], 0)
                self.assertNotIn("enable_graph_kernel", applied["at_exit"]["set_context"])

    def test_values_that_read_otherwise_than_they_were_written_are_not_called_overridden(self):
        for standin, release in (("old", "1.6.2"), ("new", "2.3.1")):
            with self.subTest(standin):
                self.setUp()
                self.write_context(release, set_context={
                    "mode": 1, "device_id": 3, "max_device_memory": "3.5GB", "mempool_block_size": "5.GB",
                    "variable_memory_max_size": "5GB", "save_graphs": True, "device_target": "Ascend"})
                self.must_run("import mindspore", standin=standin)
                self.assertEqual(self.applied()["overridden"], [])
                self.assertEqual(self.applied()["at_exit"]["set_context"]["max_device_memory"], 3.5)

    def test_reading_does_not_freeze_what_a_script_may_still_set(self):
        self.write_context("2.3.1", set_context={"device_id": 3, "max_device_memory": "30GB", "mode": 0})
        self.must_run("import mindspore; mindspore.set_context(device_id=5, max_device_memory='10GB')",
                      standin="new")
        self.assertEqual(self.applied()["overridden"], [
            {"function": "set_context", "attribute": "device_id", "applied": 3, "at_exit": 5},
            {"function": "set_context", "attribute": "max_device_memory", "applied": "30GB",
             "at_exit": 10.0}])

    def test_a_value_that_cannot_be_read_is_listed_with_the_reason(self):
        self.write_context(set_context={"auto_tune_mode": "RL", "mode": 0})
        self.must_run("import mindspore")
        self.assertEqual(self.applied()["unreadable"],
                         {"set_context": {"auto_tune_mode": "ValueError: auto_tune_mode cannot be read"}})
        self.assertEqual(self.applied()["overridden"], [])

    def test_what_mindspore_keeps_per_thread_is_not_read_in_another(self):
        self.write_context(set_context={"reserve_class_name_in_scope": False})
        self.must_run("import threading\nthread = threading.Thread(target=lambda: __import__('mindspore'))\n"
                      "thread.start()\nthread.join()")
        self.assertEqual(list(self.applied()["unreadable"]["set_context"]), ["reserve_class_name_in_scope"])

    def test_values_at_exit_are_known_after_an_exception_and_after_sys_exit(self):
        for script, code in (("import mindspore, sys; sys.exit(7)", 7), ("import mindspore; 1 / 0", 1)):
            self.setUp()
            self.write_context(set_context={"mode": 0})
            self.assertEqual(self.run_script(script).code, code)
            self.assertEqual(self.applied()["at_exit"], {"set_context": {"mode": 0}})

    def test_values_at_exit_are_null_after_a_kill(self):
        self.write_context(set_context={"mode": 0})
        self.assertEqual(self.run_script("import mindspore, os; os.kill(os.getpid(), 9)").code, -9)
        applied = self.applied()
        self.assertEqual((applied["complete"], applied["at_exit"], applied["overridden"]), (True, None, None))

    def test_a_record_that_cannot_be_written_hinders_nothing_but_the_record(self):
        self.write_context(set_context={"mode": 0})
        os.mkdir(self.path("context/worker.2.applied.json"))
        os.mkdir(self.path("context/worker.2.0.claim"))
        outcome = self.run_script("import mindspore; print('trained')")
        self.assertEqual((outcome.code, outcome.out), (0, "trained\n"))
        self.assertEqual(self.calls(), [("set_context", "mode", "0")])
        self.assertIn("the report will not know", outcome.err)
        self.assertEqual(sorted(os.listdir(self.path("context"))),
                         ["worker.2.0.claim", "worker.2.applied.json", "worker.2.json"])

    def test_a_missing_context_is_one_line_and_the_script_goes_on(self):
        outcome = self.run_script("import mindspore; print('trained')")
        self.assertEqual((outcome.code, outcome.out), (0, "trained\n"))
        self.assertEqual(outcome.err, "muster_context: no context at %s: MindSpore keeps its own settings\n"
                         % self.path("context/worker.2.json"))
        self.assertEqual(os.listdir(self.path("context")), [])

    def test_a_closed_stderr_hinders_nothing(self):
        self.write_context(set_context={"mode": 0})
        code = subprocess.call([sys.executable, "-c", "import mindspore"], env=self.environment(),
                               cwd=self.folder, preexec_fn=lambda: os.close(2))
        self.assertEqual(code, 0)
        self.assertTrue(self.applied()["complete"])
