"""Runs the action and the pre-commit hook on good and bad recipes, and Slurm's prolog and epilog here."""

import os
import pathlib
import pwd
import re
import signal
import subprocess
import tempfile
import textwrap
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ["MUSTER_BIN"]
GOOD = """
local muster = require "muster"
return muster.recipe { name = "good", params = { n = muster.int { %s, min = 1 } },
  plan = function(p, job) job:workers { count = p.n, command = { "true" } } end }
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "recipes").mkdir()
        self.put("good", GOOD % "2")

    def put(self, name, text):
        (self.folder / "recipes" / f"{name}.lua").write_text(text, encoding="utf-8")

    def call(self, words, **variables):
        environment = {"PATH": f"{BIN}:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.folder),
                       "LC_ALL": "C.UTF-8", "MUSTER_HOME": str(self.folder), "MUSTER_SITE": "none",
                       "MUSTER_BIN": BIN, **variables}
        return subprocess.run(words, cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=60)

    def runs(self, pid):
        """Whether the process exists, other than as a zombie."""
        status = pathlib.Path(f"/proc/{pid}/stat")
        return status.exists() and status.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"

    def action(self):
        """The last step of the action, as a runner executes it."""
        text = (ROOT / "packaging/action/action.yml").read_text(encoding="utf-8")
        step = textwrap.dedent(text[text.rindex("run: |") + len("run: |"):])
        return self.call(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step],
                         RECIPES="recipes", GITHUB_ACTION_PATH=str(ROOT / "packaging/action"))

    def hook(self):
        """The hook, which pre-commit calls with the names of changed files that match."""
        text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
        entry = re.search(r"entry: (\S+)", text)[1]
        files = re.compile(re.search(r"files: (\S+)", text)[1])
        paths = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        names = [str(path.relative_to(self.folder)) for path in paths]
        return self.call([str(ROOT / entry), *(name for name in names if files.search(name))])

    def test_accept_good_recipes(self):
        for run in (self.action, self.hook):
            found = run()
            self.assertEqual(found.returncode, 0, found.stdout)

    def test_refuse_a_bad_recipe_and_name_its_line(self):
        self.put("bad", GOOD % "0")
        for run in (self.action, self.hook):
            found = run()
            self.assertNotEqual(found.returncode, 0)
            self.assertRegex(found.stdout, r"bad\.lua:\d+: error")

    def test_refuse_a_plan_that_differs_from_its_golden_file(self):
        self.assertEqual(self.call(["muster", "test", "recipes", "--update"]).returncode, 0)
        self.assertEqual(self.action().returncode, 0)
        self.put("good", GOOD % "3")
        for run in (self.action, self.hook):
            found = run()
            self.assertNotEqual(found.returncode, 0)
            self.assertIn("golden", found.stdout)

    def test_say_that_muster_is_missing(self):
        found = self.call([str(ROOT / "packaging/check-recipes"), "recipes"], PATH="/usr/bin:/bin")
        self.assertEqual(found.returncode, 3)
        self.assertIn("muster is not on PATH", found.stdout)

    def test_prolog_accepts_what_doctor_accepts(self):
        doctor = self.call(["muster", "doctor", "--json", "--on", "local", "--site", "none"])
        prolog = self.call([str(ROOT / "packaging/slurm/prolog")], SLURM_JOB_ID="7")
        self.assertEqual(prolog.returncode, 0 if doctor.returncode == 0 else 1)

    def test_prolog_fails_with_the_findings_of_doctor(self):
        (self.folder / "muster").write_text("#!/bin/sh\necho '{\"ok\": false}'\nexit 3\n", encoding="utf-8")
        (self.folder / "muster").chmod(0o755)
        prolog = self.call([str(ROOT / "packaging/slurm/prolog")], SLURM_JOB_ID="7",
                           MUSTER_BIN=str(self.folder))
        self.assertEqual(prolog.returncode, 1)
        self.assertIn("job 7", prolog.stdout)
        self.assertIn('{"ok": false}', prolog.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "an epilog becomes the job's user, which needs root")
    def test_epilog_ends_what_a_killed_run_of_the_job_left(self):
        recipe = self.folder / "recipes/long.lua"
        command = '"sh", "-c", "sleep 600 & echo $! >$HOME/pid; exec sleep 600"'
        self.put("long", GOOD.replace('"true"', command) % "1")
        environment = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(self.folder),
                       "MUSTER_HOME": str(self.folder), "MUSTER_SITE": "none", "SLURM_JOB_ID": "424242"}
        with subprocess.Popen([f"{BIN}/muster", "run", "-q", str(recipe), "--on", "local", "--without=guard"],
                              cwd=self.folder, env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as head:
            pid_file = self.folder / "pid"
            while not pid_file.exists() or not pid_file.read_text(encoding="utf-8").strip():
                self.assertIsNone(head.poll(), "the run has ended")
                time.sleep(0.02)
            left = int(pid_file.read_text(encoding="utf-8"))
            # Head, agent and their children, except for what the worker has started.
            family, found = [head.pid], [head.pid]
            while found:
                found = [int(child) for pid in found for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                         for child in (task / "children").read_text(encoding="utf-8").split()
                         if int(child) != left]
                family += found
            for pid in family:
                os.kill(pid, signal.SIGSTOP)
            for pid in family:
                os.kill(pid, signal.SIGKILL)
        try:
            self.assertTrue(self.runs(left))  # it has outlived them, which is what this test is about
            # No number of a job that a test of Slurm may have at the same time.
            other = self.call([str(ROOT / "packaging/slurm/epilog")], SLURM_JOB_ID="424241",
                              SLURM_JOB_USER=pwd.getpwuid(0).pw_name)
            self.assertEqual(other.returncode, 0, other.stdout)
            self.assertTrue(self.runs(left))
            epilog = self.call([str(ROOT / "packaging/slurm/epilog")], SLURM_JOB_ID="424242",
                               SLURM_JOB_USER=pwd.getpwuid(0).pw_name)
            self.assertEqual(epilog.returncode, 0, epilog.stdout)
            self.assertFalse(self.runs(left), epilog.stdout)
        finally:
            try:
                os.kill(left, signal.SIGKILL)
            except ProcessLookupError:
                pass


if __name__ == "__main__":
    unittest.main()
