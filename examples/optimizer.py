"""An optimizer for `muster sweep --pipe N --optimizer 'python3 optimizer.py'`: random points at first, then the best
one with one of its values changed."""
import json
import math
import random
import sys


def draw(axis):
    if axis["axis"] == "choice":
        return random.choice(axis["values"])
    low, high, step = axis["low"], axis["high"], axis.get("step", 1)
    if axis["axis"] == "range":
        return low + step * random.randint(0, round((high - low) / step))
    if axis["axis"] == "uniform":
        return random.uniform(low, high)
    value = math.exp(random.uniform(math.log(low), math.log(high)))
    return value if axis["axis"] == "log_uniform" else round(value)


def inside(axis, value):
    return value in axis["values"] if axis["axis"] == "choice" else axis["low"] <= value <= axis["high"]


begin = json.loads(sys.stdin.readline())
random.seed(begin["seed"])
sign = -1 if begin["direction"] == "maximize" else 1
best, least, results = None, math.inf, 0
for line in sys.stdin:
    event = json.loads(line)
    if event["event"] == "result":
        results += 1
        own = all(inside(axis, event["point"][axis["name"]]) for axis in begin["axes"])
        if own and event["state"] == "complete" and sign * event["value"] < least:
            best, least = event["point"], sign * event["value"]
    elif event["event"] == "ask":
        points = []
        for _ in range(event["count"]):
            explore = best is None or results < 8
            changed = begin["axes"] if explore else [random.choice(begin["axes"])]
            points.append({**(best or {}), **{axis["name"]: draw(axis) for axis in changed}})
        print(json.dumps({"points": points}), flush=True)
