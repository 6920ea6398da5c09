#!/usr/bin/env python3
"""Runs small sweeps of many kinds, for their pages: example_sweeps.py MUSTER FOLDER [NAME…] leaves FOLDER/NAME.html.

Besides those of many trials, which tests write themselves. The tests run it with an environment of their own.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

# A trial: a function that returns the lines that it reports, its exit code, and what it does then.
RECIPE = """
local muster = require "muster"
local function lines(p) {lines} end
local recipe = muster.recipe {{
  name = "{name}", {fields}
  params = {{ {params} }},
  plan = function(p, job)
    {plan}
    local text, code, after = lines(p)
    job:workers {{ count = 1, command = {{ "sh", "-c", 'printf "%s" "$1" >> "$MUSTER_METRICS"; eval "$3"; exit $2',
      "sh", text, code or 0, after or ":" }} }}
  end,
}}
return muster.sweep {{ name = "{name}", {doc}recipe = recipe, {sweep} }}
"""

CURVE = """
  local text = ""
  for step = 1, {steps} do
    text = text .. string.format('{{"step": %d, "loss": %.6f}}\\n', step, {loss})
  end
  return text
"""


def sweep(name, lines, params, of_sweep, doc="", fields="", plan=""):
    return RECIPE.format(name=name, lines=lines, params=params, sweep=of_sweep,
                         doc=f'doc = "{doc}", ' if doc else "", fields=fields, plan=plan)


def curve(loss, steps=20):
    return CURVE.format(loss=loss, steps=steps)


NOISE = "((p.seed * 7919 + step * 104729) % 1000 / 1000 - 0.5)"
LONG = "a_really_long_parameter_name_for_the_learning_rate_of_the_second_stage_optimizer"
DEEP = "dropout_probability_of_the_attention_projection_in_the_decoder"
METRIC = "validation/perplexity_on_the_held_out_set_after_detokenization"
SHARD = "/gpfs/scratch/users/researcher/datasets/the-pile/shard-%06d-of-010000/tokenized.bin"
MODES = [f"mode{i:02}" for i in range(1, 17)]


def quoted(texts):
    return ", ".join(f'"{text}"' for text in texts)


SWEEPS = {
    "one": sweep("one", curve("2 / step"), "lr = muster.float { 0.1 }",
                 'space = { lr = { 0.1 } }, objective = muster.minimize "loss"', "A single trial"),
    "failed": sweep("failed", """ return '{"step": 1, "loss": null}\\n', 1, "echo \\"RuntimeError: shape " .. p.k .. "\\" >&2" """,
                    "k = muster.int { 0 }", 'space = { k = muster.range(0, 7) }, objective = muster.minimize "loss"',
                    "Every trial fails"),
    "conditional": sweep(
        "conditional", curve("1.2 / step + math.abs(math.log(p.lr) + 4) / 4 + p.batch / 900 + "
                             "(p.optimizer.variant == 'sgd' and p.optimizer.momentum or p.optimizer.beta2) / 4", 12),
        """lr = muster.float { 0.1, above = 0 }, batch = muster.int { 8 }, hidden = muster.int { 4 },
           dropout = muster.float { 0 }, optimizer = muster.variant { "sgd", one_of = {
             sgd = { momentum = muster.float { 0 } }, adam = { beta2 = muster.float { 0.9 } } } }""",
        """space = { lr = muster.log_uniform(1e-4, 3), batch = muster.int_log_uniform(8, 256),
             hidden = muster.int_log_uniform(4, 128), dropout = muster.quantised(0, 0.8, 0.1), muster.union {
               { optimizer = { variant = { "sgd" }, momentum = muster.uniform(0, 0.99) } },
               { optimizer = { variant = { "adam" }, beta2 = muster.choice { 0.9, 0.99, 0.999 } } } } },
           sampler = muster.random { seed = 1, trials = 60 }, objective = muster.minimize "loss" """,
        "The optimiser as a condition"),
    "long": sweep(
        "long", """
  local text = ""
  for step = 1, 5 do text = text .. string.format('{"step": %d, "METRIC": %.4f, "übung/λ=3": 1}\\n', step,
    10 / step + p.LONG * 50) end
  return text
