"""What a notebook shows: the page of `muster report --html`, or a summary made here if that is too large.

Everything is shown inside a frame with its own origin. Values come from programs and are escaped.
"""

import html
import os
import tempfile

from .command import Error, call

_MOST_ROWS = 200
_MOST_CURVES = 8
_MOST_POINTS = 400
_LARGEST_PAGE = 8 << 20  # bytes; a notebook stores what it shows
_COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8e5aa8", "#c77d0a", "#2b9a9a", "#7a5230", "#6b7280")
_STYLE = """<meta charset="utf-8"><style>
:root{color-scheme:light dark}body{font:13px system-ui,sans-serif;margin:8px}
table{border-collapse:collapse}td,th{padding:2px 10px 2px 0;text-align:left;white-space:nowrap}
th{border-bottom:1px solid}h1{font-size:15px;margin:0 0 6px}p{margin:4px 0}
</style>"""


def frame(content, height, scripts=False):
    """`content`, a page, in a frame that shares nothing with the notebook."""
    allowed = "allow-scripts" if scripts else ""
    return ('<iframe sandbox="%s" srcdoc="%s" style="width:100%%;height:%dpx;border:0"></iframe>'
            % (allowed, html.escape(content if scripts else _STYLE + content, quote=True), height))


def page(path):
    """The page of `muster report --html` in a frame; None if the program writes none, or too large a one."""
    with tempfile.TemporaryDirectory(prefix="muster-page-") as folder:
        file = os.path.join(folder, "page.html")
        try:
            call(["report", path, "--html", file])
            with open(file, encoding="utf-8") as written:
                text = written.read(_LARGEST_PAGE + 1)
        except (Error, OSError, UnicodeDecodeError):
            return None
    return frame(text, 700, scripts=True) if len(text) <= _LARGEST_PAGE else None


def table(columns, rows):
    """A table of HTML; the first rows if there are many."""
    parts = ["<table><tr>"] + ["<th>%s</th>" % html.escape(name) for name in columns] + ["</tr>"]
    for row in rows[:_MOST_ROWS]:
        parts.append("<tr>%s</tr>" % "".join("<td>%s</td>" % _cell(row.get(name)) for name in columns))
    parts.append("</table>")
    if len(rows) > _MOST_ROWS:
        parts.append("<p>%d of %d rows</p>" % (_MOST_ROWS, len(rows)))
    return "".join(parts)


def heading(text):
    return "<h1>%s</h1>" % html.escape(text)


def curves(series, label):
    """Lines as SVG. `series`: (name, [(x, y)]) with numbers; the first of many."""
    series = [(name, _thinned([point for point in points if _is_number(point[0]) and _is_number(point[1])]))
              for name, points in series[:_MOST_CURVES]]
    series = [(name, points) for name, points in series if points]
    if not series:
        return ""
    width, height, left, top = 560, 220, 60, 10
    xs = _ends([x for _, points in series for x, _ in points])
    ys = _ends([y for _, points in series for _, y in points])

    def place(point):
        return "%.1f,%.1f" % (left + (point[0] - xs[0]) / (xs[1] - xs[0]) * width,
                              top + (ys[1] - point[1]) / (ys[1] - ys[0]) * height)

    parts = ['<svg role="img" aria-label="%s" viewBox="0 0 760 270" width="760" height="270" font-size="11">'
             % html.escape(label, quote=True),
             '<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="currentColor" opacity=".3"/>'
             % (left, top, width, height)]
    text = '<text x="%d" y="%d" text-anchor="%s" fill="currentColor">%s</text>'
    for x, y, anchor, value in ((left, 250, "start", xs[0]), (left + width, 250, "end", xs[1]),
                                (left - 4, top + height, "end", ys[0]), (left - 4, top + 10, "end", ys[1])):
        parts.append(text % (x, y, anchor, "%.4g" % value))
    parts.append(text % (left + width // 2, 264, "middle", html.escape(label)))
    for number, (name, points) in enumerate(series):
        colour = _COLOURS[number % len(_COLOURS)]
        if len(points) == 1:
            x, y = place(points[0]).split(",")
            parts.append('<circle cx="%s" cy="%s" r="3" fill="%s"/>' % (x, y, colour))
        parts.append('<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>'
                     % (colour, " ".join(place(point) for point in points)))
        parts.append('<text x="%d" y="%d" fill="%s">%s</text>'
                     % (left + width + 8, top + 12 + 16 * number, colour, html.escape(name)))
    return "".join(parts) + "</svg>"


def _thinned(points):
    """At most _MOST_POINTS of them, the lowest and the highest of each stretch among them."""
    if len(points) <= _MOST_POINTS:
        return points
    kept = []
    stretch = 2 * len(points) / _MOST_POINTS
    for number in range(_MOST_POINTS // 2):
        part = points[int(number * stretch):int((number + 1) * stretch)]
        low = min(range(len(part)), key=lambda at: part[at][1])
        high = max(range(len(part)), key=lambda at: part[at][1])
        kept += [part[at] for at in sorted({low, high})]
    return kept


def _ends(values):
    """Two floats, the second greater than the first, for any numbers."""
    low, high = float(min(values)), float(max(values))
    if high > low:
        return low, high
    room = max(0.5, abs(low) / 2)
    return low - room, high + room


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -1e300 < value < 1e300


def _cell(value):
    if value is None:
        return ""
    if isinstance(value, float):
        value = "%.6g" % value
    return html.escape(str(value))
