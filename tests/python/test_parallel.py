"""muster_context.parallel(network): the recipe's settings of AutoParallel, for the network of the script."""

import json

import launching
from test_functions import PARALLEL

WRAP = """
import mindspore, muster_context
mindspore.communication.init()
network = object()
cell = muster_context.parallel(network)
print(type(cell).__name__, getattr(cell, "network", cell) is network)
"""
LAYOUT = {"device_matrix": [2, 2], "alias_name": ["dp", "mp"], "tensor_map": ["dp", ["mp", "None"]]}


class Parallel(launching.LaunchTest):
    def wrapping_calls(self):
        """[(method, {parameter: text of its value})] of AutoParallel."""
        with open(self.path("calls")) as file:
            lines = [json.loads(line) for line in file]
        return [(line["function"], line["values"]) for line in lines
                if line["function"].startswith("AutoParallel")]

    def test_each_setting_is_one_call_after_the_constructor(self):
        for release in ("2.6", "2.7"):
            with self.subTest(release=release):
                self.setUp()
                self.write_context(release=release + ".0", set_context={"mode": 0}, parallel=PARALLEL)
                outcome = self.must_run(WRAP, standin="functions_" + release.replace(".", ""))
                self.assertEqual(outcome.out, "AutoParallel True\n")
                calls = self.wrapping_calls()
                self.assertEqual(calls[0], ("AutoParallel", {"parallel_mode": "'sharding_propagation'"}))
                first = ["AutoParallel." + name for name in ("pipeline", "hsdp", "dataset_strategy")]
                self.assertEqual([name for name, _ in calls[1:4]], first)
                self.assertEqual(calls[-1][0], "AutoParallel.transformer_opt")
                self.assertEqual({name.partition(".")[2] for name, _ in calls[1:]}, set(PARALLEL) - {"mode"})
                self.assertEqual(len(calls), len(PARALLEL))
                values = dict(calls)
                self.assertEqual(values["AutoParallel.pipeline"], {"stages": "4", "scheduler": "'gpipe'"})
                self.assertEqual(values["AutoParallel.hsdp"], {})
                self.assertEqual(values["AutoParallel.dataset_strategy"], {"config": "((1, 8), (1, 8))"})
                self.assertEqual(values["AutoParallel.print_local_norm"], {})
                record = self.applied()
                self.assertEqual(record["applied"]["parallel"], PARALLEL)
                self.assertEqual(record["waiting"], [])
                self.assertTrue(record["complete"])

    def test_what_autoparallel_returns_is_read_back_and_the_rest_is_recorded(self):
        self.write_context(release="2.6.0", parallel=PARALLEL)
        self.must_run(WRAP + "cell.pipeline(stages=2)", standin="functions_26")
        record = self.applied()
        self.assertEqual(record["in_effect"]["parallel"], {"pipeline": {"stages": 4}})
        self.assertEqual(record["overridden"], [{"function": "parallel", "attribute": "pipeline",
                                                 "applied": PARALLEL["pipeline"], "at_exit": {"stages": 2}}])
        self.assertEqual(set(record["unreadable"]["parallel"]),
                         set(PARALLEL) - {"pipeline"} | {"pipeline.scheduler"})

    def test_a_method_is_not_called_for_false(self):
        self.write_context(release="2.6.0", parallel={"mode": "semi_auto", "print_local_norm": False})
        self.must_run(WRAP, standin="functions_26")
        self.assertEqual([name for name, _ in self.wrapping_calls()], ["AutoParallel"])

    def test_layouts_become_mindspores(self):
        self.write_context(release="2.6.0", set_auto_parallel_context={"dataset_strategy": [LAYOUT]},
                           parallel={"mode": "semi_auto", "dataset_strategy": [LAYOUT, LAYOUT]})
        self.must_run(WRAP, standin="functions_26")
        layout = "Layout((2, 2), ('dp', 'mp'), None)('dp', ('mp', 'None'))"
        self.assertEqual(self.wrapping_calls()[1],
                         ("AutoParallel.dataset_strategy", {"config": "(%s, %s)" % (layout, layout)}))
        self.assertEqual(self.calls(), [("set_auto_parallel_context", "dataset_strategy", "(%s,)" % layout)])
        self.assertEqual(self.applied()["applied"]["parallel"]["dataset_strategy"], [LAYOUT, LAYOUT])

    def test_the_network_stays_as_it_is_without_settings_and_outside_a_run(self):
        self.write_context(release="2.6.0", set_context={"mode": 0})
        self.assertEqual(self.must_run(WRAP, standin="functions_26").out, "object True\n")
        outcome = self.must_run(WRAP, standin="functions_26", MUSTER_CONTEXT=None)
        self.assertEqual(outcome.out, "object True\n")

    def test_without_the_import_hook_the_other_settings_come_first(self):
        self.write_context(release="2.6.0", set_context={"mode": 0}, parallel={"mode": "semi_auto"})
        self.must_run(WRAP, standin="functions_26", hook=False)
        with open(self.path("calls")) as file:
            names = [json.loads(line)["function"] for line in file]
        self.assertEqual([name for name in names if not name.startswith("get_")],
                         ["set_context", "AutoParallel"])

    def test_each_of_several_networks_is_wrapped(self):
        self.write_context(release="2.6.0", parallel={"mode": "semi_auto", "enable_gradients_mean": True})
        self.must_run(WRAP + "muster_context.parallel(network)", standin="functions_26")
        self.assertEqual([name for name, _ in self.wrapping_calls()],
                         ["AutoParallel", "AutoParallel.enable_gradients_mean"] * 2)

    def test_a_script_that_wraps_nothing_is_told(self):
        self.write_context(release="2.6.0", parallel={"mode": "semi_auto"})
        outcome = self.run_script("import mindspore", standin="functions_26")
        self.assertEqual(outcome.code, 0)
        self.assertIn("the settings of parallel were not applied: the script did not call "
                      "muster_context.parallel(network)", outcome.err)
        self.assertEqual(self.applied()["waiting"], ["parallel"])
        scheduler = self.run_script("import mindspore", standin="functions_26", MS_ROLE="MS_SCHED")
        self.assertEqual(scheduler.err, "")

    def test_the_scripts_own_mistake_is_its_exception(self):
        self.write_context(release="2.6.0", parallel={"mode": "semi_auto"})
        early = "import mindspore, muster_context\n%smuster_context.parallel(object())"
        outcome = self.run_script(early % "", standin="functions_26")
        self.assertEqual(outcome.code, 1)
        self.assertIn("RuntimeError: Distributed Communication has not been inited", outcome.err)
        self.assertEqual(self.applied()["errors"][0]["function"], "parallel")
        self.must_run("import mindspore, muster_context\ntry:\n  muster_context.parallel(object())\n"
                      "except RuntimeError:\n  mindspore.communication.init()\n"
                      "muster_context.parallel(object())", standin="functions_26")
        self.assertEqual(self.applied()["errors"], [])

    def test_a_refused_setting_ends_the_process(self):
        pipeline = {"scheduler": "seqpipe"}
        self.write_context(release="2.6.0", parallel={"mode": "semi_auto", "pipeline": pipeline})
        outcome = self.run_script(WRAP, standin="functions_26")
        self.assertEqual((outcome.code, outcome.out), (1, ""))
        self.assertIn("AutoParallel.pipeline({'scheduler': 'seqpipe'}) raised ValueError: scheduler cannot "
                      "be seqpipe", outcome.err)
        self.assertEqual(self.applied()["errors"][0]["attribute"], "pipeline")
        self.assertNotIn("parallel", self.applied()["applied"])

    def test_a_release_without_it_ends_the_process(self):
        self.write_context(release="2.6.0", accept_release=True, parallel={"mode": "semi_auto"})
        outcome = self.run_script("import mindspore, muster_context\nmuster_context.parallel(object())",
                                  standin="functions_25")
        self.assertEqual(outcome.code, 1)
        self.assertIn("MindSpore 2.5.0 has no mindspore.parallel.auto_parallel.AutoParallel", outcome.err)

    def test_a_forked_child_wraps_and_leaves_the_record(self):
        self.write_context(release="2.6.0", parallel={"mode": "semi_auto"})
        self.must_run("import os, sys\nimport mindspore, muster_context\nmindspore.communication.init()\n"
                      "muster_context.parallel(object())\nchild = os.fork()\n"
                      "if child == 0:\n  muster_context.parallel(object()); os._exit(0)\n"
                      "assert os.waitpid(child, 0)[1] == 0\nprint(os.getpid())", standin="functions_26")
        self.assertEqual(len(self.wrapping_calls()), 2)
        self.assertEqual(self.applied()["waiting"], [])
