#!/usr/bin/env python3
"""Prints the first paint of a page and the frames a second while a range of its parallel coordinates is dragged."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "page"))
from browser import Browser  # noqa: E402

DRAG = """
    const done = arguments[0];
    const { state, model } = muster.page;
    const axis = model.axes()[0];
    const scale = axis.axis([0, 1]);
    document.getElementById('parallel').scrollIntoView();
    const times = [];
    let last = 0;
    const step = (now) => {
      if (last) times.push(now - last);
      last = now;
      if (times.length === 120) {
        state.setBrush(axis.name, null);
        times.sort((a, b) => a - b);
        return done({ fps: 1000 * times.length / times.reduce((a, b) => a + b), median: times[60], worst: times[119] });
      }
      const from = 0.3 * times.length / 120;
      const ends = [scale.invert(from), scale.invert(from + 0.7)];
      state.setBrush(axis.name, { low: Math.min(...ends), high: Math.max(...ends) }, true);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);"""

with Browser() as browser:
    browser.open(sys.argv[1])
    paint = browser.js("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    browser.settle()
    drag = browser.call("/execute/async", script=DRAG, args=[])
    print(f"      first paint {paint:.0f} ms (wanted: below 1000); dragging a range {drag['fps']:.0f} frames/s, "
          f"median {drag['median']:.0f} ms, worst {drag['worst']:.0f} ms (wanted at 5,000 trials: above 30 frames/s)")
