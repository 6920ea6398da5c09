"""Launches Pythons like muster: a run directory with a context, the environment, PYTHONPATH.

Implements muster's side of the interface; the tests check the results.
"""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(os.path.dirname(os.path.dirname(HERE)), "python")
SITE = os.path.join(PYTHON, "site")
STANDINS = os.path.join(HERE, "standins")

# The source tree stays as it was; unittest has compiled its first module before this line could say so.
sys.dont_write_bytecode = True
atexit.register(shutil.rmtree, os.path.join(HERE, "__pycache__"), ignore_errors=True)


class Outcome:
    """How a launched Python ended."""

    def __init__(self, completed):
        self.code = completed.returncode
        self.out = completed.stdout
        self.err = completed.stderr


class LaunchTest(unittest.TestCase):
    """A run directory with one process, worker.2, and what launches it."""

    def setUp(self):
        folder = tempfile.mkdtemp(prefix="muster-python-")
        self.addCleanup(shutil.rmtree, folder)
        self.folder = os.path.realpath(folder)
        os.mkdir(self.path("context"))
        self.set_process("run/worker.2.0")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def set_process(self, name):
        self.process = name
        self.attempt = name.rpartition(".")[2]

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def write_context(self, release="1.6.2", accept_release=None, **functions):
        content = {"format": 1, "mindspore": release, "role": "worker", "index": 2, "context": functions}
        if accept_release is not None:
            content["accept_release"] = accept_release
        return self.write("context/worker.2.json", json.dumps(content))

    def environment(self, standin="old", hook=True, folders=(), **variables):
        """The environment of a launched process. Without `hook` it is as with apply_context off."""
        path = ([SITE] if hook else []) + [PYTHON, os.path.join(STANDINS, standin), STANDINS] + list(folders)
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("MUSTER_", "PYTHON"))}
        environment.update(
            PYTHONPATH=os.pathsep.join(path), PYTHONDONTWRITEBYTECODE="1", STANDIN_CALLS=self.path("calls"),
            MUSTER_CONTEXT=self.path("context", "worker.2.json"), MUSTER_PROCESS=self.process,
            MUSTER_ATTEMPT=self.attempt)
        environment.update(variables)
        return {name: value for name, value in environment.items() if value is not None}

    def run_command(self, command, **options):
        descriptors = options.pop("pass_fds", ())
        return Outcome(subprocess.run(command, env=self.environment(**options), cwd=self.folder, timeout=60,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                                      pass_fds=descriptors))

    def run_script(self, script, *flags, **options):
        """Launches `script` with sys.executable and its `flags`."""
        return self.run_command([sys.executable] + list(flags) + ["-c", script], **options)

    def must_run(self, script, *flags, **options):
        outcome = self.run_script(script, *flags, **options)
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome.out)
        return outcome

    def applied(self):
        with open(self.path("context", "worker.2.applied.json")) as file:
            return json.load(file)

    def claimed(self):
        with open(self.path("context", "worker.2.%s.claim" % self.attempt)) as file:
            return json.load(file)

    def calls(self, prefix="set_"):
        """(function, attribute, value as Python writes it) of every call with one name."""
        if not os.path.exists(self.path("calls")):
            return []
        with open(self.path("calls")) as file:
            lines = [json.loads(line) for line in file]
        return [(line["function"], name, line["values"][name]) for line in lines
                if line["function"].startswith(prefix) for name in line["names"]]
