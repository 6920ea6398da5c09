"""What a notebook shows of runs and sweeps, in Debian's Chromium. MUSTER names the program."""

import os
import shutil
import sys
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(SOURCE, "python"))
sys.path.insert(0, os.path.join(SOURCE, "tests", "page"))
import muster  # noqa: E402
from browser import Browser  # noqa: E402
from muster import display  # noqa: E402

RECIPE = """local muster = require "muster"
return muster.recipe {
  name = "shown", doc = "<img src=x onerror=top.stolen=1>", params = { lr = muster.float { 0.1 } },
  plan = function(p, job)
    job:workers { count = 1, command = { "sh", "-c", [[
      for step in 1 2 3; do echo "{\\"step\\": $step, \\"loss\\": $1}"; done >> "$MUSTER_METRICS"
    ]], "sh", p.lr } }
  end,
}
"""


class Display(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="muster-display-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(cls.folder)
        with open("recipe.lua", "w") as file:
            file.write(RECIPE)
        cls.run_ = muster.run("recipe.lua", lr=0.5)
        cls.run_.wait()
        cls.sweep = muster.sweep("recipe.lua", "--minimize", "loss", lr=[0.1, 0.2, 0.4])
        cls.sweep.wait()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def show(self, *shown):
        """A notebook with these outputs."""
        path = os.path.join(self.folder, "notebook.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write("<!doctype html><meta charset=utf-8><h1>notebook</h1>" + "".join(shown))
        self.browser.call("/url", url="file://" + path)

    def enter(self, number):
        """Continues inside of that frame."""
        self.browser.call("/frame", id=None)
        self.browser.call("/frame", id=number)

    def await_page(self):
        self.browser.call("/execute/async", args=[], script="""
            const done = arguments[0];
            const look = () => {
              const page = document.getElementById('page');
              if (page && page.dataset.ready) requestAnimationFrame(() => requestAnimationFrame(done));
              else setTimeout(look, 10);
            };
            look();""")

    def painted(self, section):
        return self.browser.js("""
            return [...document.querySelectorAll('#%s canvas')].some((canvas) => {
              const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
              return new Set(new Uint32Array(image.data.buffer)).size > 3;
            });""" % section)

    def test_a_run_and_a_sweep_are_their_pages(self):
        self.show(self.run_._repr_html_(), self.sweep._repr_html_())
        self.enter(0)
        self.await_page()
        self.assertIn("shown", self.browser.text("h1"))
        self.assertEqual(self.browser.js("return muster.page.model.keys"), ["0:worker.0"])
        self.assertTrue(self.painted("curves"))
        self.enter(1)
        self.await_page()
        self.assertEqual(self.browser.js("return muster.page.model.column('lr').values"), [0.1, 0.2, 0.4])
        self.assertTrue(self.painted("parallel"))
        self.assertEqual(self.browser.js("return innerHeight"), 700)
        self.assertEqual(self.browser.errors(), [])

    def test_a_page_has_no_access_to_the_notebook(self):
        self.show(self.sweep._repr_html_())
        self.enter(0)
        self.await_page()
        for reach in ("parent.document", "top.location.href", "localStorage", "document.cookie"):
            found = self.browser.js(
                "try { void (%s); return 'open'; } catch (error) { return error.name; }" % reach)
            self.assertEqual(found, "SecurityError", reach)
        self.browser.call("/frame", id=None)
        self.assertIsNone(self.browser.js("return window.stolen"))

    def test_lists_and_large_pages_are_tables(self):
        self.show(self.sweep.trials()._repr_html_(), muster.runs()._repr_html_(),
                  display.frame(self.sweep._summary_html(), 520))
        texts = []
        for number in range(3):
            self.enter(number)
            texts.append(self.browser.text("body"))
        self.assertIn("0.4", texts[0])
        self.assertIn("shown", texts[1])
        self.assertIn("complete", texts[2])
        self.assertGreater(self.browser.js("return document.querySelectorAll('svg polyline').length"), 2)
        self.assertEqual(self.browser.errors(), [])


if __name__ == "__main__":
    unittest.main()
