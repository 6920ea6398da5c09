#!/usr/bin/env python3
"""Walks the tables of docs/pages.md on a page in Chromium, row by row: check_documented.py KIND PAGE SCREENSHOTS.

A row of a table without a check here fails, and so does a check without a row. KIND is "documented_sweep" or "documented_run".
"""

import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from open_page import KIND, OpenPage, run_tests  # noqa: E402

TRIALS = 300  # of the sweep
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/pages.md")


def tables():
    """The first columns of the tables, by heading."""
    found, heading, rows = {}, "", []
    with open(DOCS, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                heading = line.strip("# \n")
            row = re.match(r"\| (.*?) \|", line)
            if not row:
                rows = []
                continue
            rows.append(row[1])
            if len(rows) > 2:  # after the names of the columns and their line
                found.setdefault(heading, []).append(row[1])
    return found


class Documented(OpenPage):
    def walk(self, heading):
        rows, checks = tables()[heading], self.CHECKS[heading]
        self.assertEqual([row for row in rows if row not in checks], [], f"rows of docs/pages.md, {heading}, without a check")
        self.assertEqual([row for row in checks if row not in rows], [], f"checks without a row of docs/pages.md, {heading}")
        for row in rows:
            with self.subTest(table=heading, row=row):
                self.browser.call("/url", url="about:blank")
                self.setUp()
                self.browser.settle()
                checks[row](self)

    def has(self, section, *texts):
        self.assertIn(section, self.sections())
        text = self.browser.text("#" + section)
        self.assertEqual([one for one in texts if one not in text], [], text[:2000])

    def draws(self, section, *texts):
        self.has(section, *texts)
        self.browser.js(f"document.querySelector('#{section} .plot').scrollIntoView()")
        self.browser.settle()
        self.assertTrue(self.is_painted(section))

    def choose(self, section, name, value):
        self.browser.js(f"""
            const select = document.querySelector('#{section} select[aria-label="{name}"]');
            select.value = {value!r};
            select.dispatchEvent(new Event('change'));""")
        self.browser.settle()

    def values(self, name):
        return self.browser.js(f"return [...muster.page.model.column({name!r}).values]")

    def lit(self):
        return self.browser.js("return [muster.page.state.lit, muster.page.state.pinned]")

    def returns(self, change, look, *names):
        """Changes something; the page that its address opens shows it, too."""
        self.browser.js(change)
        for _ in range(100):
            address = self.browser.js("return location.href")
            if all(f"{name}=" in address for name in names):
                break
            time.sleep(0.05)
        shown = self.browser.js("return " + look)
        self.browser.call("/url", url="about:blank")
        fresh = self.browser.open(self.page()) or self.browser.js("return " + look)
        self.assertNotEqual(shown, fresh, "it is as at first")
        self.browser.call("/url", url="about:blank")
        self.browser.open(address.replace("file://", "", 1))
        self.assertEqual(self.browser.js("return " + look), shown)

    def page(self):
        return sys.argv[2]


def control(section, kind, name, value):
    """JavaScript that sets a control of the page."""
    if kind == "check":
        return (f"[...document.querySelectorAll('#{section} label.check')].find((one) => one.innerText === '{name}')"
                ".querySelector('input').click();")
    return (f"{{ const one = document.querySelector('#{section} [aria-label=\"{name}\"]'); one.value = '{value}';"
            f" one.dispatchEvent(new Event('{kind}')); }}")


def selects(text, holds, *columns):
    """That the filter selects the rows for which `holds` is true."""
    def check(page):
        page.browser.focus("#where")
        page.browser.keys(*text)
        page.assertEqual(page.browser.text("#problem"), "")
        expected = [row for row, values in enumerate(zip(*(page.values(name) for name in columns))) if holds(*values)]
        page.assertTrue(0 < len(expected) < TRIALS, text)
        page.assertEqual(page.browser.js("return muster.page.state.rows"), expected)
    return check


def refuses_foreign_expressions(page):
    selects("optimizer ~ ^ad", lambda one: one == "adam", "optimizer")(page)
    for expression in ("(?s)a", "'[[:alpha:]]'", "\\pL"):
        page.assertIn("not supported", page.browser.call("/execute/sync", args=["optimizer ~ " + expression], script="""
            muster.page.state.setWhere(arguments[0]);
            return muster.page.state.problem"""))


def tag(page):
    page.browser.js("muster.update({ rows: [{ key: '0:1', values: { tags: 'good', 'tag.good': true } }] })")
    for text in ("tag == good", "good"):
        page.browser.js(f"muster.page.state.setWhere({text!r})")
        page.assertEqual(page.browser.js("return muster.page.state.rows"), [1])


def by_role(page):
    page.browser.js("muster.update({ rows: [{ key: '0:1', values: { 'metric.dropout': 7, 'tag.dropout': 'x' } }] })")
    for text in ("metric.dropout == 7", "tag.dropout == x"):
        page.browser.js(f"muster.page.state.setWhere({text!r})")
        page.assertEqual(page.browser.js("return [muster.page.state.problem, muster.page.state.rows]"), ["", [1]])
    page.browser.js("muster.page.state.setWhere('')")
    selects("param.learning_rate < 0.01", lambda one: one < 0.01, "learning_rate")(page)


def focus_axis(page):
    page.browser.focus("#parallel .axis[data-axis='1']")
    page.browser.keys("Enter")
    range_ = page.browser.js("return muster.page.state.brushes.get('learning_rate')")
    page.assertIsNotNone(range_)
    page.assertTrue(0 < page.shown() < TRIALS)
    return range_


def moves(*keys, low, high):
    def check(page):
        before = focus_axis(page)
        page.browser.keys(*keys)
        after = page.browser.js("return muster.page.state.brushes.get('learning_rate')")
        page.assertEqual((after["low"] > before["low"], after["high"] > before["high"]), (low, high))
    return check


def slash(page):
    page.browser.keys("/")
    page.assertEqual(page.browser.js("return document.activeElement.id"), "where")


def escape(page):
    page.browser.js("muster.page.state.pin(5)")
    page.browser.keys("Escape")
    page.assertFalse(page.lit()[1])


def delete(page):
    focus_axis(page)
    page.browser.keys("Delete")
    page.assertEqual(page.shown(), TRIALS)


def table_arrows(page):
    page.browser.focus("#table .scroller")
    page.browser.keys("Down", "Down")
    second = page.lit()
    page.assertEqual(page.browser.js("return Number(document.querySelector('#table tr.lit').dataset.row)"), second[0])
    page.browser.keys("Up")
    page.assertNotEqual(page.lit(), second)


def lane_arrows(page):
    page.browser.focus("#devices .lanes")
    page.browser.keys("Down", "Down")
    second = page.lit()
    page.assertGreaterEqual(second[0], 0)
    page.browser.keys("Up")
    page.assertNotEqual(page.lit(), second)


def keeps(page):
    for section in ("#table .scroller", "#devices .lanes"):
        page.browser.focus(section)
        page.browser.keys("Down", "Enter")
        page.assertTrue(page.lit()[1], section)
        page.browser.keys("Escape")


def screen_readers(page):
    names = page.browser.names()
    unnamed = [role for role, name in names if role in ("button", "checkbox", "combobox", "slider", "textbox", "image", "img") and not name]
    page.assertEqual(unnamed, [])
    page.assertTrue({("textbox", "filter, as in ls --where"), ("slider", "Range of learning_rate")} <= names)


def dark(page):
    colours = []
    for scheme in ("light", "dark"):
        page.browser.emulate(prefers_color_scheme=scheme)
        colours.append(page.browser.js("return [getComputedStyle(document.body).backgroundColor, muster.page.state.colours[0]]"))
    page.browser.emulate()
    page.assertEqual(colours[0][0], "rgb(244, 246, 248)")
    page.assertTrue(all(light != dark for light, dark in zip(*colours)), colours)


def narrow(page):
    page.browser.cdp("Emulation.setDeviceMetricsOverride", width=800, height=1000, deviceScaleFactor=1, mobile=False)
    page.browser.settle()
    lefts = page.browser.js("return [...document.querySelectorAll('main > section')].map((one) => one.getBoundingClientRect().left)")
    width = page.browser.js("return document.documentElement.scrollWidth")
    page.browser.cdp("Emulation.clearDeviceMetricsOverride")
    page.assertEqual(len(set(lefts)), 1)
    page.assertLessEqual(width, 800)


def paper(page):
    page.browser.cdp("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    page.browser.js("dispatchEvent(new Event('beforeprint'))")
    page.assertEqual(page.browser.js("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
    page.assertEqual(page.browser.js("return document.querySelectorAll('#table tr[data-row]').length"), 200)
    page.assertIn(f"and {TRIALS - 200} more", page.browser.text("#table"))
    page.browser.cdp("Emulation.setEmulatedMedia", media="")
    page.browser.js("dispatchEvent(new Event('afterprint'))")


def curves(page):
    page.draws("curves", "metric", "smoothing", "log x", "log y", "ignore outliers", "not finite, marked ×")
    page.assertEqual(page.browser.js("return muster.page.model.curves.get('loss').filter(Boolean).length"), TRIALS)


def heat_map(page):
    page.draws("heatmap")
    for how in ("best", "mean", "deviation", "count"):
        page.choose("heatmap", "of a cell", how)
        page.assertIn(f"Heat map: {how} of loss", page.browser.js("return document.querySelector('#heatmap .plot').getAttribute('aria-label')"))


def table(page):
    page.has("table", f"{TRIALS} of {TRIALS} rows", "columns: ", "Save as CSV")
    page.browser.focus("#table th button[data-column='dropout']")
    page.browser.keys("Enter")
    rows = page.browser.js("return muster.tableCsv().split('\\r\\n').slice(1, -1)")
    place = page.browser.js("return muster.tableCsv().split('\\r\\n')[0].split(',')").index("dropout")
    dropouts = [float(row.split(",")[place]) for row in rows]
    page.assertEqual(dropouts, sorted(page.values("dropout")))


def ledger_bar(page):
    """The sweep of this page has no run directories, so it is one of given rows."""
    shown = page.browser.js("""
        const bar = muster.ledgerBar({ counts: "device", total: 40, rows: [
          { name: "productive_kept", seconds: 30 }, { name: "idle_devices", seconds: 10 }] });
        document.getElementById("summary").append(bar);
        return [bar.innerText, ...[...bar.querySelectorAll(".bar span")].map((part) => part.getBoundingClientRect().width)];""")
    page.assertIn("Where 40 s of device time went", shown[0])
    page.assertIn("productive kept 75.0 %", shown[0])
    page.assertAlmostEqual(shown[1] / shown[2], 3, delta=0.1)
    drilled = page.browser.js("""
        const text = (runs, drills) => muster.ledgerBar({ counts: "device", total: 40, runs, drills, rows: [
          { name: "productive_lost", seconds: 40, drilled: drills && 10 }] }).textContent;
        return [text(2, 0), text(5, 2), text(1, 1)];""")
    page.assertNotIn("drill", drilled[0])
    page.assertIn("of device time went, with 2 drills among 5 runs", drilled[1])
    page.assertIn("productive lost 100.0 %, 25.0 % in drills", drilled[1])
    page.assertIn("of device time went in a drill", drilled[2])
    page.assertNotIn("in drills", drilled[2])


class SweepPage(Documented):
    CHECKS = {
        "A sweep": {
            "Summary": lambda page: page.has("summary", "smallest loss", "Best trials", "What distinguishes the best", "ok", f"{TRIALS} of {TRIALS} ended"),
            "Where device time went": ledger_bar,
            "Set-up": lambda page: page.has("setup", "muster sweep sweep layout.lua", "space: learning_rate", "early stopping"),
            "Curves": curves,
            "Results": lambda page: page.draws("history", "log loss"),
            "Parallel coordinates": lambda page: page.draws("parallel", "Drag along an axis"),
            "Parameter importance": lambda page: page.has("importance", "learning_rate", "PED-ANOVA"),
            "Scatter": lambda page: page.draws("scatter", "log loss", "colour"),
            "Heat map": heat_map,
            "Failures": lambda page: page.has("failures", "out of memory", "node3"),
            "Early stopping": lambda page: page.has("rungs", "asha, resource=step", "No trial was stopped early."),
            "Devices over time": lambda page: page.draws("devices", "5 lanes", "idle"),
            "Table": table,
        },
        "Filter": {
            "`state == ok`": selects("state == ok", lambda one: one == "ok", "state"),
            "`state != ok`": selects("state != ok", lambda one: one != "ok", "state"),
            "`lr < 0.01`": selects("learning_rate < 0.01", lambda one: one < 0.01, "learning_rate"),
            "`lr <= 0.01`": selects("width <= 128", lambda one: one <= 128, "width"),
            "`lr > 0.01`": selects("width > 128", lambda one: one > 128, "width"),
            "`lr >= 0.01`": selects("width >= 128", lambda one: one >= 128, "width"),
            "`optimizer ~ ^ad`": refuses_foreign_expressions,
            "`lr`": selects("value", lambda one: one is not None, "value"),
            "`state == ok and lr < 0.01`": selects("state == ok and learning_rate < 0.01", lambda state, rate: state == "ok" and rate < 0.01,
                                                   "state", "learning_rate"),
            "`param.lr < 0.01`": by_role,
            "`tag == good`": tag,
            "`value < 0.5`": selects("value < 0.5", lambda one: one is not None and one < 0.5, "value"),
            "`took > 5m`": selects("took > 5s", lambda one: one > 5, "took"),
        },
        "Address": {
            "`where`": lambda page: page.returns("muster.page.state.setWhere('width == 64')", "muster.page.state.rows.length", "where"),
            "`ranges`": lambda page: page.returns("muster.page.state.setBrush('dropout', { low: 0.1, high: 0.2 })", "muster.page.state.rows.length", "ranges"),
            "`row`": lambda page: page.returns("muster.page.state.pin(7)", "[muster.page.state.lit, muster.page.state.pinned]", "row"),
            "`colour`": lambda page: page.returns("muster.page.state.setColour('optimizer')", "muster.page.state.colourBy", "colour"),
            "`metric`": lambda page: page.assertIn("metric=loss", page.browser.js(
                control("curves", "change", "metric", "loss") + " return new Promise((done) => setTimeout(() => done(location.href), 400))")),
            "`logx`, `logy`": lambda page: page.returns(
                control("curves", "check", "log x", "") + control("curves", "check", "log y", ""),
                "[...document.querySelectorAll('#curves label.check input')].map((one) => one.checked)", "logx", "logy"),
            "`smoothing`": lambda page: page.returns(control("curves", "input", "smoothing", "0.5"),
                                                     "document.querySelector('#curves input[type=range]').value", "smoothing"),
            "`outliers`": lambda page: page.returns(control("curves", "check", "ignore outliers", ""),
                                                    "[...document.querySelectorAll('#curves label.check input')].map((one) => one.checked)", "outliers"),
            "`mean`": lambda page: page.returns("muster.page.state.setMeanOver('width')", "muster.page.state.meanOver", "mean"),
            "`log`": lambda page: page.returns("muster.page.state.setLog('value', true)", "muster.page.model.column('value').logarithmic", "log"),
            "`x`, `y`": lambda page: page.returns(
                control("scatter", "change", "x", "width") + control("scatter", "change", "y", "took"),
                "[...document.querySelectorAll('#scatter select')].map((one) => one.value)", "x", "y"),
            "`cellx`, `celly`, `cellvalue`, `cell`": lambda page: page.returns(
                control("heatmap", "change", "x", "width") + control("heatmap", "change", "y", "dropout") +
                control("heatmap", "change", "value", "took") + control("heatmap", "change", "of a cell", "mean"),
                "[...document.querySelectorAll('#heatmap select')].map((one) => one.value)", "cellx", "celly", "cellvalue", "cell"),
            "`columns`, `sort`, `descending`": lambda page: page.returns(
                "const sort = () => document.querySelector('#table th button[data-column=took]').click(); sort(); sort();"
                "[...document.querySelectorAll('#table .choices label')].find((one) => one.textContent === 'id').querySelector('input').click();",
                "muster.tableCsv().slice(0, 3000)", "columns", "sort", "descending"),
        },
        "Keys": {
            "`/`": slash,
            "Escape": escape,
            "Enter on an axis": lambda page: focus_axis(page),
            "arrows on an axis": moves("Up", low=True, high=True),
            "Shift and arrows on an axis": moves("Shift+Up", low=False, high=True),
            "Delete on an axis": delete,
            "arrows in the table": table_arrows,
            "arrows in time lines": lane_arrows,
            "Enter in the table and in time lines": keeps,
        },
        "Readers and paper": {"screen readers": screen_readers, "dark systems": dark, "narrow windows": narrow, "paper": paper},
    }

    def test_has_the_parts_of_a_sweep(self):
        self.walk("A sweep")

    def test_filters_as_documented(self):
        self.walk("Filter")

    def test_keeps_in_its_address_what_is_documented(self):
        self.walk("Address")

    def test_has_the_documented_keys(self):
        self.walk("Keys")

    def test_serves_readers_and_paper(self):
        self.walk("Readers and paper")

    def test_walks_all_tables(self):
        self.assertEqual(set(tables()), set(SweepPage.CHECKS) | set(RunPage.CHECKS))


def explains(page):
    page.has("plan", "workers")
    page.browser.js("document.querySelectorAll('#plan details').forEach((one) => { one.open = true; })")
    page.browser.focus("#plan button[aria-label='explain PEER']")
    page.browser.keys("Enter")
    page.has("plan", "muster explain", "worker.63: peer-63")


def usage(kind, name):
    def check(page):
        kinds = page.browser.js("return [...document.querySelectorAll('#usage select option')].map((one) => [one.value, one.innerText])")
        page.assertIn([kind, name], [[value, text.split(",")[0]] for value, text in kinds])
    return check


class RunPage(Documented):
    """A run without devices, in which process 13 of 64 failed."""

    CHECKS = {
        "A run": {
            "Outcome": lambda page: page.has("outcome", "exit code", "started", "duration", "hosts", "plan"),
            "First failure": lambda page: page.has("failure", "worker.13", "RuntimeError: shapes do not fit", "Around the failure"),
            "Curves": lambda page: page.draws("curves", "metric"),
            "Start-up": lambda page: page.draws("startup"),
            "Processes over time": lambda page: page.draws("lanes", "victim"),
            "Resource usage": lambda page: page.draws("usage", "Smallest, median and largest of 64 processes"),
            "Plan": explains,
            "Logs": lambda page: page.has("logs", "last lines of"),
            "Table": lambda page: page.has("table", "64 of 64 processes"),
        },
        "Resource usage": {
            "CPU cores": usage("cores", "CPU cores"),
            "memory": usage("memory", "memory"),
            "device memory": lambda page: page.assertNotIn("device", page.browser.js(
                "return [...document.querySelectorAll('#usage select option')].map((one) => one.value)")),  # none without devices
        },
    }

    def test_has_the_parts_of_a_run(self):
        self.walk("A run")

    def test_has_the_usage(self):
        self.walk("Resource usage")


if __name__ == "__main__":
    run_tests({"documented_sweep": SweepPage, "documented_run": RunPage})