""".replace("METRIC", METRIC).replace("LONG", LONG),
        f"""{LONG} = muster.float {{ 0.1 }}, model = {{ decoder = {{ {DEEP} = muster.float {{ 0 }} }} }},
            data = muster.string {{ "x" }}""",
        f"""space = {{ {LONG} = muster.log_uniform(1e-7, 1e-1), ["model.decoder.{DEEP}"] = {{ 0, 0.1, 0.123456789012 }},
              data = {{ "{SHARD % 1}", "{SHARD % 2}", "<b>x</b>" }} }}, sampler = muster.random {{ seed = 2, trials = 20 }},
            objective = muster.minimize "{METRIC}" """, "Long names and paths"),
    "seeds": sweep(
        "seeds", curve(f"1 / step + math.abs(math.log(p.lr) + 4) / 4 + 4 / p.width + 0.3 * {NOISE} * p.lr * 30", 30),
        "lr = muster.float { 0.1 }, width = muster.int { 8 }, seed = muster.int { 0 }",
        """space = { lr = { 0.003, 0.01, 0.03 }, width = { 8, 32 }, seed = muster.range(1, 5) },
           objective = muster.minimize "loss" """, "Five seeds of each configuration"),
    "repeated": sweep(
        "repeated", """ return string.format('{"step": 1, "loss": %.2f}\\n', p.k + 0.1 * (p.seed * p.seed) % 1) """,
        "k = muster.int { 0 }, seed = muster.int { 0 }",
        """space = { k = { 1, 2, 9 } }, seeds = { count = 3, race = false }, objective = muster.minimize "loss" """,
        "Each point with three seeds"),
    "single": sweep(
        "single", """ return string.format('{"acc": %.4f, "fit_seconds": %.3f}\\n', 1 - 1 / p.trees - math.abs(p.depth - 9) / 40,
          p.trees * p.depth / 1000) """, "trees = muster.int { 10 }, depth = muster.int { 3 }",
        """space = { trees = muster.int_log_uniform(8, 256), depth = muster.int_uniform(2, 16) },
           sampler = muster.random { seed = 4, trials = 40 }, objective = muster.maximize "acc" """, "One report each"),
    "loss": sweep("loss", curve("1 + p.k / 10 - 0.01 * step", 5), "k = muster.int { 0 }",
                  'space = { k = muster.range(0, 5) }, objective = muster.minimize "loss"'),
    "accuracy": sweep("accuracy", """ return string.format('{"step": 1, "acc": %.2f}\\n', p.k / 10) """,
                      "k = muster.int { 0 }", 'space = { k = muster.range(0, 5) }, objective = muster.maximize "acc"'),
    # The losses 1 to 6: their median is 3.5.
    "median": sweep("median", """ return string.format('{"step": 1, "loss": %d}\\n', p.k) """, "k = muster.int { 0 }",
                    'space = { k = muster.range(1, 6) }, objective = muster.minimize "loss"'),
    # The median rule stops trial 4: its loss is 9, those of the others are below 2. Nothing fails; two points are impossible.
    "stopped": sweep(
        "stopped", """
  if p.k == 5 then return '{"step": 1, "loss": 9}\\n{"step": 2, "loss": 9}\\n', 0, "exec sleep 600" end
  return string.format('{"step": 1, "loss": %.1f}\\n{"step": 2, "loss": %.1f}\\n', 2 - p.k / 10, 2 - p.k / 10) """,
        "k = muster.int { 0 }, hosts = muster.int { 1 }",
        """space = { k = muster.range(1, 7) }, sampler = muster.grid {}, objective = muster.minimize "loss",
           where = function(p) return p.k < 6, "k is too large" end,
           early_stop = muster.median { resource = "step", warmup = 1, min_finished = 3 } """,
        "A trial that the median rule stops, and impossible points"),
    "choices": sweep(
        "choices", """
  if p.mode == "mode03" or p.mode == "mode07" then return '{"step": 1, "loss": 1}\\n', 3, "echo '" .. p.mode .. " broke' >&2" end
  return string.format('{"step": 1, "loss": %.3f}\\n{"step": 2, "loss": %.3f}\\n', 2 + p.lr, 1 + p.lr) """,
        "mode = muster.string { 'x' }, lr = muster.float { 0.1 }",
        f"""space = {{ mode = {{ {quoted(MODES)} }}, lr = {{ 0.001, 0.01, 0.1 }} }}, objective = muster.minimize "loss" """),
    # Losses of both signs, for logarithmic axes.
    "signs": sweep("signs", """ return string.format('{"step": 1, "loss": %.3f, "gap": %d}\\n', 10 ^ p.k, p.k) """,
                   "k = muster.int { 0 }", 'space = { k = muster.range(-3, 4) }, objective = muster.minimize "loss"'),
}

SMOOTH = """
local muster = require "muster"
local recipe = muster.recipe { name = "smooth", params = { k = muster.int { 0 } }, plan = function(p, job)
  job:workers { count = 1, command = { "/usr/bin/python3", "{script}", p.k } } end }
