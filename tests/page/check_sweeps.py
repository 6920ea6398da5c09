#!/usr/bin/env python3
"""Opens the page of one of the example sweeps in Chromium: check_sweeps.py KIND PAGE SCREENSHOTS (tests/page/example_sweeps.py)."""

import base64
import bisect
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from example_sweeps import SHARD, reports_of_smooth  # noqa: E402
from open_page import KIND, SCREENSHOTS, OpenPage, run_tests  # noqa: E402

# Draws all plots again, and returns each text with its box in the plot: [plot, text, left, top, right, bottom, layer].
LABELS = """
    const done = arguments[0];
    const texts = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      const size = this.measureText(text);
      const matrix = this.getTransform();
      const corners = [[x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent],
                       [x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent]]
        .map(([px, py]) => matrix.transformPoint(new DOMPoint(px, py)));
      const xs = corners.map((corner) => corner.x), ys = corners.map((corner) => corner.y);
      const plots = [...document.querySelectorAll('.plot')];
      texts.push([plots.indexOf(this.canvas.parentElement), text, Math.min(...xs), Math.min(...ys), Math.max(...xs),
                  Math.max(...ys), this.canvas.parentElement.closest('section').id, this.canvas.width, this.canvas.height]);
      fillText.call(this, text, x, y);
    };
    muster.page.state.emit('theme');
    setTimeout(() => {
      CanvasRenderingContext2D.prototype.fillText = fillText;
      done(texts);
    }, 400);"""


class ExamplePage(OpenPage):
    """What holds for the page of every sweep."""

    def labels(self):
        return self.browser.call("/execute/async", args=[], script=LABELS)

    def texts(self, section):
        return [label[1] for label in self.labels() if label[6] == section]

    def column(self, name):
        return self.browser.js(f"return [...muster.page.model.column({name!r}).values]")

    def rows(self, css):
        return self.browser.js(f"""return [...document.querySelectorAll({css!r})]
            .map((row) => [...row.children].map((cell) => cell.innerText))""")

    def width(self, width):
        self.browser.cdp("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        self.browser.settle()

    def address(self, *names):
        """The address, once it has all these names."""
        for _ in range(100):
            address = self.browser.js("return location.href")
            if all(f"{name}=" in address for name in names):
                return address
            time.sleep(0.05)
        self.fail(f"{address} lacks one of {names}")

    def open_again(self, address):
        self.browser.call("/url", url="about:blank")
        self.browser.open(address.replace("file://", "", 1))

    def check_labels(self, where):
        labels = self.labels()
        for i, (plot, text, left, top, right, bottom, section, width, height) in enumerate(labels):
            self.assertTrue(left >= -1 and top >= -1 and right <= width + 1 and bottom <= height + 1,
                            f"{where}: {text!r} of {section} is cut off: {left:.0f} to {right:.0f} of {width}")
            for other in labels[:i]:
                if other[0] != plot or section == "devices":
                    continue
                across = min(right, other[4]) - max(left, other[2])
                down = min(bottom, other[5]) - max(top, other[3])
                self.assertFalse(across > 1 and down > 1 and (text, left, top) != (other[1], other[2], other[3]),
                                 f"{where}: {text!r} and {other[1]!r} of {section} overlap")

    def check_rows_are_full(self, where):
        holes = self.browser.js("""
            const { right } = document.querySelector('main').getBoundingClientRect();
            const sections = [...document.querySelectorAll('main > section')].map((one) => [one.id, one.getBoundingClientRect()]);
            return sections.filter(([, box]) => box.right < right - 2 &&
              !sections.some(([, other]) => Math.abs(other.top - box.top) < 1 && Math.abs(other.height - box.height) < 1 && other.left > box.left))
              .map(([id]) => id)""")
        self.assertEqual(holes, [], where)

    def test_fits_at_both_widths_light_and_dark(self):
        self.addCleanup(lambda: self.browser.cdp("Emulation.clearDeviceMetricsOverride"))
        self.addCleanup(self.browser.emulate)
        for width in (1400, 800):
            self.width(width)
            for scheme in ("light", "dark"):
                where = f"{KIND} at {width}, {scheme}"
                self.browser.emulate(prefers_color_scheme=scheme)
                self.assertLessEqual(self.browser.js("return document.documentElement.scrollWidth"), width, where)
                self.check_rows_are_full(where)
                self.check_labels(where)
                self.shoot_small(f"{width}-{scheme}", width)

    def shoot_small(self, name, width):
        """The whole page at half its size."""
        height = self.browser.js("return document.documentElement.scrollHeight")
        self.browser.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=0.5, mobile=False)
        self.browser.settle()  # plots are drawn again
        with open(os.path.join(SCREENSHOTS, f"{KIND}-{name}.png"), "wb") as file:
            file.write(base64.b64decode(self.browser.call("/screenshot", "GET")))
        self.width(width)


