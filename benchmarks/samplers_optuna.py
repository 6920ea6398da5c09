#!/usr/bin/env python3
"""usage: samplers_optuna.py RESULTS…
       samplers_optuna.py --refused 0|1 SEEDS FIRST_SEED
       samplers_optuna.py --noisy BATCH SEEDS FIRST_SEED

Prints the milliseconds that Optuna's TPE (multivariate, trials in memory) takes to suggest a point of the
unit cube of six dimensions after each number of results, as `samplers` measures muster's samplers. With --refused the regrets on one of the
functions with refused points (RefusingFunctions of test_functions.cc), which Optuna learns from trials that fail, that
are pruned, or whose constraint is violated; with --noisy those on noisy Branin, so many trials at a time.
"""

import math
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


SIZES, BATCHES, DEVICES = [1, 2, 3, 4, 6, 8, 12, 16], [1, 2, 3, 4, 6, 8, 12], 64


LEAST_BRANIN = 0.39788735772973816


def branin(trial):
    x, y = trial.suggest_float("x1", -5, 10), trial.suggest_float("x2", 0, 15)
    bowl = (y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6)**2
    return x, y, bowl + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def half_of_branin(trial):
    x, y, loss = branin(trial)
    return x + 5 + y > 15, loss


def is_layout(stages, tensor, micro_batch):
    if DEVICES % (stages * tensor) != 0 or 48 % stages != 0 or 24 % tensor != 0:
        return False
    if 512 % (DEVICES // (stages * tensor) * micro_batch) != 0:
        return False
    return 96 / (stages * tensor) + 4 * micro_batch / tensor <= 20


def step_time(stages, tensor, micro_batch):
    micro_batches = 512 * stages * tensor / DEVICES / micro_batch
    return (1 + (stages - 1) / micro_batches) * (1 + .08 * math.log2(tensor)) * (1 + .3 / micro_batch)


def layout(trial):
    sizes = [trial.suggest_categorical("pipeline_stages", SIZES),
             trial.suggest_categorical("tensor_parallel_size", SIZES),
             trial.suggest_categorical("micro_batch_size", BATCHES)]
    rate = trial.suggest_float("learning_rate", 1e-5, 1e-2, log=True)
    return is_layout(*sizes), step_time(*sizes) + .2 * (math.log10(rate) + 3.5)**2


LEAST_LAYOUT = min(step_time(stages, tensor, batch) for stages in SIZES for tensor in SIZES for batch in BATCHES
                   if is_layout(stages, tensor, batch))
REFUSING = [(half_of_branin, LEAST_BRANIN), (layout, LEAST_LAYOUT)]


def regrets_of(function, least, how, seed):
    """After 25, 50 and 100 trials, those with refused points included."""
    violated = (lambda trial: (trial.user_attrs["violated"],)) if how == "violate" else None
    sampler = optuna.samplers.TPESampler(multivariate=True, n_startup_trials=10, seed=seed, constraints_func=violated)
    study = optuna.create_study(sampler=sampler)
    best, regrets = math.inf, []
    for number in range(1, 101):
        trial = study.ask()
        possible, loss = function(trial)
        trial.set_user_attr("violated", 0 if possible else 1)
        if possible or how == "violate":
            study.tell(trial, loss if possible else 1e3)
        else:
            failed, pruned = optuna.trial.TrialState.FAIL, optuna.trial.TrialState.PRUNED
            study.tell(trial, state=failed if how == "fail" else pruned)
        best = min(best, loss - least) if possible else best
        if number in (25, 50, 100):
            regrets.append(best)
    return regrets


def normal_noise(seed, number):
    """NormalNoise of test_functions.cc: SplitMix64, then Box and Muller."""
    state, uniform = (seed << 32) + number, []
    for _ in range(2):
        state = (state + 0x9e3779b97f4a7c15) % 2**64
        mixed = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9 % 2**64
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb % 2**64
        uniform.append(((mixed ^ (mixed >> 31)) >> 11) * 2**-53)
    return math.sqrt(-2 * math.log(1 - uniform[0])) * math.cos(2 * math.pi * uniform[1])


def noisy_regrets(batch, seed):
    """Of the point that was observed as the best, after 25, 50 and 100 trials."""
    sampler = optuna.samplers.TPESampler(multivariate=True, n_startup_trials=10, seed=seed, constant_liar=batch > 1)
    study = optuna.create_study(sampler=sampler)
    best, regrets = (math.inf, math.inf), []
    while len(study.trials) < 100:
        trials = [study.ask() for _ in range(min(batch, 100 - len(study.trials)))]
        for trial, loss in zip(trials, [branin(trial)[2] for trial in trials]):
            observed = loss + normal_noise(seed, trial.number)
            study.tell(trial, observed)
            best = min(best, (observed, loss - LEAST_BRANIN))
            if trial.number + 1 in (25, 50, 100):
                regrets.append(best[1])
    return regrets


def print_regrets(label, seeds, first_seed, regrets_with):
    cells = []
    for column in zip(*map(regrets_with, range(first_seed, first_seed + seeds))):
        low, middle, high = (sorted(column)[int(part * (seeds - 1) + .5)] for part in (.25, .5, .75))
        cells.append(f"{middle:8.3g} ({low:.2g}/{high:.2g})")
    print("    " + f"Optuna {optuna.__version__}, {label}".ljust(40) + "  " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--refused"]:
        which, *seeds = map(int, sys.argv[2:])
        for how in ("fail", "are pruned", "violate"):
            print_regrets(f"refused ones {how}", *seeds, lambda seed: regrets_of(*REFUSING[which], how, seed))
        sys.exit()
    if sys.argv[1:2] == ["--noisy"]:
        batch, *seeds = map(int, sys.argv[2:])
        print_regrets(f"batches of {batch}", *seeds, lambda seed: noisy_regrets(batch, seed))
        sys.exit()
    measured = [f"{milliseconds_after(int(results)):9.3f}" for results in sys.argv[1:]]
    print("    " + f"Optuna {optuna.__version__}, TPE".ljust(24) + "".join(measured))
