"""Tests of a page that is open in Chromium: the program's arguments are KIND PAGE SCREENSHOTS."""

import base64
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402
from pdf_text import text_of  # noqa: E402

KIND, PAGE, SCREENSHOTS = sys.argv[1:4]


class OpenPage(unittest.TestCase):
    """One browser for all tests of a page; each test opens the page again."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def setUp(self):
        self.browser.open(PAGE)

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def shown(self):
        return self.browser.js("return muster.page.state.rows.length")

    def sections(self):
        return self.browser.js("return [...document.querySelectorAll('main > section')].map(one => one.id)")

    def shoot(self, name):
        self.browser.screenshot(os.path.join(SCREENSHOTS, f"{KIND}-{name}.png"))

    def is_painted(self, section):
        """Whether a canvas of the section has pixels of several colours."""
        return self.browser.js(f"""
            return [...document.querySelectorAll('#{section} canvas')].some((canvas) => {{
              const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
              return new Set(new Uint32Array(image.data.buffer)).size > 3;
            }});""")

    def assert_prints(self, *texts):
        """Whether the page as the browser prints it has these texts, as text."""
        # Not the command /print: it gives the page ten seconds, whatever the machine is doing.
        pdf = base64.b64decode(self.browser.cdp("Page.printToPDF", printBackground=True)["data"])
        with open(os.path.join(SCREENSHOTS, f"{KIND}.pdf"), "wb") as file:
            file.write(pdf)
        printed = text_of(pdf)
        self.assertEqual([text for text in texts if text not in printed], [])


def run_tests(kinds):
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(kinds[KIND])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