class OnePage(ExamplePage):
    def test_says_what_was_run_of_a_single_trial(self):
        self.assertIn("muster sweep one.lua", self.browser.text("#setup"))
        self.assertIn("space: lr", self.browser.text("#setup"))
        self.assertEqual(self.browser.text("h1 .chip"), "complete")


class NonePage(ExamplePage):
    def test_is_a_page_of_then(self):
        self.assertEqual(self.browser.text("#live"), "running when this page was made")
        self.assertNotIn("live", self.browser.text("header").split())
        self.assertIn("0 of 4 ended", self.browser.text("#summary"))
        self.assertIn("no trial has succeeded", self.browser.text("#summary"))
        self.assertRegex(self.browser.text("#curves"), r"\n[12] points?$")  # a dot for each trial that has begun
        self.assertNotIn("sum over ended trials", self.browser.text("#summary"))

    def test_has_no_empty_frame(self):
        self.browser.js("muster.page.state.setWhere('k == 99')")
        self.browser.settle()
        self.assertIn("no loss was reported by the rows that are shown", self.browser.text("#curves"))
        self.assertEqual(self.browser.js("return document.querySelector('#curves .plot').offsetHeight"), 0)
        self.browser.js("muster.page.state.setWhere('')")
        self.browser.settle()
        self.assertTrue(self.is_painted("curves"))


class FailedPage(ExamplePage):
    def test_is_not_green(self):
        self.assertEqual(self.browser.text("h1 .chip"), "all failed")
        colours = self.browser.js("return [document.querySelector('h1 .chip').style.getPropertyValue('--chip'), muster.stateColour('ok')]")
        self.assertNotEqual(*colours)
        self.assertIn("8 of 8 ended trials failed (100 %)", self.browser.text("#failures"))

    def test_marks_values_that_are_not_finite_inside_of_the_frame(self):
        self.assertIn("8 values not finite, marked ×", self.browser.text("#curves"))
        self.assertEqual(self.browser.js("""
            const { canvas } = document.querySelector('#curves canvas').getContext('2d');
            const pixels = canvas.getContext('2d').getImageData(0, 10, canvas.width, 16).data;
            const colour = d3.rgb(muster.page.state.colours[0]);
            let [low, high] = [Infinity, -Infinity];
            for (let i = 0; i < pixels.length; i += 4) {
              if (Math.abs(pixels[i] - colour.r) + Math.abs(pixels[i + 1] - colour.g) + Math.abs(pixels[i + 2] - colour.b) > 12 || pixels[i + 3] < 99) continue;
              const x = (i / 4) % canvas.width;
              [low, high] = [Math.min(low, x), Math.max(high, x)];
            }
            return high - low >= 6 && low >= 76 && high <= canvas.width - 16"""), True)


