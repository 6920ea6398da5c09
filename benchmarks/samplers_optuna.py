#!/usr/bin/env python3
"""usage: samplers_optuna.py RESULTS…

Prints the milliseconds that Optuna's TPE (multivariate, trials in memory) takes to suggest a point of the
unit cube of six dimensions after each number of results, as `samplers` measures muster's samplers.
"""

import random
import statistics
import sys
import time
import warnings

import optuna

AXES = {f"x{i}": optuna.distributions.FloatDistribution(0, 1) for i in range(6)}


def milliseconds_after(results):
    sampler = optuna.samplers.TPESampler(multivariate=True, constant_liar=True, seed=1)
    study = optuna.create_study(sampler=sampler)
    draws = random.Random(1)
    for _ in range(results):
        point = {name: draws.random() for name in AXES}
        loss = sum((x - 0.3) ** 2 for x in point.values())
        study.add_trial(optuna.trial.create_trial(params=point, distributions=AXES, value=loss))
    times = []
    for _ in range(7):
        began = time.perf_counter()
        point = study.ask(AXES).params
        times.append(1000 * (time.perf_counter() - began))
        study.tell(study.trials[-1].number, sum((x - 0.3) ** 2 for x in point.values()))
    return statistics.median(times)


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    measured = [f"{milliseconds_after(int(results)):9.3f}" for results in sys.argv[1:]]
    print("    " + f"Optuna {optuna.__version__}, TPE".ljust(24) + "".join(measured))
