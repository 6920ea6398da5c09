"""Callbacks of training frameworks, with stand-ins that call them as the frameworks do."""

import json
import os
import subprocess
import sys
import unittest

import launching

FRAMEWORKS = os.path.join(launching.STANDINS, "integrations")
TERM = "import os, signal\ndef term(): os.kill(os.getpid(), signal.SIGTERM)\n"


class Integrations(launching.LaunchTest):
    def train(self, script, **variables):
        return self.run_script(TERM + script, folders=[FRAMEWORKS], MUSTER_CONTEXT=None,
                               MUSTER_METRICS=self.path("metrics"), **variables)

    def must_train(self, script, **variables):
        outcome = self.train(script, **variables)
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        return outcome.out

    def reported(self):
        try:
            with open(self.path("metrics")) as file:
                return [json.loads(line) for line in file]
        except FileNotFoundError:
            return []


class Transformers(Integrations):
    SCRIPT = """
from transformers import Trainer
from muster.integrations.transformers import MusterCallback
trainer = Trainer([MusterCallback(stop_every=2)], steps=%d, at_step=%s, zero=%s)
trainer.train()
print(trainer.state.global_step, trainer.saved, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
"""

    def test_logs_and_evaluations_are_reported_with_their_step(self):
        self.assertEqual(self.must_train(self.SCRIPT % (2, None, True)), "2 [] True\n")
        self.assertEqual(self.reported(), [
            {"loss": 1.0, "epoch": 0.5, "step": 1}, {"loss": 0.5, "epoch": 0.5, "step": 2},
            {"eval_loss": 0.5, "step": 2}])

    def test_only_rank_zero_reports(self):
        self.must_train(self.SCRIPT % (2, None, False))
        self.assertEqual(self.reported(), [])

    def test_a_request_to_stop_saves_and_ends_the_training(self):
        out = self.must_train(self.SCRIPT % (9, "lambda step: step == 3 and term()", True))
        self.assertEqual(out, "4 [4] True\n")


class Lightning(Integrations):
    SCRIPT = """
from lightning.pytorch import Trainer
from muster.integrations.lightning import MusterCallback, MusterLogger
trainer = Trainer(MusterLogger(), [MusterCallback(stop_every=2)], batches=%d, at_batch=%s, other=%s)
trainer.fit(None)
print(trainer.done, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, trainer.logger.version)
"""

    def test_metrics_are_reported_with_their_step(self):
        self.assertEqual(self.must_train(self.SCRIPT % (2, None, False)), "2 True run\n")
        self.assertEqual(self.reported(), [{"loss": 1.0, "step": 1}, {"loss": 0.5, "step": 2}])

    def test_only_rank_zero_reports(self):
        self.must_train(self.SCRIPT % (2, None, False), RANK="1")
        self.assertEqual(self.reported(), [])

    def test_a_request_to_stop_ends_the_training(self):
        out = self.must_train(self.SCRIPT % (9, "lambda batch: batch == 3 and term()", False))
        self.assertEqual(out, "5 True run\n")

    def test_a_request_to_another_rank_ends_the_training_here_too(self):
        self.assertEqual(self.must_train(self.SCRIPT % (9, None, True)), "1 True run\n")


class Keras(Integrations):
    SCRIPT = """
from keras import Model
from muster.integrations.keras import MusterCallback
model = Model()
model.fit([MusterCallback(every=%s)], epochs=%d, batches=3, at_batch=%s)
print(model.epochs, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
"""

    def test_epochs_are_reported(self):
        self.assertEqual(self.must_train(self.SCRIPT % (None, 2, None)), "2 True\n")
        self.assertEqual(self.reported(), [{"loss": 0.5, "val_loss": 0.75, "epoch": 1, "step": 3},
                                           {"loss": 0.5, "val_loss": 0.75, "epoch": 2, "step": 6}])

    def test_batches_are_reported_on_request(self):
        self.must_train(self.SCRIPT % (2, 1, None))
        self.assertEqual(self.reported()[0], {"loss": 1.0, "step": 2})

    def test_a_request_to_stop_ends_the_training(self):
        at_batch = "lambda epoch, batch: (epoch, batch) == (1, 1) and term()"
        out = self.must_train(self.SCRIPT % (None, 9, at_batch))
        self.assertEqual(out, "2 True\n")


class Stop(Integrations):
    def test_a_second_request_has_its_former_effect(self):
        outcome = self.train("import muster.integrations\n"
                             "with muster.integrations.Stop() as stop:\n"
                             "    term()\n"
                             "    print(stop.requested(), flush=True)\n"
                             "    term()\n"
                             "    print('alive')\n")
        self.assertEqual((outcome.code, outcome.out), (-15, "True\n"))

    def test_other_signals_can_be_named(self):
        out = self.must_train("import muster.integrations\n"
                              "with muster.integrations.Stop(['SIGUSR1']) as stop:\n"
                              "    os.kill(os.getpid(), signal.SIGUSR1)\n"
                              "    print(stop.requested(), signal.getsignal(signal.SIGTERM) == "
                              "signal.SIG_DFL)\n")
        self.assertEqual(out, "True True\n")

    def test_should_stop_catches_the_first_request(self):
        outcome = self.train("import muster_context\n"
                             "print(muster_context.should_stop())\n"
                             "term()\n"
                             "print(muster_context.should_stop(), muster_context.should_stop(), flush=True)\n"
                             "term()\n"
                             "print('alive')\n")
        self.assertEqual((outcome.code, outcome.out), (-15, "False\nTrue True\n"))

    def test_should_stop_catches_the_named_signals(self):
        out = self.must_train("import muster_context\n"
                              "both = ['SIGTERM', 'SIGUSR1']\n"
                              "print(muster_context.should_stop(both))\n"
                              "os.kill(os.getpid(), signal.SIGUSR1)\n"
                              "term()\n"
                              "print(muster_context.should_stop(both))\n")
        self.assertEqual(out, "False\nTrue\n")

    def test_should_stop_catches_nothing_outside_a_run(self):
        out = self.must_train("del os.environ['MUSTER_METRICS']\n"
                              "import muster_context\n"
                              "print(muster_context.should_stop(), signal.getsignal(signal.SIGTERM) == "
                              "signal.SIG_DFL)\n")
        self.assertEqual(out, "False True\n")

    def test_threads_set_no_handler(self):
        out = self.must_train("import threading, muster.integrations\n"
                              "def ask():\n"
                              "    with muster.integrations.Stop() as stop: print(stop.requested())\n"
                              "thread = threading.Thread(target=ask); thread.start(); thread.join()\n")
        self.assertEqual(out, "False\n")

    @unittest.skipUnless(os.path.exists("/usr/lib/python3/dist-packages/torch"), "python3-torch is missing")
    def test_ranks_of_torch_stop_together(self):
        script = self.write("ranks.py", TERM + """
import sys
import torch.distributed as dist
import muster.integrations
rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
with muster.integrations.Stop() as stop:
    for step in range(9):
        if rank == 1 and step == 3:
            term()
        if stop.requested_anywhere():
            break
print(rank, step)
""")
        ranks = [subprocess.Popen(["/usr/bin/python3", script, str(rank), self.path("rendezvous")],
                                  stdout=subprocess.PIPE, universal_newlines=True,
                                  env=self.environment(MUSTER_CONTEXT=None)) for rank in (0, 1)]
        self.assertEqual([rank.communicate(timeout=120)[0] for rank in ranks], ["0 3\n", "1 3\n"])


if __name__ == "__main__":
    unittest.main()
