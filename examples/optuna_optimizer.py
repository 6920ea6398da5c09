"""Optuna's TPE as the optimizer of a sweep: `muster sweep --pipe N --optimizer 'python3 optuna_optimizer.py'`. For
spaces whose axes do not depend on each other."""
import json
import sys
import warnings

import optuna


def suggest(trial, axis):
    """The value of the axis; of choices the number."""
    name, kind = axis["name"], axis["axis"]
    if kind == "choice":
        return trial.suggest_categorical(name, list(range(len(axis["values"]))))
    low, high = axis["low"], axis["high"]
    if kind == "range":
        whole = all(float(number).is_integer() for number in (low, high, axis["step"]))
        step = int(axis["step"]) if whole else axis["step"]
        return (trial.suggest_int if whole else trial.suggest_float)(name, low, high, step=step)
    if kind == "int_log_uniform":
        return trial.suggest_int(name, int(low), int(high), log=True)
    return trial.suggest_float(name, low, high, log=kind == "log_uniform")


def choose():
    trial = study.ask()
    params = {axis["name"]: suggest(trial, axis) for axis in axes}
    return trial, {axis["name"]: axis["values"][params[axis["name"]]] if axis["axis"] == "choice"
                   else params[axis["name"]] for axis in axes}


def recall(point):
    """The trial of a point of an earlier head, or of one that a user chose; None beyond the space."""
    for axis in axes:
        if axis["axis"] == "choice" and point[axis["name"]] not in axis["values"]:
            return None
    study.enqueue_trial({axis["name"]: axis["values"].index(point[axis["name"]]) if axis["axis"] == "choice"
                         else point[axis["name"]] for axis in axes})
    trial, chosen = choose()
    if all(chosen[name] == point[name] for name in chosen):
        return trial
    study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return None


begin = json.loads(sys.stdin.readline())
axes = begin["axes"]
optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # of constant_liar
study = optuna.create_study(direction=begin["direction"],
                            sampler=optuna.samplers.TPESampler(seed=begin["seed"], constant_liar=True))
asked = {}
for line in sys.stdin:
    event = json.loads(line)
    if event["event"] == "ask":
        points = []
        for number in range(event["first"], event["first"] + event["count"]):
            asked[number], point = choose()
            points.append(point)
        print(json.dumps({"points": points}), flush=True)
        continue
    trial = asked.pop(event["trial"], None) or recall(event["point"])
    if trial is not None and "value" in event:
        study.tell(trial, event["value"])
    elif trial is not None:  # failed or impossible: as bad as can be, so it looks elsewhere; FAIL would be ignored
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)
