"""The package muster with the program itself: starting, following, reading, stopping. MUSTER names the
program."""

import os
import shutil
import signal
import sys
import tempfile
import unittest
from xml.dom import minidom

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(SOURCE, "python"))
import muster  # noqa: E402
from muster import display  # noqa: E402

RECIPE = """local muster = require "muster"
return muster.recipe {
  name = "job",
  params = { lr = muster.float { 0.1, above = 0, max = 8 }, workers = muster.int { 1, min = 1 },
             wait = muster.bool { false }, code = muster.int { 0 }, pattern = muster.bool { false } },
  plan = function(p, job)
    job:workers { count = p.workers, command = { "python3", "-c", [[
import muster_context, muster, os, sys
lr, wait, code, pattern = eval(sys.argv[1])
if pattern:
    print("step 5 loss %g" % lr)
for step in range(0 if pattern else 3):
    muster_context.report(step=step, loss=lr / (step + 1))
print("rank", os.environ["RANK_HERE"], flush=True)
if wait:
    os.read(os.open(os.environ["GATE"], os.O_RDONLY), 1)
sys.exit(code)
]], "(" .. p.lr .. "," .. (p.wait and 1 or 0) .. "," .. p.code .. "," .. (p.pattern and 1 or 0) .. ")" },
      each = function(process)
        process.env.RANK_HERE = process.rank
        process.env.NEXT_RANK = (process.rank + 1) % process.world_size
      end }
  end,
}
"""