class ConditionalPage(ExamplePage):
    def test_has_the_exact_ends_of_the_space_in_the_heat_map(self):
        ends = self.browser.js("return muster.cellsOf(muster.page.model.column('hidden')).ends")
        self.assertEqual((ends[0], ends[-1], len(ends)), ("4", "128", 9))

    def test_has_three_texts_at_least_on_logarithmic_axes(self):
        ticks = self.browser.js("""
            const texts = (low, high) => muster.ticksOf(d3.scaleLog([low, high], [0, 300]), null, 34).map(([, text]) => text).filter(Boolean);
            return [[8, 256], [4, 128], [1e-4, 3], [100, 9000], [1, 10], [3, 40], [2, 4], [8, 9], [1e-9, 1e9], [0.05, 0.06]].map((ends) => texts(...ends))""")
        self.assertEqual(ticks[0], ["10", "20", "50", "100", "200"])
        for one in ticks:
            self.assertGreaterEqual(len(one), 3, one)
        batch = [text for text in self.texts("parallel") if text in ("10", "20", "50", "100", "200")]
        self.assertGreaterEqual(len(batch), 3)

    def test_has_whole_steps(self):
        self.assertTrue(all(text.isdigit() for text in self.texts("curves") if text.replace(".", "").isdigit() and "." not in text))
        steps = self.browser.js("return muster.ticksOf(d3.scaleLinear([1, 3], [0, 600]), null, 70, true).map(([, text]) => text)")
        self.assertEqual(steps, ["1", "2", "3"])

    def test_has_a_place_for_trials_without_a_parameter(self):
        self.assertIn("none", self.texts("parallel"))


class LongPage(ExamplePage):
    def test_shortens_paths_in_the_middle(self):
        shown = self.browser.js("""return [...document.querySelectorAll('#summary tbody td')].map((cell) => cell.innerText)""")
        paths = {text for text in shown if "shard-0000" in text}
        self.assertTrue(paths)
        for most in (8, 12, 32, 60):
            short = self.browser.call("/execute/sync", args=[[SHARD % 1, SHARD % 2], most], script="""
                return arguments[0].map((path) => muster.page.model.column('data').short(path, arguments[1]))""")
            self.assertNotEqual(*short)
            self.assertLessEqual(max(map(len, short)), most)
        self.assertEqual(self.browser.js("return muster.shortened('abcdefghij', 5)"), "ab…ij")
        parallel = {text for text in self.texts("parallel") if "00001" in text or "00002" in text}
        self.assertEqual(len(parallel), 2, parallel)

    def test_has_rows_of_one_line(self):
        heights = self.browser.js("return [...document.querySelectorAll('#summary tbody tr')].map((row) => row.offsetHeight)")
        self.assertLess(max(heights), 40)


class ObjectivesPage(ExamplePage):
    def test_ranks_each_objective_by_itself(self):
        first = self.browser.js("""return [...document.querySelectorAll('#summary table')]
            .map((table) => [table.getAttribute('aria-label'), table.querySelector('tbody tr').innerText.split('\\t')])""")
        self.assertEqual(first, [["best trials, smallest loss", ["0", "0.95", "0"]], ["best trials, largest acc", ["5", "0.5", "5"]]])


class RepeatedPage(ExamplePage):
    def test_lists_points_with_their_repetitions(self):
        values = {}
        for trial, k, value in zip(self.column("trial"), self.column("k"), self.column("value")):
            values.setdefault(k, {})[trial] = value
        rows = self.rows("#points tbody tr")
        self.assertEqual([row[0] for row in rows], ["k 1", "k 2", "k 9"])
        for row, k in zip(rows, (1, 2, 9)):
            own = list(values[k].values())
            self.assertAlmostEqual(float(row[1]), statistics.fmean(own), places=4)
            self.assertAlmostEqual(float(row[2].removeprefix("± ")), statistics.stdev(own), delta=0.05 * statistics.stdev(own))
            self.assertEqual(row[3].split("\n")[0], "3 of 3")
        self.browser.js("document.querySelector('#points details').open = true")
        trials = self.browser.js("return [...document.querySelectorAll('#points tr:first-child li')].map((one) => one.innerText)")
        self.assertEqual(trials, [f"trial {trial}: ok, {value:g}" for trial, value in sorted(values[1].items())])
        self.browser.js("muster.update({ sources: muster.page.model.sources })")
        self.browser.settle()
        self.assertTrue(self.browser.js("return document.querySelector('#points details').open"), "it stays open")

    def test_keeps_the_trial_under_the_pointer_lit(self):
        self.browser.js("document.querySelector('#points details').open = true")
        self.browser.js("document.querySelector('#points li').click()")
        self.assertEqual(self.browser.js("return muster.page.state.pinned"), True)


