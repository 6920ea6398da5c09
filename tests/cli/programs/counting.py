"""A training that counts: writes a checkpoint step_N.txt for each step, and resumes after a given one.

    counting.py --dir DIR --steps N [--from CHECKPOINT] [--die-at N] [--stop MUSTER]

With --die-at it is killed after that step, unless it resumed there. With --stop it requests muster to end the run
after its first step, and then reacts to signals: one more checkpoint on SIGUSR1, exit on SIGTERM.
"""

import argparse
import os
import pathlib
import signal
import subprocess


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--dir", required=True)
    options.add_argument("--steps", type=int, required=True)
    options.add_argument("--from", dest="begin", default="")
    options.add_argument("--die-at", type=int, default=0)
    options.add_argument("--stop", default="")
    options = options.parse_args()

    begin = int(pathlib.Path(options.begin).read_text()) if options.begin else 0
    print("from", begin)
    pathlib.Path(options.dir).mkdir(parents=True, exist_ok=True)

    def write(step):
        path = pathlib.Path(options.dir, "step_%d.txt" % step)
        path.with_suffix(".tmp").write_text("%d\n" % step)
        path.with_suffix(".tmp").rename(path)
        metrics = os.environ.get("MUSTER_METRICS")
        with open(metrics, "a") as lines:
            lines.write('{"step": %d, "loss": %g}\n' % (step, 1 / step))
        print("step", step)

    if options.stop:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})
        write(begin + 1)
        subprocess.run([options.stop, "stop", os.environ["MUSTER_RUN_DIR"]], check=True)
        print("told", signal.Signals(signal.sigwait({signal.SIGUSR1, signal.SIGTERM})).name)
        write(begin + 2)
        print("told", signal.Signals(signal.sigwait({signal.SIGUSR1, signal.SIGTERM})).name)
        return
    for step in range(begin + 1, options.steps + 1):
        write(step)
        if step == options.die_at:
            os.kill(os.getpid(), signal.SIGKILL)


main()
