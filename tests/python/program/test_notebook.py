"""The notebook of examples/, executed by Debian's Jupyter without a display. MUSTER names the program."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
EXAMPLE = os.path.join(SOURCE, "examples", "notebook")


class Notebook(unittest.TestCase):
    def test_it_has_no_output(self):
        with open(os.path.join(EXAMPLE, "sweep.ipynb")) as file:
            for cell in json.load(file)["cells"]:
                self.assertFalse(cell.get("outputs"), cell)
                self.assertIsNone(cell.get("execution_count"))

    def test_it_reads_a_sweep_draws_curves_and_starts_a_run(self):
        folder = tempfile.mkdtemp(prefix="muster-notebook-")
        self.addCleanup(shutil.rmtree, folder)
        for name in ("curve.lua", "train.py", "sweep.ipynb"):
            shutil.copy(os.path.join(EXAMPLE, name), folder)
        environment = dict(os.environ, HOME=folder, PYTHONPATH=os.path.join(SOURCE, "python"),
                           MPLCONFIGDIR=folder, PATH="/usr/bin:/bin", PYTHONDONTWRITEBYTECODE="1",
                           IPYTHONDIR=folder, MUSTER_HOME=folder)
        done = subprocess.run(
            ["/usr/bin/python3", "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done.ipynb",
             "sweep.ipynb"],
            cwd=folder, env=environment, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout.decode("utf-8", "replace"))
        with open(os.path.join(folder, "done.ipynb")) as file:
            cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
        shown = [output["data"] for cell in cells for output in cell["outputs"] if "data" in output]
        texts = ["".join(data.get("text/plain", "")) for data in shown]
        self.assertEqual(texts[0], "'complete'")
        self.assertIn("0.5", texts[1])
        self.assertTrue(any("image/png" in data for data in shown))
        self.assertIn("('ok', 60, 'run_ended')", texts)
        self.assertTrue("".join(shown[-1]["text/html"]).startswith("<iframe sandbox="))
        self.assertEqual(len(os.listdir(os.path.join(folder, "runs", "curve"))), 2)  # the run, and `latest`


if __name__ == "__main__":
    unittest.main()