class SeedsPage(ExamplePage):
    def average(self):
        self.browser.js("""
            const select = document.querySelector('#curves select[aria-label="mean over"]');
            select.value = 'seed';
            select.dispatchEvent(new Event('change'));""")
        self.browser.settle()

    def groups(self):
        groups = {}
        for rate, width, value in zip(self.column("lr"), self.column("width"), self.column("value")):
            groups.setdefault(f"lr {rate:g}, width {width}", []).append(value)
        return groups

    def test_has_the_means_over_a_parameter(self):
        self.average()
        groups = self.groups()
        self.assertEqual({len(one) for one in groups.values()}, {5})
        table = self.rows("table[aria-label='best means over seed'] tbody tr")
        self.assertEqual([row[0] for row in table], sorted(groups, key=lambda name: statistics.fmean(groups[name])))
        for name, mean, deviation, trials, best in table:
            self.assertAlmostEqual(float(mean), statistics.fmean(groups[name]), places=4)
            self.assertAlmostEqual(float(deviation.removeprefix("± ")), statistics.stdev(groups[name]), delta=0.05 * statistics.stdev(groups[name]))
            self.assertEqual((trials, float(best)), ("5", round(min(groups[name]), 5)))
        self.assertIn("6 means over seed", self.browser.js("return document.querySelector('#curves .plot').getAttribute('aria-label')"))
        self.assertIn("means over seed of 5 curves, the band is ± their standard deviation", self.browser.text("#curves"))

    def test_has_the_mean_curve_of_each_group(self):
        curves = self.browser.js("""
            const { model } = muster.page;
            return muster.groupsOf(model, d3.range(model.count), 'seed').map(({ rows, name }) => {
              const all = rows.map((row) => model.curves.get('loss')[row]);
              const { x, y, deviation, n } = muster.meanCurve(all);
              return [name, [...x], y, deviation, n, all.map((one) => [...one.y])];
            })""")
        self.assertEqual({one[0] for one in curves}, set(self.groups()))
        for _, x, y, deviation, n, members in curves:
            self.assertEqual((x, set(n)), (list(range(1, 31)), {5}))
            for i, values in enumerate(zip(*members)):
                self.assertAlmostEqual(y[i], statistics.fmean(values), places=6)
                self.assertAlmostEqual(deviation[i], statistics.stdev(values), places=6)

    def test_means_curves_of_different_steps(self):
        mean = self.browser.js("""
            const { x, y, deviation, n } = muster.meanCurve([{ x: [1, 3], y: [1, 3] }, { x: [2, 3, 4], y: [4, 5, NaN] }, { x: [3, 1], y: [7, 7] }]);
            return [[...x], y, deviation.map(String), n]""")
        self.assertEqual(mean[0], [1, 2, 3])
        self.assertEqual(mean[1], [4, 13 / 3, 5])
        self.assertEqual(mean[3], [2, 3, 3])
        self.assertEqual(self.browser.js("return muster.meanCurve([{ x: [1], y: [5] }]).deviation.map(String)"), ["NaN"])

    def test_has_no_band_of_a_single_trial(self):
        self.browser.js("muster.page.state.setWhere('seed == 1 and lr == 0.01')")
        self.average()
        table = self.rows("table[aria-label='best means over seed'] tbody tr")
        self.assertEqual([row[2:4] for row in table], [["–", "1"], ["–", "1"]])
        self.assertIn("2 curves without others", self.browser.text("#curves"))
        self.assertNotIn("±", self.browser.text("#curves"))

    def test_names_a_group_at_the_pointer(self):
        self.average()
        self.browser.js("document.querySelector('#curves .plot').scrollIntoView({block: 'center'})")
        self.browser.settle()
        tip = self.browser.js("""
            const plot = document.querySelector('#curves .plot');
            const box = plot.getBoundingClientRect();
            for (let y = box.y; y < box.bottom && !(document.querySelector('.tip') || {}).innerText; y += 3) {
              plot.dispatchEvent(new PointerEvent('pointermove', { clientX: box.right - 40, clientY: y }));
            }
            return document.querySelector('.tip').innerText""")
        self.assertRegex(tip, r"^lr \S+, width \d+\nstep \d+: loss \S+ ± \S+\n5 curves of 5\ntrial ")

    def test_keeps_the_parameter_in_the_address(self):
        self.average()
        self.open_again(self.address("mean"))
        self.assertEqual(self.browser.js("return muster.page.state.meanOver"), "seed")
        self.assertIn("best means over seed", self.browser.js(
            "return [...document.querySelectorAll('#history table')].map((table) => table.getAttribute('aria-label'))"))
        self.browser.js("muster.page.state.setMeanOver('')")
        self.browser.settle()
        self.assertNotIn("±", self.browser.text("#curves"))

    def test_applies_the_filter_to_the_best_trials(self):
        self.browser.focus("#where")
        self.browser.keys(*"width == 8")
        values = sorted(value for value, width in zip(self.column("value"), self.column("width")) if width == 8)
        shown = [float(row[1]) for row in self.rows("#summary tbody tr")]
        self.assertEqual(shown, [round(value, 5) for value in values[:8]])
        self.assertIn("and 7 more; of the trials that the filter and the ranges select", self.browser.text("#summary .scrolls"))
        self.browser.js("muster.page.state.setWhere('width == 9')")
        self.assertIn("none of the trials", self.browser.text("#summary .scrolls"))
        self.browser.js("muster.page.state.setWhere(''); muster.page.state.setBrush('lr', { low: 0.02, high: 1 })")
        self.assertEqual({row[2] for row in self.rows("#summary tbody tr")}, {"0.03"})


