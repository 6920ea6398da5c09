#!/usr/bin/env python3
"""A day in the life: four hosts (tests/hosts/testbed, so as root), a training of digits, and twenty faults.

usage: drill_day.py [--muster build/release/bin/muster] [--out FOLDER]

Writes into FOLDER: drill.json and drill.txt (what muster drill says), ledger.txt (for what the time of all runs was
used), page.html and page.png (the page of the first run; needs chromium). docs/drill.md shows them.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests/page"))


def called(words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    print(done.stderr, end="", file=sys.stderr)
    return done.stdout


def again(row):
    return "" if row["steps_lost"] is None else f"; {row['steps_lost']:.0f} steps again"


def drill(muster, folder):
    """In the testbed: the drill as text and as JSON from one call, whose folder all hosts share."""
    here = pathlib.Path(os.environ["TESTBED"]) / "day"
    here.mkdir()
    for name in ("drill_day.lua", "drill_day.trace"):
        (here / name).write_text((SOURCE / "benchmarks" / name).read_text())
    env = {**os.environ, "MUSTER_SSH": os.environ["TESTBED"] + "/ssh", "XDG_STATE_HOME": str(here / "state")}
    said = called([muster, "drill", "drill_day.lua", "--host", "n[1-4]", "--faults", "drill_day.trace", "--time", "142s",
                   "--resumes", "9", "--json"], cwd=here, env=env)
    (folder / "drill.json").write_text(said)
    said = json.loads(said)
    (folder / "drill.txt").write_text("".join(
        f"{row['at']:6.1f} s {row['outcome']:<7}{row['fault']}: {row['happened']}{again(row)}\n"
        for row in said["faults"]) + f"{said['as_simulated']} of {said['decisions']} decisions are those of the "
        f"simulation; {said['steps_lost']:.0f} steps were done again\n")
    runs = [run["run_dir"] for run in said["runs"]]
    (folder / "ledger.txt").write_text(called([muster, "report", "--ledger", runs[-1]], cwd=here, env=env))
    (folder / "report.txt").write_text(called([muster, "report", runs[-1]], cwd=here, env=env))
    called([muster, "report", runs[0], "--html", str(folder / "page.html")], cwd=here, env=env)


def shoot(folder):
    from browser import Browser
    with Browser(1400, 1500) as browser:
        browser.open(str(folder / "page.html"))
        browser.screenshot(str(folder / "page.png"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--muster", default=str(SOURCE / "build/release/bin/muster"))
    parser.add_argument("--out", default="day", type=pathlib.Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.out.resolve()
    muster = str(pathlib.Path(options.muster).resolve())
    if options.inside:
        return drill(muster, folder)
    folder.mkdir(exist_ok=True)
    subprocess.run([SOURCE / "tests/hosts/testbed", "run", "--share", SOURCE, "--share",
                    pathlib.Path(muster).parent, "--share", folder, "4", "--", sys.executable, __file__, "--inside",
                    "--muster", muster, "--out", folder], check=True)
    shoot(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
