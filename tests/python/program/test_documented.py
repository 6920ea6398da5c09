"""The code of docs/notebooks.md, run as a reader would, one block after the other. MUSTER names the
program."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PAGE = os.path.join(SOURCE, "docs", "notebooks.md")

RECIPE = """local muster = require "muster"
return muster.recipe {
  name = "NAME", params = { lr = muster.float { 0.1 } },
  plan = function(p, job)
    job:workers { count = 1, command = { "sh", "-c", [[
      for step in 1 2 3; do echo "{\\"step\\": $step, \\"loss\\": $1}"; done >> "$MUSTER_METRICS"
    ]], "sh", p.lr } }
  end,
}
"""
# What the page takes for granted.
FILES = {
    "recipe.lua": RECIPE.replace("NAME", "job"),
    "train.lua": RECIPE.replace("NAME", "train"),
    "sweep.lua": """local muster = require "muster"
return muster.sweep { name = "lr-sweep", recipe = muster.load "recipe.lua",
                      objective = muster.minimize "loss", space = { lr = muster.choice { 0.03, 0.1, 0.3 } } }
""",
    "train.py": "print('trained')\n",
}
AROUND = "import muster\ndata, train = range(100), float\n"


def blocks():
    """(line, language, comment before it, text) of each block of code."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for found in re.finditer(r"(?:^<!-- (.*?) -->\n)?^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text[:found.start(3)].count("\n") + 1, found[2], found[1] or "", found[3]


def matches(said, expected):
    """Whether the output is the page's, in which "…" is any text."""
    return re.fullmatch(re.escape(expected).replace("…", ".*"), said, re.DOTALL)


class Documented(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="muster-documented-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in FILES.items():
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        self.environment = dict(
            os.environ, HOME=self.folder, MUSTER_HOME=self.folder, PYTHONPATH=os.path.join(SOURCE, "python"),
            MPLBACKEND="Agg", MPLCONFIGDIR=self.folder, PYTHONDONTWRITEBYTECODE="1",
            PATH=os.path.dirname(os.environ["MUSTER"]) + ":/usr/bin:/bin")

    def run_program(self, *words):
        return subprocess.run(words, cwd=self.folder, env=self.environment, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run_code(self, line, code):
        done = self.run_program("/usr/bin/python3", "-c", AROUND + code)
        said = done.stdout.decode("utf-8", "replace")
        self.assertEqual(done.returncode, 0, "docs/notebooks.md:%d: %s" % (line, said))
        return said

    def run_console(self, line, text):
        self.run_code(line, "for sweep in muster.sweeps(): sweep.wait()")
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
            done = self.run_program("/bin/sh", "-c", command)
            said = done.stdout.decode("utf-8", "replace")
            place = "docs/notebooks.md:%d: %s" % (line, command)
            self.assertTrue(matches(said, expected), place + "\n" + said)

    def test_every_block_runs(self):
        ran = []
        for line, language, comment, text in blocks():
            if comment.startswith("not run: "):
                compile(re.sub("…, ", "", text), "docs/notebooks.md", "exec")  # but it is Python
                continue
            place = "docs/notebooks.md:%d is neither run nor left out" % line
            self.assertIn(language, ("python", "console"), place)
            run = self.run_code if language == "python" else self.run_console
            ran.append((language, run(line, text)))
        self.assertEqual([language for language, _ in ran], ["python", "python", "python", "console"])
        self.assertIn("run_ended", ran[0][1])


if __name__ == "__main__":
    unittest.main()
