#!/usr/bin/env python3
"""Opens a page of muster report --html in Chromium and checks its parts: check_page.py KIND PAGE SCREENSHOTS."""

import math
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from open_page import OpenPage, run_tests  # noqa: E402


class SweepPage(OpenPage):
    def test_has_every_part(self):
        self.assertEqual(self.sections(), ["summary", "setup", "curves", "history", "parallel", "importance",
                                           "scatter", "heatmap", "failures", "rungs", "devices", "table"])
        self.browser.settle()
        for section in ("curves", "history", "parallel", "scatter", "heatmap", "devices"):
            self.assertTrue(self.is_painted(section), section)
        self.assertEqual(self.shown(), 1000)
        self.assertIn("smallest loss", self.browser.text("#summary"))
        self.assertIn("muster sweep sweep layout.lua", self.browser.text("#setup"))
        self.assertIn("asha, resource=step", self.browser.text("#setup"))
        self.assertIn("1e-05 to 0.1, logarithmic", self.browser.text("#setup"))
        self.assertIn("learning_rate", self.browser.text("#summary ul"))
        self.assertEqual(self.browser.js("return document.querySelector('#importance th').innerText"), "learning_rate")
        self.assertIn("gamma 0.1", self.browser.text("#importance"))
        self.assertIn("node3", self.browser.text("#failures"))
        self.assertIn("<b>out of memory</b>", self.browser.text("#failures"))
        self.shoot("light")
        self.browser.emulate(prefers_color_scheme="dark")
        self.shoot("dark")
        self.browser.emulate()

    def test_has_the_best_so_far_and_the_distribution_of_results(self):
        steps, shares, trials, values, states = self.browser.js("""
            const { model } = muster.page;
            const [ranking] = model.rankings();
            const number = (row) => model.column("trial").values[row];
            const points = model.ranked(ranking).map((row) => [number(row), ranking.column.numbers[row]]);
            points.sort((a, b) => a[0] - b[0]);
            return [muster.bestSoFar(points, false), muster.distribution(points.map((point) => point[1]), false),
                    model.column("trial").values, model.column("value").values, model.column("state").values]""")
        ended = [(trial, value) for trial, value, state in zip(trials, values, states) if state == "ok"]
        best = []
        for trial, value in sorted(ended):
            if not best or value < best[-1][1]:
                best.append([trial, value])
        self.assertEqual(steps, best)
        self.assertGreater(len(best), 3)
        for value, share in shares[:5] + shares[-5:]:
            self.assertAlmostEqual(share, sum(own <= value for _, own in ended) / len(ended))
        self.assertEqual(shares[-1][1], 1)
        self.assertEqual(self.browser.js("return muster.distribution([1, 2, 2, 4], true)"), [[4, 0.25], [2, 0.75], [1, 1]])

    def test_keeps_what_was_chosen_in_its_address(self):
        self.browser.focus("#where")
        self.browser.keys(*"optimizer == adam")
        self.browser.js("""
            const { state } = muster.page;
            state.setColour("optimizer");
            state.setBrush("dropout", {low: 0.1, high: 0.2});
            state.pin(state.rows[3]);
            document.querySelector("#curves input[type=checkbox]").click();
            const slider = document.querySelector("#curves input[type=range]");
            slider.value = "0.5";
            slider.dispatchEvent(new Event("input"));""")
        rows = self.browser.js("return muster.page.state.rows")
        lit = self.browser.js("return muster.page.state.lit")
        self.assertGreater(len(rows), 3)
        for _ in range(100):
            address = self.browser.js("return location.href")
            if all(f"{name}=" in address for name in ("where", "colour", "ranges", "row", "logx", "smoothing")):
                break
            time.sleep(0.05)
        self.browser.call("/url", url="about:blank")
        self.browser.open(address.replace("file://", "", 1))
        self.assertEqual(self.browser.js("return muster.page.state.rows"), rows)
        self.assertEqual(self.browser.js("return [muster.page.state.colourBy, muster.page.state.lit]"), ["optimizer", lit])
        self.assertEqual(self.browser.js("return document.querySelector('#where').value"), "optimizer == adam")
        self.browser.settle()
        self.assertTrue(self.browser.js("return document.querySelector('#curves input[type=checkbox]').checked"))
        self.assertEqual(self.browser.js("return document.querySelector('#curves input[type=range]').value"), "0.5")
        self.browser.js("document.querySelector('#clear').click()")
        self.assertEqual(self.shown(), 1000)

    def test_has_the_deviation_of_the_trials_of_a_cell(self):
        self.browser.js("document.querySelector('#heatmap .plot').scrollIntoView({block: 'center'})")
        self.browser.settle()
        count, mean, deviation, row = self.browser.js("""
            const plot = document.querySelector('#heatmap .plot');
            const box = plot.getBoundingClientRect();
            plot.dispatchEvent(new PointerEvent('pointermove', {clientX: box.x + box.width / 2, clientY: box.y + 60}));
            const lines = [...document.querySelectorAll('.tip div')].map((line) => line.innerText);
            const [, mean, deviation] = /^mean (\\S+) ± (\\S+)$/.exec(lines[2]);
            return [parseInt(lines[0]), Number(mean), Number(deviation), muster.page.state.lit]""")
        columns = {name: self.browser.js(f"return [...muster.page.model.column('{name}').values]")
                   for name in ("learning_rate", "optimizer", "value")}
        low, high = (10 ** (-5 + (4 * (int((math.log10(columns["learning_rate"][row]) + 5) * 2) + end)) / 8) for end in (0, 1))
        cell = [value for rate, optimizer, value in zip(*columns.values())
                if value is not None and optimizer == columns["optimizer"][row] and low <= rate < high]
        self.assertEqual(count, len(cell))
        self.assertAlmostEqual(mean, statistics.fmean(cell), places=4)
        self.assertAlmostEqual(deviation, statistics.stdev(cell), places=2)

    def test_keeps_the_extremes_of_curves(self):
        spikes = self.browser.js("""
            return muster.page.model.curves.get('loss').filter((curve) => {
              const at = curve.x.indexOf(curve.x.find((x) => x === 500));
              return at >= 0 && curve.total === 1000;
            }).length""")
        self.assertEqual(spikes, self.browser.js(
            "return muster.page.model.column('state').values.filter((one) => one === 'ok').length"))

    def test_filters_by_an_expression(self):
        self.browser.keys("/")
        self.assertEqual(self.browser.js("return document.activeElement.id"), "where")
        self.browser.keys(*"optimizer == adam and width >= 256")
        expected = self.browser.js("""
            const {model} = muster.page; const [o, w] = [model.column('optimizer').values, model.column('width').values];
            return o.filter((one, row) => one === 'adam' && w[row] >= 256).length""")
        self.assertTrue(0 < expected < 1000)
        self.assertEqual(self.shown(), expected)
        self.assertEqual(self.browser.text("#count"), f"{expected} of 1,000 shown")
        self.browser.keys(*" and")
        self.assertIn("expected a condition", self.browser.text("#problem"))
        self.browser.focus("#clear")
        self.browser.keys("Enter")
        self.assertEqual(self.shown(), 1000)

    def test_brushes_by_keyboard(self):
        self.browser.focus("#parallel .axis[data-axis='1']")
        name = self.browser.js("return document.activeElement.getAttribute('aria-label')")
        self.assertEqual(name, "Range of learning_rate")
        self.browser.keys("Enter")
        first = self.shown()
        self.assertTrue(0 < first < 1000)
        self.browser.keys("Up", "Up")
        moved = self.browser.js("return muster.page.state.brushes.get('learning_rate')")
        self.browser.keys("Shift+Up")
        wider = self.browser.js("return muster.page.state.brushes.get('learning_rate')")
        self.assertEqual(moved["low"], wider["low"])
        self.assertLess(moved["high"], wider["high"])
        self.assertIn(" to ", self.browser.js("return document.activeElement.getAttribute('aria-valuetext')"))
        # The brushed set filters the other parts.
        self.assertIn(f"{self.shown():,} of", self.browser.text("#table .count"))
        self.browser.focus("#parallel .axis[data-axis='2']")
        self.browser.keys("Enter", "Up")
        self.assertLess(self.shown(), first)
        self.shoot("brushed")
        self.browser.keys("Delete")
        self.browser.focus("#parallel .axis[data-axis='1']")
        self.browser.keys("Escape")
        self.assertEqual(self.shown(), 1000)

    def test_brushes_with_the_pointer(self):
        x, y, height = self.browser.js("""
            const axis = document.querySelector("#parallel .axis[data-axis='0']");
            axis.scrollIntoView({block: 'center'});
            const box = axis.getBoundingClientRect();
            return [box.x + box.width / 2, box.y, box.height].map(Math.round)""")
        move = [{"type": "pointerMove", "x": x, "y": y + height // 4, "duration": 0}, {"type": "pointerDown", "button": 0},
                {"type": "pointerMove", "x": x, "y": y + height // 2, "duration": 50}, {"type": "pointerUp", "button": 0}]
        self.browser.call("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": move}])
        self.browser.settle()
        self.assertTrue(0 < self.shown() < 1000)
        self.assertEqual(self.browser.js("return [...muster.page.state.brushes.keys()].length"), 1)

    def test_draws_the_same_lines_after_a_drag_as_from_the_beginning(self):
        lines = """
            const canvas = document.querySelectorAll('#parallel canvas')[1];
            return new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)"""
        self.browser.settle()
        pixels = self.browser.call("/execute/async", args=[], script=f"""
            const done = arguments[0];
            const {{ state, model }} = muster.page;
            const scale = model.column('learning_rate').axis([0, 1]);
            const pixels = () => {{ {lines} }};
            const all = pixels();
            let frames = 0;
            const step = () => {{
              const from = 0.1 + 0.2 * Math.sin(frames / 3);
              state.setBrush('learning_rate', {{ low: scale.invert(from), high: scale.invert(from + 0.6) }}, frames < 30);
              if (frames++ < 31) return requestAnimationFrame(step);
              setTimeout(() => {{
                const dragged = pixels();
                state.emit('theme');
                setTimeout(() => {{
                  const fresh = pixels();
                  done({{ rows: state.rows.length, painted: fresh.filter((one) => one).length,
                    wrong: fresh.filter((one, i) => one !== dragged[i]).length, changed: fresh.filter((one, i) => one !== all[i]).length }});
                }}, 300);
              }}, 300);
            }};
            step();""")
        self.assertTrue(250 < pixels["rows"] < 1000, pixels)
        self.assertGreater(pixels["painted"], 10_000)
        self.assertGreater(pixels["changed"], 10_000)
        self.assertEqual(pixels["wrong"], 0)

    def test_sorts_and_walks_the_table_by_keyboard(self):
        self.browser.focus("#table th button[data-column='took']")
        self.browser.keys("Enter", "Enter")
        self.assertEqual(self.browser.js("""
            return document.querySelector("#table th button[data-column='took']").parentElement.getAttribute('aria-sort')"""),
            "descending")
        took = self.browser.js("return muster.tableCsv().split('\\r\\n').slice(1, -1)")
        column = self.browser.js("return muster.tableCsv().split('\\r\\n')[0].split(',')").index("took")
        values = [float(line.split(",")[column]) for line in took]
        self.assertEqual(len(values), 1000)
        self.assertEqual(values, sorted(values, reverse=True))
        self.browser.focus("#table .scroller")
        self.browser.keys("Down", "Down", "Down")
        lit = self.browser.js("return muster.page.state.lit")
        self.assertEqual(self.browser.js("return Number(document.querySelector('#table tr.lit').dataset.row)"), lit)
        self.browser.keys("End")
        self.assertNotEqual(self.browser.js("return muster.page.state.lit"), lit)
        self.assertGreater(self.browser.js("return document.querySelector('#table .scroller').scrollTop"), 1000)
        self.browser.keys("Enter")
        self.assertTrue(self.browser.js("return muster.page.state.pinned"))
        self.shoot("lit")
        self.browser.keys("Escape")
        self.assertFalse(self.browser.js("return muster.page.state.pinned"))

    def test_chooses_columns(self):
        self.browser.js("document.querySelector('#table details').open = true")
        box = ("return [...document.querySelectorAll('#table .choices label')]"
               ".find((one) => one.textContent === 'id').querySelector('input')")
        self.browser.js(box + ".focus()")
        self.browser.keys("Space")
        self.assertIn("id", self.browser.js("return muster.tableCsv().split('\\r\\n')[0].split(',')"))

    def test_writes_csv_that_reads_back(self):
        self.assertEqual(self.browser.js("""
            return muster.csv(['a', 'b'], [['x, "y"', 1.5], ['=SUM(A1)', null], [-1, 'two\\nlines']])"""),
            'a,b\r\n"x, ""y""",1.5\r\n\'=SUM(A1),\r\n-1,"two\nlines"\r\n')

    def test_smooths_like_tensorboard(self):
        smooth = self.browser.js("return [...muster.smooth(Float32Array.of(1, 2, NaN, 4), 0.5)].map(String)")
        self.assertEqual([round(float(one), 5) if one != "NaN" else one for one in smooth], [1, 1.66667, "NaN", 3])
        self.assertEqual(self.browser.js("return [...muster.smooth(Float32Array.of(3, 3), 0.9)]"), [3, 3])

    def test_reads_conditions_as_the_command_line_does(self):
        holds = lambda text, value: self.browser.js(
            f"return muster.rowsWhere({{count: 1, columns: [], column: () => ({{values: [{value}]}})}},"
            f" muster.parseWhere({text!r}))[0] === 1")
        for text, value, expected in (
                ("a", "true", True), ("a", "false", False), ("a", "null", False), ("a", "''", False), ("a", "0", True),
                ("a == 3", "3", True), ("a = 3", "'3'", True), ("a != 3", "null", True), ("a < 3", "null", False),
                ("a <= 1e-3", "0.001", True), ("a == adam", "'adam'", True), ("a ~ ^ad", "'adam'", True),
                ("a > 5m", "301", True), ("a < 1h30m", "5399", True), ("a >= 1KiB", "1024", True),
                ("a == 'x and y'", "'x and y'", True), ("a == true", "true", True), ("a > b", "3", False)):
            self.assertEqual(holds(text, value), expected, (text, value))
        for text in ("a ==", "== 3", "a or b", "a b", "a == 'x", "a and"):
            self.assertTrue(self.browser.js(
                f"try {{ muster.parseWhere({text!r}); return false; }} catch (error) {{ return true; }}"), text)

    def test_matches_as_the_command_line_does(self):
        """Of expressions that RE2 and the browser understand in different ways."""
        for pattern, text, expected in (
                ("^ad", "adam", True), ("(?i)ADAM", "adam", True), (r"\Aad", "adam", True), (r"am\z", "adam", True),
                (r"a\-b", "a-b", True), (r"[\w.-]+x", "a.b-x", True), (r"\x41", "A", True), (r"\x{e9}", "\u00e9", True), ("^.$", "\U0001f600", True),
                ("a{2}", "caat", True), ("a{,2}", "a{,2}", True), ("^a.b$", "a\rb", True), ("^a.b$", "a\nb", False),
                (r"\s", "\u00a0", False), (r"[\s]", "\t", True), ("x|^$", "", True), ("}", "}", True), ("[^/]+/b", "a/b", True)):
            found = self.browser.call("/execute/sync", args=[pattern, text],
                                      script="return muster.patternOf(arguments[0]).test(arguments[1])")
            self.assertEqual(found, expected, (pattern, text))
        for pattern, reason in ((r"(?=a)", "not supported"), (r"(?<!a)b", "not supported"), (r"(a)\1", "not supported"), (r"\pL", "not supported"),
                                (r"\Qa\E", "not supported"), ("[[:alpha:]]", "not supported"), ("[]a]", "not supported"), ("a{1001}", "not supported"),
                                ("(?s)a", "not supported"), ("a**", "not a valid"), ("(a", "not a valid"), ("[a", "not closed"), ("a\\", "backslash")):
            problem = self.browser.call("/execute/sync", args=[pattern], script="""
                try { muster.patternOf(arguments[0]); return ''; } catch (error) { return error.message; }""")
            self.assertIn(reason, problem, pattern)
        self.browser.focus("#where")
        self.browser.keys(*"optimizer ~ '(?=a)'")
        self.assertIn("not supported", self.browser.text("#problem"))

    def test_finds_tags_as_the_command_line_does(self):
        self.browser.js("""
            muster.update({ rows: [{ key: '0:1', values: { tags: 'good,owner=ann,width=7', 'tag.good': true, 'tag.owner': 'ann', 'tag.width': '7' } },
                                   { key: '0:2', values: { tags: 'owner=bob', 'tag.owner': 'bob' } }] })""")
        shown = lambda where: self.browser.call("/execute/sync", args=[where], script="""
            const { state, model } = muster.page;
            state.setWhere(arguments[0]);
            return [state.problem, state.rows.map((row) => model.keys[row])]""")
        self.assertEqual(shown("good"), ["", ["0:1"]])
        self.assertEqual(shown("tag == good"), ["", ["0:1"]])
        self.assertEqual(shown("tag.owner == ann"), ["", ["0:1"]])
        self.assertEqual(shown("owner ~ ^b"), ["", ["0:2"]])
        self.assertEqual(shown("tag.width == 7"), ["", ["0:1"]])
        self.assertEqual(len(shown("width == 64")[1]), 250)  # a parameter comes before a tag
        self.assertEqual(len(shown("tag != good")[1]), 999)
        self.assertEqual(shown("tag.nobody"), ["", []])
        self.assertIn("there is no column", shown("nobody")[0])

    def test_takes_new_trials_and_points(self):
        self.browser.js("""
            const before = muster.page.model.curves.get('loss')[0].x.length;
            muster.update({
              rows: [{key: '0:1000', values: {trial: 1000, value: 0.01, state: 'ok', learning_rate: 0.001, width: 64}}],
              curves: [{key: '0:1000', metric: 'loss', x: [1, 2], y: [3, 0.01]}, {key: '0:0', metric: 'loss', x: [1001], y: [1]},
                       {key: '0:1000', metric: 'accuracy', x: [1], y: [0.5], bad: [2]}]});
            window.grown = muster.page.model.curves.get('loss')[0].x.length - before;""")
        self.browser.settle()
        self.assertEqual(self.shown(), 1001)
        self.assertEqual(self.browser.js("return window.grown"), 1)
        self.assertIn("1000", self.browser.text("#summary table tbody tr"))
        self.assertIn("accuracy", self.browser.text("#curves select"))

    def test_can_be_used_without_seeing_it(self):
        names = self.browser.names()
        for role, name in (("textbox", "filter, as in ls --where"), ("slider", "Range of learning_rate"),
                           ("button", "Save as CSV"), ("combobox", "metric"), ("slider", "smoothing"), ("heading", "Curves")):
            self.assertTrue((role, name) in names, (role, name))
        images = [name for role, name in names if role in ("image", "img")]
        self.assertTrue(any("curves" in name and "loss over step" in name for name in images), images)
        self.assertTrue(all(name for name in images))

    def test_prints_light_plots_and_many_rows(self):
        self.addCleanup(self.browser.emulate)
        self.browser.emulate(prefers_color_scheme="dark")
        self.browser.cdp("Emulation.setEmulatedMedia", media="print",
                         features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.browser.js("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.browser.js("return document.querySelectorAll('#table tr[data-row]').length"), 200)
        self.assertEqual(self.browser.js("""
            return [...document.querySelectorAll('.controls, .tip, #clear')].filter((one) => one.getClientRects().length).length"""), 0)
        self.assertEqual(self.browser.js("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertEqual(self.browser.js("""
            const canvas = document.querySelector('#scatter canvas'); return canvas.width / canvas.clientWidth"""), 2)
        self.browser.cdp("Emulation.setEmulatedMedia", media="")
        self.browser.js("dispatchEvent(new Event('afterprint'))")
        self.assertLess(self.browser.js("return document.querySelectorAll('#table tr[data-row]').length"), 60)

    def test_prints_a_readable_document(self):
        self.assert_prints("Curves", "Parallel coordinates", "Parameter importance", "Scatter", "Heat map", "Failures", "Devices over time",
                           "Table", "smallest loss", "learning_rate", "out of memory", "gamma 0.1")

    def test_permits_nothing_foreign(self):
        self.browser.js("""
            window.broken = 0;
            const image = document.createElement('img');
            image.setAttribute('onerror', 'window.broken = 1');
            image.src = 'http://127.0.0.1:9/x.png';
            document.body.append(image);
            const script = document.createElement('script');
            script.textContent = 'window.broken = 2';
            document.body.append(script);""")
        self.browser.settle()
        self.assertEqual(self.browser.js("return window.broken"), 0)
        self.assertTrue(all("Content Security Policy" in one or "ERR_" in one for one in self.browser.errors()))
        loaded = self.browser.js("return performance.getEntriesByType('resource').map((one) => one.name)")
        self.assertLessEqual(set(loaded), {"http://127.0.0.1:9/x.png"})  # tried by this test, and refused


class RunPage(OpenPage):
    def test_has_every_part(self):
        self.assertEqual(self.sections(), ["outcome", "failure", "curves", "startup", "lanes", "usage", "plan", "logs",
                                           "table"])
        self.browser.settle()
        for section in ("curves", "startup", "lanes", "usage"):
            self.assertTrue(self.is_painted(section), section)
        self.assertIn("worker.13 (rank 13) exited with code 7", self.browser.text("#failure"))
        self.assertIn("RuntimeError: shapes do not fit", self.browser.text("#failure"))
        self.assertIn("worker.0-12, 14-63", self.browser.text("#failure"))
        self.assertEqual(self.browser.js("return muster.page.model.data.run.lanes.length"), 64)
        self.assertEqual(self.browser.js(
            "return muster.page.model.data.run.lanes.filter((lane) => lane.verdict === 'origin').map((lane) => lane.name)"),
            ["worker.13"])
        self.assertEqual(self.browser.js("return muster.page.model.curves.get('loss').filter(Boolean).length"), 64)
        self.shoot("light")
        self.browser.emulate(prefers_color_scheme="dark")
        self.shoot("dark")
        self.browser.emulate()

    def test_shows_untrusted_texts_as_text(self):
        self.assertIn("</script><img src=x onerror=alert(1)>", self.browser.text("#logs pre"))
        self.assertIn("</script>", self.browser.js("return [...muster.page.model.metrics]"))
        self.assertEqual(self.browser.js("return document.images.length"), 0)
        self.assertEqual(self.browser.js("return document.querySelectorAll('main b').length"), 1)  # the role's name

    def test_explains_values_of_the_plan(self):
        self.browser.js("document.querySelectorAll('#plan details').forEach((one) => { one.open = true; })")
        self.browser.focus("#plan button[aria-label='explain PEER']")
        self.browser.keys("Enter")
        answer = self.browser.text("#plan .answer")
        self.assertIn("follows from the position of the process", answer)
        self.assertIn("worker.63: peer-63", answer)
        self.assertIn("muster explain", answer)
        self.assertNotIn("do-not-show", self.browser.js("return document.documentElement.innerHTML"))
        self.browser.focus("#plan button[aria-label='explain workers']")
        self.browser.keys("Enter")
        self.assertIn("command line", self.browser.text("#plan .answer"))

    def test_lights_one_process_everywhere(self):
        self.browser.focus("#failure button")
        self.browser.keys("Enter")
        self.assertEqual(self.browser.js("return muster.page.model.keys[muster.page.state.lit]"), "0:worker.13")
        self.assertEqual(self.browser.text("#table tr.lit td"), "worker.13")
        self.browser.keys("Escape")
        self.browser.focus("#lanes .lanes")
        self.browser.keys("Down", "Down")
        self.assertEqual(self.browser.text("#table tr.lit td"), "worker.1")

    def test_shows_the_usage_of_many_processes_as_a_band(self):
        self.assertEqual(self.browser.js("return [...document.querySelector('#usage select').options].map((one) => one.value)"),
                         ["cores", "memory"])
        low, high, median = self.browser.js("""
            const {low, high, median} = muster.page.model.data.run.usage.bands.memory; return [low, high, median]""")
        self.assertTrue(all(a <= b <= c for a, b, c in zip(low, median, high)))
        self.assertGreater(min(median), 0)  # one that is just being started has no memory yet
        self.browser.settle()
        self.assertIn("CPU cores of 64 processes over time", self.browser.js(
            "return document.querySelector('#usage .plot').getAttribute('aria-label')"))

    def test_filters_processes(self):
        self.browser.focus("#where")
        self.browser.keys(*"state == origin")
        self.assertEqual(self.shown(), 1)


class UsagePage(OpenPage):
    """A run of two processes: the first one has 64 MiB, the second one a device with 1,234 MiB in use."""

    def label(self):
        self.browser.settle()
        return self.browser.js("return document.querySelector('#usage .plot').getAttribute('aria-label')")

    def choose(self, kind):
        self.browser.js(f"""
            const select = document.querySelector('#usage select');
            select.value = '{kind}';
            select.dispatchEvent(new Event('change'));""")

    def test_has_a_line_for_each_process(self):
        self.assertIn("usage", self.sections())
        self.browser.settle()
        self.assertTrue(self.is_painted("usage"))
        self.assertRegex(self.label(), r"^CPU cores over time: worker.0 up to \S+, gpu.0 up to \S+$")
        self.choose("memory")
        self.assertIn("memory, MiB over time", self.label())
        self.assertTrue(self.is_painted("usage"))
        most = self.browser.js("return muster.page.model.data.run.usage.lines.map((line) => Math.max(...line.memory.values))")
        self.assertGreaterEqual(most[0], 64)
        self.assertLess(most[1], 64)
        self.choose("device")
        self.assertEqual(self.label(), "device memory, MiB over time: gpu.0 up to 1234")
        self.shoot("light")

    def test_follows_the_filter(self):
        self.browser.focus("#where")
        self.browser.keys(*"rank == 0")
        self.assertRegex(self.label(), r"^CPU cores over time: worker.0 up to \S+$")
        self.assertEqual(self.browser.text("#usage .legend"), "worker.0")

    def test_shows_the_values_under_the_pointer(self):
        self.browser.js("document.querySelector('#usage .plot').scrollIntoView({block: 'center'})")
        self.browser.settle()  # after scrolling the browser sends pointer events of its own, which remove a tip
        tip = self.browser.js("""
            const plot = document.querySelector('#usage .plot');
            const box = plot.getBoundingClientRect();
            for (let y = box.y; y < box.bottom && !document.querySelector('.tip div'); y += 5) {
              plot.dispatchEvent(new PointerEvent('pointermove', {clientX: box.right - 30, clientY: y}));
            }
            return document.querySelector('.tip').innerText""")
        self.assertIn(": CPU cores ", tip)

    def test_takes_new_samples(self):
        self.browser.js("""
            const run = JSON.parse(JSON.stringify(muster.page.model.data.run));
            run.usage.lines[0].cores = {at: [1, 2], values: [0.5, 77]};
            muster.update({run});""")
        self.assertIn("worker.0 up to 77", self.label())


class ComparePage(OpenPage):
    def test_has_differences_first(self):
        self.assertEqual(self.sections()[:2], ["summary", "differences"])
        rows = self.browser.js("""return [...document.querySelectorAll('#differences > table tbody tr')]
            .map((row) => [...row.children].map((cell) => cell.innerText))""")
        self.assertIn(["loss_scale", "1", "2"], rows)
        self.assertFalse([row for row in rows if row[0] == "steps"])
        self.assertEqual(self.browser.js("return muster.page.model.curves.get('loss').filter(Boolean).length"), 2)
        self.assertEqual(self.browser.js("return muster.page.state.colourBy"), "source")
        self.browser.settle()
        self.assertTrue(self.is_painted("curves"))
        self.shoot("light")


class ObjectivesPage(OpenPage):
    """Two sweeps, the smallest loss and the largest accuracy, of trials with one report each; some have failed."""

    def test_ranks_each_objective_by_itself(self):
        titles = self.browser.js("return [...document.querySelectorAll('#summary h3')].map((one) => one.innerText)")
        self.assertIn("Best trials, smallest loss", titles)
        self.assertIn("Best trials, largest accuracy", titles)
        columns = self.browser.js("return muster.page.model.columns.map((column) => column.name)")
        self.assertNotIn("value", columns)
        for table, better in (("smallest loss", "<="), ("largest accuracy", ">=")):
            numbers = self.browser.js(f"""
                const table = document.querySelector('table[aria-label="best trials, {table}"]');
                const rows = [...table.querySelectorAll('tbody tr')].map((line) => Number(line.dataset.row));
                const {{ column }} = muster.page.model.rankings().find((one) => one.scale === "{table}");
                return rows.map((row) => [muster.page.model.column("state").text(row), column.numbers[row]])""")
            self.assertEqual({state for state, _ in numbers}, {"ok"})
            values = [value for _, value in numbers]
            self.assertEqual(values, sorted(values, reverse=better == ">="))
            self.assertEqual(len(values), 8)
        self.assertIn("and", self.browser.text("#summary .hint"))

    def test_puts_the_devices_of_both_on_one_clock(self):
        foot = self.browser.text("#devices .hint")
        self.assertTrue(foot.startswith("5 lanes, "), foot)  # five hosts, used by one sweep an hour after the other
        self.assertIn("of 1 h 1 min", foot)

    def test_draws_a_dot_for_a_single_report(self):
        self.browser.settle()
        self.assertTrue(self.is_painted("curves"))
        self.assertTrue(self.is_painted("parallel"))
        self.shoot("light")


if __name__ == "__main__":
    run_tests({"objectives": ObjectivesPage, "sweep": SweepPage, "run": RunPage, "usage": UsagePage, "compare": ComparePage})
