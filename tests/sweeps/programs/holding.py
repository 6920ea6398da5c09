"""A pausable training: reports each step, writes a checkpoint step_N.txt at every second one, and resumes after
a given one.

    holding.py --dir DIR --steps N [--from CHECKPOINT] [--hold-at N --held FILE] [--die-at N] [--rate RATE]

With --hold-at it creates FILE after that step and waits: on SIGUSR1 it writes one more
checkpoint, on SIGTERM it exits. With --die-at it kills itself after that step, unless it resumes from a checkpoint.
"""

import argparse
import os
import pathlib
import signal


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--dir", type=pathlib.Path, required=True)
    options.add_argument("--steps", type=int, required=True)
    options.add_argument("--from", dest="begin", type=pathlib.Path)
    options.add_argument("--hold-at", type=int, default=0)
    options.add_argument("--held", type=pathlib.Path)
    options.add_argument("--die-at", type=int, default=0)
    options.add_argument("--rate", type=float, default=1)
    options = options.parse_args()
    signals = {signal.SIGUSR1, signal.SIGTERM}
    if options.hold_at:
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    begin = int(options.begin.read_text()) if options.begin else 0
    print("from", begin, flush=True)

    def save(step):
        options.dir.mkdir(parents=True, exist_ok=True)
        temporary = options.dir / ("step_%d.tmp" % step)
        temporary.write_text("%d\n" % step)
        temporary.rename(options.dir / ("step_%d.txt" % step))

    for step in range(begin + 1, options.steps + 1):
        print("step", step, flush=True)
        with open(os.environ["MUSTER_METRICS"], "a") as lines:
            lines.write('{"step": %d, "loss": %g}\n' % (step, options.rate / step))
        if step % 2 == 0:
            save(step)
        if step == options.hold_at:
            options.held.touch()
            while signal.sigwait(signals) == signal.SIGUSR1:
                save(step)
            return
        if step == options.die_at and not options.begin:
            os.kill(os.getpid(), signal.SIGKILL)


main()