class ResumedPage(ExamplePage):
    def test_has_the_whole_curve_of_a_trial_that_continued(self):
        self.assertEqual(self.browser.js("const curve = muster.page.model.curves.get('loss')[1]; return [[...curve.x], curve.starts]"),
                         [list(range(1, 13)), [6]])
        self.assertEqual(self.column("attempt"), [1, 2, 1, 1])


class SinglePage(ExamplePage):
    def test_draws_dots(self):
        self.browser.settle()
        self.assertTrue(self.is_painted("curves"))
        self.assertIn("40 points", self.browser.text("#curves .hint"))


class SmoothPage(ExamplePage):
    """100,000 reports of each trial; trial 1 has a spike at step 77,777."""

    def test_smooths_over_all_reports(self):
        reports = reports_of_smooth(1)
        for weight in (0.5, 0.89, 0.99):
            exact, last = [], 0
            for i, value in enumerate(reports, 1):
                last = last * weight + (1 - weight) * round(value, 6)
                exact.append(last / (1 - weight ** i))
            x, y, total = self.browser.js(f"""
                const curve = muster.page.model.curves.get('loss')[1];
                return [[...curve.x], [...muster.smooth(curve.y, {weight}, curve)], curve.total]""")
            self.assertEqual(total, 100_000)
            self.assertLess(len(x), 2001)
            self.assertLess(max(abs(value - exact[int(step) - 1]) for step, value in zip(x, y)), 0.05)  # the noise's deviation
            after = bisect.bisect(x, 79_000)
            part = (79_000 - x[after - 1]) / (x[after] - x[after - 1])
            self.assertLess(abs(y[after - 1] * (1 - part) + y[after] * part - exact[78_999]), 0.05)
        self.assertIn(77_777, x)

    def test_has_the_last_tick_as_a_whole(self):
        labels = [label for label in self.labels() if label[6] == "curves" and label[1] == "100000"]
        self.assertEqual(len(labels), 1)
        _, _, left, _, right, _, _, width, _ = labels[0]
        self.assertTrue(0 <= left < right <= width)

    def test_says_how_many_points_there_were(self):
        self.assertIn("200,000 points, shown by the smallest and largest of each interval", self.browser.text("#curves"))