class WithMuster(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="muster-package-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        with open("recipe.lua", "w") as file:
            file.write(RECIPE)
        # Waiting processes read a pipe that nobody writes to: it ends when its last writer closes it.
        os.mkfifo("gate")
        self.gate = os.open("gate", os.O_RDWR)
        self.addCleanup(os.close, self.gate)
        os.environ["GATE"] = os.path.join(self.folder, "gate")

    def started(self, *words, **parameters):
        run = muster.run("recipe.lua", *words, **parameters)
        self.addCleanup(self.ended, run)
        return run

    def ended(self, run):
        if run.outcome == "running":
            run.stop(now=True)
        run.wait()

    def open_gate(self, processes=1):
        os.write(self.gate, b"x" * processes)


class OneRun(WithMuster):
    def test_a_run_is_followed_to_its_end(self):
        run = self.started(lr=0.5, workers=2, wait=True)
        self.assertEqual(run.outcome, "running")
        events = []
        for event in run.follow():
            events.append(event["event"])
            if events.count("first_output") == 2 and "opened" not in events:
                events.append("opened")
                self.open_gate(2)
        self.assertEqual((events[0], events[-1]), ("run_began", "run_ended"))
        self.assertIn("opened", events)
        self.assertEqual((run.wait(), run.outcome), ("ok", "ok"))
        events.remove("opened")
        self.assertEqual([record["event"] for record in run.journal()], events)

    def test_what_a_run_was(self):
        run = self.started("--tag", "good", lr=0.5, workers=2)
        self.assertEqual(run.wait(), "ok")
        self.assertEqual(run.report["outcome"], "ok")
        self.assertEqual(run.report["tags"], ["good"])
        self.assertEqual(run.plan["params"]["lr"], 0.5)
        self.assertEqual(run.metrics(), [
            {"role": "worker", "index": 0, "attempt": 0, "step": step, "loss": 0.5 / (step + 1)}
            for step in range(3)])
        self.assertEqual(len(run.metrics(everyone=True)), 6)
        self.assertEqual(run.logs(rank=1), "rank 1\n")
        self.assertIn("rank 0", run.logs(role="worker", grep="rank 0"))
        explained = run.explain("NEXT_RANK", rank=1)
        self.assertEqual((explained["values"][0]["value"], explained["values"][0]["source"]), ("0", "each"))
        run.tag("better", "good-")
        self.assertEqual(run.report["tags"], ["better"])
        self.assertEqual((run.name, len(run.id)), ("job", 12))
        ledger = run.ledger()
        self.assertEqual((ledger["counts"], ledger["runs"]), ("process slot", 1))
        self.assertAlmostEqual(sum(ledger["rows"].values()), ledger["total"])
        self.assertGreater(ledger["rows"]["productive_kept"], 0)

    def test_a_failure_is_an_outcome_and_no_exception(self):
        run = self.started(code=7)
        self.assertEqual(run.wait(), "failed")
        self.assertEqual(run.report["first_failure"]["exit_code"], 7)

    def test_a_run_is_stopped(self):
        run = self.started(wait=True)
        with self.assertRaises(TimeoutError):
            run.wait(timeout=0.1)
        run.stop(wait=True)
        self.assertEqual(run.outcome, "stopped")

    def test_invalid_values_are_errors_with_muster_s_text(self):
        with self.assertRaises(muster.Error) as caught:
            muster.run("recipe.lua", lr=9)
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertIn("lr = 9", caught.exception.text)
        self.assertEqual(muster.runs(), [])

    def test_a_run_without_a_recipe(self):
        run = muster.run("@torch", "--", "sh", "-c", "echo word", workers=2)
        self.assertEqual(run.wait(), "ok")
        self.assertEqual(run.logs(rank=1), "word\n")

    def test_names_are_resolved_as_on_the_command_line(self):
        first, second = self.started(lr=0.25), self.started(lr=0.5)
        self.assertEqual((first.wait(), second.wait()), ("ok", "ok"))
        self.assertEqual(muster.Run("job~1"), muster.Run(first.id))
        self.assertEqual({muster.Run("job"), muster.Run("job~1")}, {first, second})
        with self.assertRaisesRegex(muster.Error, 'there is no run "nosuch"'):
            muster.Run("nosuch")


class Lists(WithMuster):
    def test_runs_are_filtered_and_sorted_and_have_columns(self):
        for lr in (0.5, 0.25, 1):
            self.started(lr=lr).wait()
        runs = muster.runs("runs", where="lr < 1", sort="-lr", columns=["lr", "loss"])
        table = runs.table()
        self.assertEqual(table.column("lr"), [0.5, 0.25])
        self.assertEqual(table.column("loss"), [0.5 / 3, 0.25 / 3])
        self.assertEqual(table.column("outcome"), ["ok", "ok"])
        self.assertEqual(len(muster.runs(limit=1)), 1)
        self.assertEqual(muster.runs(where="lr > 7"), [])
        self.assertTrue(runs._repr_html_().startswith("<iframe"))

    def test_folders_that_are_missing_or_no_runs(self):
        self.assertEqual((muster.runs(), muster.sweeps()), ([], []))
        for ask in (lambda: muster.runs("nosuch"), lambda: muster.sweeps("nosuch"),
                    lambda: muster.Sweep(self.folder), lambda: muster.Sweep("nosuch"),
                    lambda: muster.Run(self.folder).outcome, lambda: muster.Run(self.folder).report,
                    lambda: list(muster.Run(self.folder).follow()),
                    lambda: list(muster.Run(self.folder).journal()),
                    lambda: muster.Run(self.folder).stop()):
            with self.assertRaises(muster.Error):
                ask()

    def test_a_damaged_run_is_a_warning_beside_the_others(self):
        self.started().wait()
        damaged = muster.run("recipe.lua")
        damaged.wait()
        with open(os.path.join(damaged.path, "journal.jsonl"), "r+b") as file:
            file.write(b"!")
        with self.assertWarns(UserWarning):
            self.assertEqual(len(muster.runs()), 1)
        self.assertEqual(list(damaged.journal()), [])
        with self.assertRaisesRegex(muster.Error, "journal"):
            damaged.outcome


class OneSweep(WithMuster):
    def test_a_sweep_is_read_as_tables(self):
        sweep = muster.sweep("recipe.lua", "--minimize", "loss", lr=[0.25, 0.5], workers=1)
        self.assertEqual(sweep.wait(), "complete")
        self.assertEqual(sweep.state, "complete")
        self.assertEqual(sweep.objective, {"metric": "loss", "maximize": False})
        trials = sweep.trials(sort="-lr")
        self.assertEqual((trials.column("trial"), trials.column("lr")), ([1, 0], [0.5, 0.25]))
        self.assertEqual((trials[0]["loss"], trials[0]["objective.loss"]), (trials[0]["value"],) * 2)
        self.assertEqual(sweep.trials(where="lr > 0.3").column("trial"), [1])
        self.assertEqual(sweep.best()[0]["lr"], 0.25)
        self.assertEqual([(row["trial"], row["step"], row["loss"]) for row in sweep.history()],
                         [(trial, step, (trial + 1) / 4 / (step + 1))
                          for trial in (0, 1) for step in range(3)])
        self.assertEqual({row["trial"] for row in sweep.history(sweep.best())}, {0})
        self.assertEqual(sweep.trial("best"), sweep.trial(0))
        self.assertEqual(sweep.trial(1).report["outcome"], "ok")
        self.assertEqual([record["event"] for record in sweep.follow()][-1], "sweep_ended")
        self.assertEqual(muster.sweeps(), [sweep])
        self.assertEqual(muster.sweeps("sweeps").table()[0]["best_value"], 0.25 / 3)
        self.assertEqual(muster.Sweep("job"), sweep)
        self.assertEqual(sweep.best(2, where="lr > 0.3").column("trial"), [1])
        self.assertEqual((sweep.tag("good", "owner=ann"), sweep.tag("good-")),
                         (["good", "owner=ann"], ["owner=ann"]))
        self.assertEqual((sweep.note("-- a note"), sweep.note()), ("-- a note", "-- a note"))
        self.assertEqual((sweep.report["tags"], sweep.report["note"]), (["owner=ann"], "-- a note"))
        self.assertEqual(sweep.ledger()["runs"], 2)
        self.assertEqual((sweep.note(""), sweep.trial(0).note("of a trial")), ("", "of a trial"))
        sweep.retry(trials=sweep.best())
        self.assertEqual(sweep.wait(), "complete")
        began = [record for record in sweep.journal() if record["event"] == "attempt_began"]
        self.assertEqual([record["trial"] for record in began], [0, 1, 0])

    def test_metrics_with_names_of_musters_columns_stay_apart(self):
        with open("metrics.lua", "w") as file:
            file.write('''local muster = require "muster"
return muster.recipe { name = "metrics", params = { x = muster.int { 0 } }, plan = function(p, job)
  job:workers { count = 1, command = { "muster", "report-metric", "val_acc=0." .. p.x, "loss=0.2",
    "value=7", "state=8", "trial=9" } } end }
''')
        sweep = muster.sweep("metrics.lua", "--maximize", "val_acc", x=[25, 75])
        self.assertEqual(sweep.wait(), "complete")
        rows = sweep.trials(sort="objective.loss")
        self.assertEqual([row["trial"] for row in rows], [1, 0])
        for row in rows:
            self.assertEqual((row["value"], row["objective.loss"]), (row["val_acc"], -row["val_acc"]))
            self.assertEqual((row["loss"], row["state"]), (0.2, "ok"))
            self.assertEqual([row["metric." + name] for name in ("value", "state", "trial")], [7, 8, 9])
        self.assertEqual(sweep.trials(where="metric.value == 7 and loss < 0.3").column("loss"), [0.2, 0.2])
        self.assertEqual([(row["trial"], row["loss"], row["metric.value"], row["metric.state"],
                           row["metric.trial"], "value" in row) for row in sweep.history()],
                         [(trial, 0.2, 7, 8, 9, False) for trial in (0, 1)])

    def test_values_that_were_read_from_logs_are_in_the_history(self):
        words = ["recipe.lua", "--maximize", "loss", "--metric", r"loss=loss (\S+)",
                 "--metric", r"step=step (\d+)"]
        sweep = muster.sweep(*words, pattern=True, lr=[0.25, 0.5])
        sweep.wait()
        self.assertEqual(sweep.best()[0]["lr"], 0.5)
        self.assertEqual(sweep.history(), [
            {"trial": trial, "role": None, "index": None, "attempt": 1, "step": 5, "loss": loss}
            for trial, loss in ((0, 0.25), (1, 0.5))])
        judged = muster.sweep(*words, "--median", "step:1", pattern=True, lr=[0.25, 0.5])
        judged.wait()
        self.assertEqual(judged.history(), sweep.history())
        for trial in (0, 1):
            shutil.rmtree(os.path.join(judged.trial(trial).path, "logs"))
        self.assertEqual(judged.history(), sweep.history())

    def test_metrics_of_the_recipe_are_those_of_runs_and_of_sweeps(self):
        with open("logged.lua", "w") as file:
            file.write('''local muster = require "muster"
return muster.recipe { name = "logged", params = { x = muster.int { 1 } },
  metrics = { epoch = [[epoch (\\d+)]], acc = [[acc=(\\S+)]] },
  plan = function(p, job)
  job:workers { count = 2,
    command = { "sh", "-c", "echo epoch 1 acc=0.5; echo epoch 2 acc=0." .. p.x } } end }
''')
        run = muster.run("logged.lua", x=7)
        run.wait()
        self.assertEqual(run.metrics(), [
            {"role": "worker", "index": 0, "attempt": None, "epoch": epoch, "acc": acc}
            for epoch, acc in ((1, 0.5), (2, 0.7))])
        self.assertEqual(run.metrics(role="server"), [])
        self.assertEqual(muster.runs(columns="acc")[0].columns, {"acc": 0.7})
        sweep = muster.sweep("logged.lua", "--maximize", "acc", x=[7, 8])
        self.assertEqual(sweep.wait(), "complete")
        self.assertEqual([(row["trial"], row["epoch"], row["acc"]) for row in sweep.history()],
                         [(0, 1, 0.5), (0, 2, 0.7), (1, 1, 0.5), (1, 2, 0.8)])
        self.assertEqual(sweep.trial("best").metrics().column("acc"), [0.5, 0.8])

    def test_a_sweep_and_its_trials_are_stopped(self):
        sweep = muster.sweep("recipe.lua", "--slots", "2", "--minimize", "loss", lr=[0.25, 0.5, 1], wait=True)
        began = set()
        for record in sweep.follow():
            if record["event"] == "attempt_began":
                began.add(record["trial"])
            if began == {0, 1}:
                break
        sweep.stop(trial=1, wait=True)
        self.assertEqual(sweep.trials(where="trial == 1")[0]["state"], "stopped")
        sweep.stop(wait=True)
        self.assertEqual(sweep.state, "stopped")
        sweep.resume(slots=1)
        self.assertEqual(sweep.state, "running")
        with self.assertRaises(muster.Error) as caught:
            sweep.resume()
        self.assertEqual(caught.exception.exit_code, 75)
        self.assertEqual(sweep.steer(slots=2)["slots"], 2)
        sweep.stop(wait=True)
        self.assertEqual(sweep.state, "stopped")
        with self.assertRaises(muster.Error):
            sweep.best()


class Showing(WithMuster):
    def test_summaries_have_curves_and_are_well_formed(self):
        sweep = muster.sweep("recipe.lua", "--minimize", "loss", lr=[0.25, 0.5])
        sweep.wait()
        for shown in (sweep._summary_html(), sweep.trial(0)._summary_html()):
            minidom.parseString("<page>%s</page>" % shown)
            self.assertIn("<polyline", shown)
        for shown in (sweep, sweep.trial(0), sweep.trials(), muster.runs()):
            self.assertTrue(shown._repr_html_().startswith("<iframe sandbox="))
        self.assertLess(len(display.frame(sweep._summary_html(), 1)), 50_000)


if __name__ == "__main__":
    signal.alarm(600)
    unittest.main()
