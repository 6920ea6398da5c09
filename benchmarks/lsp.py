#!/usr/bin/env python3
"""usage: lsp.py [MUSTER] [ROUNDS]    default build/release/bin/muster 1

Replays an editing session on recipes/gpt.lua with `muster lsp`, keystroke by keystroke, and prints the time from each
keystroke to its diagnostics, of a completion and of a hover at the cursor (sent right after the keystroke, while the text
is being evaluated), beside a `muster check` of the same texts. Wanted: all below 50 ms.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from lsp_client import Client  # noqa: E402

# What is typed, at the end of the line that contains the words; most of it is no Lua until its end.
SESSION = [
    ("steps                = muster.int", '\n    warmup_steps = muster.int { 2000, min = 0, doc = "steps of warm-up" },'),
    ("local n, pp, tp", "\n    local fraction = p.warmup_steps / p.steps"),
    ("muster.exact_div { heads", '\n    job:check(fraction < 1, "warm-up takes %d of %d steps", p.warmup_steps, p.steps)'),
    ("parallel_mode = context", "\n      full_batch = true, enable_parallel_optimizer = true,"),
    ("count = n,", '\n      restart = { max = 2, within = "10m" },'),
]


def figures(seconds):
    ordered = sorted(seconds)
    picked = [ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)], ordered[-1]]
    return "  ".join(f"{1000 * each:8.1f}" for each in picked) + " ms"


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/bin/muster")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    text = (ROOT / "recipes/gpt.lua").read_text(encoding="utf-8")
    times = {"diagnostics": [], "completion": [], "hover": [], "muster check": []}
    strokes = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "gpt.lua"
        for _ in range(rounds):
            lines = text.split("\n")
            path.write_text(text, encoding="utf-8")
            client = Client(program, folder)
            uri = client.uri(path)
            version = 1
            client.open(uri, text)
            client.diagnostics_of(uri, version)
            for where, typed in SESSION:
                line = next(i for i, each in enumerate(lines) if where in each)
                for character in typed:
                    column = len(lines[line].encode("utf-16-le")) // 2
                    version += 1
                    began = time.perf_counter()
                    client.insert(uri, version, line, column, character)
                    if character == "\n":
                        line += 1
                        lines.insert(line, "")
                        column = 0
                    else:
                        lines[line] += character
                        column += 1
                    for method in ("completion", "hover"):
                        asked = time.perf_counter()
                        client.at(method, uri, line, column)
                        times[method].append(time.perf_counter() - asked)
                    client.diagnostics_of(uri, version)
                    times["diagnostics"].append(time.perf_counter() - began)
                    strokes += 1
                    if strokes % 10 == 0:
                        path.write_text("\n".join(lines), encoding="utf-8")
                        began = time.perf_counter()
                        subprocess.run([program, "check", str(path)], check=False, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
                        times["muster check"].append(time.perf_counter() - began)
            left = [each["message"] for each in client.diagnostics_of(uri, version) if each["severity"] == 1]
            if left:
                sys.exit(f"the session ends with errors: {left}")
            if client.close() != 0:
                sys.exit("muster lsp failed")
    print(f"{strokes} keystrokes on recipes/gpt.lua\n{'':14}    median      95 %       max")
    for name, seconds in times.items():
        print(f"{name:14}{figures(seconds)}")
    ratio = sorted(times["diagnostics"])[len(times["diagnostics"]) // 2]
    check = sorted(times["muster check"])[len(times["muster check"]) // 2]
    print(f"diagnostics / muster check: {ratio / check:.2f}")


if __name__ == "__main__":
    main()
