"""Gradient descent on a parabola, with a report at each step; ends early when muster asks for it."""

import sys
import time

import muster_context
from muster.integrations import Stop

lr, steps, pause = float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
at = 4.0
with Stop() as stop:
    for step in range(1, steps + 1):
        at -= lr * 2 * at
        muster_context.report(step=step, loss=at * at)
        if stop.requested():
            break
        time.sleep(pause)
print("at", at)