return muster.sweep { name = "smooth", recipe = recipe, space = { k = { 0, 1 } }, objective = muster.minimize "loss" }
"""

SLOW = """
local muster = require "muster"
local recipe = muster.recipe { name = "slow", params = { k = muster.int { 0 } }, plan = function(p, job)
  job:workers { count = 1, command = { "sh", "-c", [[echo "{\\"step\\": 1, \\"loss\\": $1}" >> "$MUSTER_METRICS"; touch begun.$1; exec sleep 600]],
    "sh", p.k } } end }
return muster.sweep { name = "slow", recipe = recipe, space = { k = muster.range(1, 4) }, objective = muster.minimize "loss" }
"""

RESUMED = """
local muster = require "muster"
local recipe = muster.recipe { name = "resumed", params = { k = muster.int { 0 } },
  checkpoint = { dir = "checkpoints", latest = "step_*" },
  plan = function(p, job)
    job:workers { count = 1, command = { "sh", "-c", [[
      from=0; [ -z "$2" ] || from=${2##*_}; step=$((from + 1))
      while [ $step -le 12 ]; do
        echo "{\\"step\\": $step, \\"loss\\": $((40 / step + $1))}" >> "$MUSTER_METRICS"
        mkdir -p "$3"; echo 1 > "$3/step_$step"
        if [ $step = 5 ] && [ $1 = 2 ] && [ ! -e "{folder}/begun" ]; then touch "{folder}/begun"; exec sleep 600; fi
        step=$((step + 1))
      done]], "sh", p.k, job.resume and job.resume.checkpoint or "",
      job.checkpoint.dir } } end }
return muster.sweep { name = "resumed", recipe = recipe, space = { k = muster.range(1, 4) }, objective = muster.minimize "loss" }
"""


def reports_of_smooth(k):
    """The 100,000 losses of a trial: one with a spike if k is 1."""
    noise = random.Random(k)
    return [5 / (1 + i / 2000) + noise.gauss(0, .05) + (40 if i == 77777 and k == 1 else 0) for i in range(1, 100001)]


class Examples:
    def __init__(self, muster, folder):
        self.muster, self.folder = os.path.abspath(muster), pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environment = {"PATH": f"{os.path.dirname(self.muster)}:/usr/bin:/bin", **os.environ,
                            "MUSTER_HOME": str(self.folder / "home"), "MUSTER_LEASES": str(self.folder / "leases"),
                            "MUSTER_HOST_DEVICES": "2"}

    def begin(self, name, text, *words):
        (self.folder / f"{name}.lua").write_text(text)
        return self.start("sweep", f"{name}.lua", "--no-progress", *words)

    def start(self, *words):
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen([self.muster, *words], cwd=self.folder, env=self.environment, stdout=log, stderr=log)

    def call(self, *words):
        subprocess.run([self.muster, *words], cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def page(self, name, *sweeps):
        self.call("report", *(sweeps or [name]), "--html", f"{name}.html")

    def until(self, holds, program):
        while not holds():
            if program.poll() is not None:
                raise SystemExit(f"the sweep has ended too early: {(self.folder / 'log').read_text()}")
            time.sleep(0.02)

    def make(self, name):
        if name in SWEEPS:
            self.begin(name, SWEEPS[name]).wait()
            self.page(name)
        else:
            getattr(self, name)()

    def objectives(self):
        self.make("loss")
        self.make("accuracy")
        self.page("objectives", "loss", "accuracy")

    def smooth(self):
        script = self.folder / "smooth.py"
        script.write_text("import os, sys\nsys.path.insert(0, %r)\nfrom example_sweeps import reports_of_smooth\n"
                          "with open(os.environ['MUSTER_METRICS'], 'a') as f:\n"
                          "    for i, v in enumerate(reports_of_smooth(int(sys.argv[1])), 1):\n"
                          "        f.write('{\"step\":%%d,\"loss\":%%.6f}\\n' %% (i, v))\n" % os.path.dirname(os.path.abspath(__file__)))
        self.begin("smooth", SMOOTH.replace("{script}", str(script))).wait()
        self.page("smooth")

    def none(self):
        head = self.begin("slow", SLOW)
        self.until(lambda: list(self.folder.glob("begun.*")), head)
        self.page("none", "slow")
        head.send_signal(signal.SIGINT)
        head.wait()

    def resumed(self):
        head = self.begin("resumed", RESUMED.replace("{folder}", str(self.folder)), "--slots", "1")
        self.until((self.folder / "begun").exists, head)
        head.kill()
        head.wait()
        self.call("resume", "resumed", "--no-progress")
        self.page("resumed")


NAMES = [*SWEEPS, "objectives", "smooth", "none", "resumed"]

if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    examples = Examples(sys.argv[1], sys.argv[2])
    for wanted in sys.argv[3:] or [name for name in NAMES if name not in ("loss", "accuracy")]:
        examples.make(wanted)
