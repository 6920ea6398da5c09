#!/usr/bin/env python3
"""usage: samplers_plot.py OUTPUT [SVG]

Reads what `samplers` printed, writes its regrets as tables of Markdown to standard output, and as a plot
to SVG (docs/sweeps-strategies.svg is one).
"""

import math
import pathlib
import re
import sys

NUMBERS = r"[\d.e+-]+(?: \([^)]*\))?"
ROW = re.compile(rf"^    (?P<label>\S.*?)\s{{2,}}(?P<values>{NUMBERS}(?:\s+{NUMBERS}){{2}})\s*$")
VALUE = re.compile(r"([\d.e+-]+)(?: \(([\d.e+-]+)/([\d.e+-]+)\))?")
TRIALS = (25, 50, 100)
LINES = {  # label: colour, dashes; of the sequential samplers
    "random": ("#888888", ""), "Sobol": ("#c58b00", ""), "TPE": ("#0b6cc4", ""), "GP": ("#c4240b", ""),
    "Optuna 5, group": ("#0b6cc4", "4 3"), "Optuna 4, group": ("#2c9c8f", "4 3"),
    "Optuna 5, GP": ("#c4240b", "4 3")}


def regrets(text):
    """{function: {label: [(median, first quartile, third quartile) by number of trials]}}"""
    found, function = {}, None
    for line in text.splitlines():
        if re.match(r"  \S", line):
            function = line.strip().split(": regret")[0]
        elif (row := ROW.match(line)) and function and "milliseconds" not in function:
            values = [value.groups() for value in VALUE.finditer(row["values"])]
            found.setdefault(function, {})[row["label"]] = [
                tuple(float(n) if n else None for n in value) for value in values]
    return {name: rows for name, rows in found.items() if rows}


def short(number):
    if number >= 1000:
        return f"{number:.0f}"
    return f"{number:.3g}".replace("e-0", "e-")


def cell(value):
    median, low, high = value
    return short(median) if low is None else f"{short(median)} ({low:g}/{high:g})"


def table(name, rows):
    lines = [f"| {name} | 25 trials | 50 trials | 100 trials |", "| --- | --- | --- | --- |"]
    lines += [f"| {label} | " + " | ".join(map(cell, values)) + " |" for label, values in rows.items()]
    return "\n".join(lines)


class Panel:
    """A function's regrets: trials across, regret upwards, both logarithmic."""

    WIDTH, HEIGHT = 210, 170

    def __init__(self, left, top, rows):
        self.left, self.top, self.rows = left, top, rows
        numbers = [n for values in rows.values() for value in values for n in value if n]
        self.low, self.high = math.log10(min(numbers)) - .1, math.log10(max(numbers)) + .1

    def x(self, trials):
        share = math.log(trials / TRIALS[0]) / math.log(TRIALS[-1] / TRIALS[0])
        return self.left + 20 + (self.WIDTH - 40) * share

    def y(self, regret):
        share = (math.log10(regret) - self.low) / (self.high - self.low)
        return self.top + self.HEIGHT - share * self.HEIGHT

    def marks(self, name):
        yield (f'<rect x="{self.left}" y="{self.top}" width="{self.WIDTH}" height="{self.HEIGHT}" '
               f'fill="none" stroke="#bbb"/>'
               f'<text x="{self.left}" y="{self.top - 5}" font-weight="bold">{name}</text>')
        step = max(1, math.ceil((self.high - self.low) / 5))
        powers = range(math.ceil(self.low), math.floor(self.high) + 1, step)
        ticks = [10.0 ** power for power in powers]
        if len(ticks) < 2:  # of less than a decade
            ticks = [10 ** (self.low + share * (self.high - self.low)) for share in (.1, .5, .9)]
        for tick in ticks:
            y, label = self.y(tick), f"{float(f'{tick:.2g}'):g}"
            yield (f'<path d="M{self.left} {y:.1f}h{self.WIDTH}" stroke="#eee"/>'
                   f'<text x="{self.left - 4}" y="{y + 3:.1f}" text-anchor="end">{label}</text>')
        for trials in TRIALS:
            yield (f'<text x="{self.x(trials):.1f}" y="{self.top + self.HEIGHT + 12}" '
                   f'text-anchor="middle">{trials}</text>')

    def curve(self, label):
        colour, dashes = LINES[label]
        offset = 3 * (list(LINES).index(label) - 1.5)  # bars of quartiles beside each other
        points = [(self.x(trials) + offset, value) for trials, value in zip(TRIALS, self.rows[label])]
        path = "L".join(f"{x:.1f} {self.y(value[0]):.1f}" for x, value in points)
        yield (f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5" '
               f'stroke-dasharray="{dashes}"/>')
        for x, (_, low, high) in points:
            if low and high:
                yield (f'<path d="M{x:.1f} {self.y(low):.1f}V{self.y(high):.1f}" stroke="{colour}" '
                       f'stroke-opacity=".5"/>')


def plot(functions):
    columns, gap, rows = 3, 62, math.ceil(len(functions) / 3)
    width, height = columns * (Panel.WIDTH + gap) + 10, rows * (Panel.HEIGHT + 45) + 10
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="9"><title>Regret by trials</title>'
             '<rect width="100%" height="100%" fill="#fff"/>']
    for i, (name, values) in enumerate(functions.items()):
        left, top = gap - 10 + i % columns * (Panel.WIDTH + gap), 25 + i // columns * (Panel.HEIGHT + 45)
        panel = Panel(left, top, values)
        parts += panel.marks(name)
        for label in LINES:
            if label in values:
                parts += panel.curve(label)
    left, top = width - 2 * (Panel.WIDTH + gap) + gap - 10, height - Panel.HEIGHT - 10
    for i, (label, (colour, dashes)) in enumerate(LINES.items()):
        y = top + 16 * i
        parts.append(f'<path d="M{left} {y}h30" stroke="{colour}" stroke-width="1.5" '
                     f'stroke-dasharray="{dashes}"/>'
                     f'<text x="{left + 36}" y="{y + 3}">{label}</text>')
    note = "Across: trials. Upwards: median regret, with quartiles of the samplers here."
    parts.append(f'<text x="{left}" y="{top + 16 * len(LINES) + 8}">{note}</text></svg>')
    return "\n".join(parts) + "\n"


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    functions = regrets(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    print("\n\n".join(table(name, rows) for name, rows in functions.items()))
    if len(sys.argv) == 3:
        sequential = {name: {label: row for label, row in rows.items() if label in LINES}
                      for name, rows in functions.items() if "Optuna 5" in rows}
        pathlib.Path(sys.argv[2]).write_text(plot(sequential), encoding="utf-8")


if __name__ == "__main__":
    main()