class MedianPage(ExamplePage):
    def test_has_the_median_of_an_even_number(self):
        self.assertIn("3.5 median", self.browser.text(".colours + *, .filter"))
        self.assertEqual(self.browser.js("return muster.page.state.legend.middle"), statistics.median(self.column("value")))

    def test_has_the_median_of_other_numbers(self):
        """Of 60 and 150 numbers with different values around the middle."""
        for count, expected in ((60, 1.4459), (150, 1.2217)):
            values = [i / 100 for i in range(count // 2 - 1)] + [expected - 0.01, expected + 0.01] + [3 + i for i in range(count // 2 - 1)]
            self.assertEqual(round(statistics.median(values), 4), expected)
            middle = self.browser.call("/execute/sync", args=[values], script="""
                const { model, state } = muster.page;
                const column = model.column('value');
                column.values = arguments[0];
                column.refresh();
                state.paint();
                return state.legend.middle""")
            self.assertAlmostEqual(middle, expected)


class StoppedPage(ExamplePage):
    def test_has_what_the_median_rule_stopped(self):
        self.assertIn("median, ", self.browser.text("#rungs"))
        self.assertIn("1 trial stopped early, and when", self.browser.text("#rungs"))
        self.browser.js("document.querySelector('#rungs details').open = true")
        self.assertRegex(self.browser.text("#rungs ul"), r"^trial 4: .*median")

    def test_has_the_reasons_of_impossible_points_without_failures(self):
        self.assertIn("0 of 5 ended trials failed", self.browser.text("#failures"))
        self.assertIn("2 impossible points", self.browser.text("#failures"))
        self.assertIn("k is too large", self.browser.text("#failures"))

    def test_says_that_times_are_a_sum(self):
        self.assertIn("sum over ended trials", self.browser.text("#summary"))


class ChoicesPage(ExamplePage):
    def test_has_all_failures(self):
        self.assertIn("6 of 48 ended trials failed", self.browser.text("#failures"))
        self.assertEqual([row[1] for row in self.rows("#failures tbody tr")], ["mode03", "mode07"])

    def test_has_sixteen_choices_beside_one_another(self):
        self.browser.js("""
            const select = document.querySelector('#heatmap select[aria-label="x"]');
            select.value = 'mode';
            select.dispatchEvent(new Event('change'));""")
        self.check_labels("heat map")
        self.assertGreater(len([text for text in self.texts("heatmap") if text.startswith("mode")]), 5)


class SignsPage(ExamplePage):
    def choose(self, axis, name):
        self.browser.js(f"""
            const select = document.querySelector('#scatter select[aria-label="{axis}"]');
            select.value = '{name}';
            select.dispatchEvent(new Event('change'));""")

    def check(self, section, label):
        self.browser.js(f"""[...document.querySelectorAll('#{section} label.check')]
            .find((one) => one.innerText === {label!r}).querySelector('input').click()""")
        self.browser.settle()

    def test_has_logarithmic_axes_of_metrics(self):
        self.choose("y", "gap")
        self.check("scatter", "log gap")
        self.assertIn("4 points", self.browser.text("#scatter .hint"))
        self.assertIn("and 4 with a gap that is not above 0", self.browser.text("#scatter .hint"))
        self.check("parallel", "log loss")
        self.assertTrue(self.browser.js("return muster.page.model.column('value').logarithmic"))
        self.assertTrue({"0.001", "0.01", "0.1", "1", "10", "100", "1000", "10000"} <= set(self.texts("parallel")))
        self.open_again(self.address("log", "y"))
        self.browser.settle()
        self.assertEqual(self.browser.js("return ['value', 'gap'].map((name) => muster.page.model.column(name).logarithmic)"), [True, True])
        self.assertIn("and 4 with a gap that is not above 0", self.browser.text("#scatter .hint"))
        self.check("history", "log loss")
        self.assertFalse(self.browser.js("return muster.page.model.column('value').logarithmic"))

    def test_has_a_place_for_results_that_are_not_above_zero(self):
        self.browser.js("""
            const column = muster.page.model.column('value');
            column.values[0] = -1;
            column.values[1] = 0;
            muster.update({});""")
        self.browser.js("muster.page.model.column('value').refresh()")
        self.check("parallel", "log loss")
        self.assertIn("and 2 with a loss that is not above 0", self.browser.text("#parallel"))
        self.assertIn("≤ 0", self.texts("parallel"))
        self.assertIn("and 2 with a loss that is not above 0", self.browser.text("#history"))


class ManyPage(ExamplePage):
    def test_shows_all_of_them(self):
        self.assertEqual(self.shown(), 3000)


if __name__ == "__main__":
    run_tests({name[:-4].lower(): one for name, one in globals().items() if name.endswith("Page")})
