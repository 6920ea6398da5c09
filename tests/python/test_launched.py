"""Of all Pythons below a launched process, only the right one gets the settings and writes its files."""

import os
import shlex
import sys

import launching

CHILD = "import subprocess, sys; print(subprocess.check_output([sys.executable, '-c', %r]).decode(), end='')"


class Launched(launching.LaunchTest):
    def setUp(self):
        super().setUp()
        self.write_context(set_context={"mode": 0})

    def shell(self, text, **options):
        outcome = self.run_command(["sh", "-c", text.replace("PYTHON", shlex.quote(sys.executable))],
                                   **options)
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        return outcome

    def test_a_child_python_gets_nothing_and_writes_nothing(self):
        child = "import muster_context as c, mindspore as m; print(m.context.get_context('mode'), c.apply())"
        outcome = self.must_run("import os, mindspore; print(os.getpid(), flush=True); " + CHILD % child)
        pid, of_child = outcome.out.splitlines()
        self.assertEqual(of_child, "1 False")
        self.assertEqual(self.applied()["pid"], int(pid))
        self.assertEqual(self.claimed()["pid"], int(pid))
        self.assertEqual(self.calls(), [("set_context", "mode", "0")])

    def test_a_child_of_a_python_that_never_imports_mindspore_gets_nothing_unasked(self):
        outcome = self.must_run(CHILD % "import mindspore; print(mindspore.context.get_context('mode'))")
        self.assertEqual(outcome.out, "1\n")
        self.assertFalse(self.applied()["imported"])

    def test_a_child_of_a_python_that_never_imports_mindspore_gets_the_settings_by_a_call(self):
        outcome = self.must_run(CHILD % "import muster_context as m, mindspore; print(m.apply(), m.apply())")
        self.assertEqual(outcome.out, "True True\n")
        self.assertEqual(self.applied()["how"], "explicit call")
        self.assertEqual(self.applied()["at_exit"], {"set_context": {"mode": 0}})

    def test_forked_children_write_nothing(self):
        self.must_run("""
import os, sys, mindspore
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        mindspore.context.set_context(mode=1)
        sys.exit(0)
    os.waitpid(pid, 0)
with open(%r) as file:
    assert '"at_exit": null' in file.read()
print(os.getpid())
""" % self.path("context/worker.2.applied.json"))
        self.assertEqual(self.applied()["overridden"], [])

    def test_a_forked_child_that_imports_mindspore_itself_gets_nothing(self):
        self.must_run("""
import os, sys
pid = os.fork()
if pid == 0:
    import mindspore
    sys.exit(0 if mindspore.context.get_context("mode") == 1 else 9)
assert os.waitpid(pid, 0)[1] == 0
""")
        self.assertEqual((self.applied()["imported"], self.calls()), (False, []))

    def test_workers_of_multiprocessing_write_nothing(self):
        script = """
import multiprocessing, os, sys
import mindspore
def work(number):
    import mindspore
    return number * 2
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.map(work, [1, 2]) == [2, 4]
    print(os.getpid())
"""
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                self.setUp()
                outcome = self.run_command([sys.executable, self.write("train.py", script), method])
                self.assertEqual(outcome.code, 0, outcome.err)
                self.assertEqual(self.applied()["pid"], int(outcome.out))
                self.assertEqual(self.calls(), [("set_context", "mode", "0")])

    def test_a_shell_in_between_makes_no_difference(self):
        self.shell("PYTHON -c 'import mindspore'; true")
        self.assertTrue(self.applied()["complete"])

    def test_one_python_after_the_other_gets_the_settings_each(self):
        self.shell("PYTHON -c 'import mindspore' && PYTHON -c 'import sys' &&"
                   " PYTHON -c 'from mindspore import context; assert context.get_context(\"mode\") == 0'")
        self.assertEqual(self.calls(), [("set_context", "mode", "0")] * 2)
        self.assertTrue(self.applied()["imported"])

    def test_a_preparing_python_does_not_use_the_settings_up(self):
        self.shell("PYTHON -c 'print(1)' && PYTHON -c 'import mindspore'")
        self.assertTrue(self.applied()["complete"])

    def test_of_two_pythons_side_by_side_the_one_that_imports_mindspore_gets_the_settings(self):
        # The monitor starts first, lives on, and ends only when the other has been through.
        os.mkfifo(self.path("started"))
        os.mkfifo(self.path("trained"))
        monitor = self.write("monitor.py", "open('started', 'w').close(); open('trained').close()")
        train = self.write("train.py", "import mindspore; print(mindspore.context.get_context('mode'))")
        outcome = self.shell(
            "PYTHON %s & read line < started; PYTHON %s; : > trained; wait" % (monitor, train))
        self.assertEqual(outcome.out, "0\n")
        self.assertTrue(self.applied()["complete"])

    def test_a_second_python_side_by_side_is_told_that_the_settings_are_taken(self):
        os.mkfifo(self.path("imported"))
        os.mkfifo(self.path("done"))
        first = self.write("first.py",
                           "import mindspore; open('imported', 'w').close(); open('done').close()")
        second = self.write("second.py", "import mindspore; print(mindspore.context.get_context('mode'))")
        outcome = self.run_command(["sh", "-c", "%s %s & read line < imported; %s %s; : > done; wait" % (
            sys.executable, first, sys.executable, second)])
        self.assertEqual((outcome.code, outcome.out), (0, "1\n"))
        self.assertIn("muster_context: the settings of worker.2 are in force in another process", outcome.err)
        self.assertEqual(self.calls(), [("set_context", "mode", "0")])

    def test_a_python_that_replaces_itself_keeps_its_right(self):
        then = "import os, mindspore; print(mindspore.context.get_context('mode'), os.getpid())"
        outcome = self.must_run("import os, sys; os.execv(sys.executable, [sys.executable, '-c', %r])" % then)
        mode, pid = outcome.out.split()
        self.assertEqual((mode, self.applied()["pid"], self.claimed()["imported"]), ("0", int(pid), True))

    def test_the_claim_of_an_ended_process_is_no_claim_even_if_its_pid_is_in_use(self):
        self.write("context/worker.2.0.claim",
                   '{"format": 1, "pid": %d, "start": 1, "imported": true}' % os.getpid())
        self.must_run("import mindspore")
        self.assertTrue(self.applied()["complete"])

    def test_a_claim_that_is_none_is_replaced(self):
        self.write("context/worker.2.0.claim", "rubbish " * 20)
        self.must_run("import mindspore")
        self.assertEqual(self.claimed()["imported"], True)

    def test_the_next_attempt_starts_afresh(self):
        self.must_run("import mindspore")
        self.set_process("run/worker.2.1")
        self.must_run("")
        self.assertEqual((self.applied()["attempt"], self.applied()["imported"]), ("1", False))
        self.assertEqual(sorted(name for name in os.listdir(self.path("context")) if name.endswith(".claim")),
                         ["worker.2.0.claim", "worker.2.1.claim"])

    def test_a_script_may_change_its_environment(self):
        self.must_run("import os\ncalls = os.environ['STANDIN_CALLS']\nos.environ.clear()\n"
                      "os.environ.update(MUSTER_CONTEXT=%r, STANDIN_CALLS=calls)\nimport mindspore"
                      % self.path("elsewhere.json"))
        self.assertEqual(self.applied()["at_exit"], {"set_context": {"mode": 0}})
        self.assertEqual(sorted(os.listdir(self.folder)), ["calls", "context"])

    def test_a_process_of_another_run_below_this_one_is_no_child(self):
        inner = {"MUSTER_PROCESS": "inner/worker.2.0", "MUSTER_CONTEXT": self.path("inner", "worker.2.json")}
        self.write("inner/worker.2.json",
                   '{"format": 1, "mindspore": "1.6.2", "context": {"set_context": {"mode": 1}}}')
        self.must_run("import os, mindspore; os.environ.update(%r); " % inner + CHILD % "import mindspore")
        self.assertEqual(self.calls(), [("set_context", "mode", "0"), ("set_context", "mode", "1")])
        self.assertEqual(self.applied()["overridden"], [])

    def test_python_may_have_any_name(self):
        for name in ("python3", "trainer", "python3.11-dbg"):
            with self.subTest(name):
                self.setUp()
                os.mkdir(self.path("bin"))
                os.symlink(sys.executable, self.path("bin", name))
                outcome = self.run_command(["env", "-S", name + " -c 'import mindspore'"],
                                           PATH=self.path("bin") + os.pathsep + os.environ["PATH"])
                self.assertEqual((outcome.code, outcome.err), (0, ""))
                self.assertTrue(self.applied()["complete"])

    def test_a_script_a_module_and_a_folder_are_alike(self):
        self.write("work/train/__main__.py", "import mindspore")
        self.write("work/script.py", "import mindspore")
        for arguments in (["work/script.py"], ["work/train"], ["-m", "work.train"]):
            with self.subTest(arguments):
                outcome = self.run_command([sys.executable] + arguments)
                self.assertEqual((outcome.code, outcome.err), (0, ""))
                self.assertTrue(self.applied()["complete"])
