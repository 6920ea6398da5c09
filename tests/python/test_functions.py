"""The functions of MindSpore 2.5 and later: one call each, with all their parameters, the device first."""

import json
import random

import launching
from standins import functions

VALUES = {
    "set_device": {"device_target": "Ascend", "device_id": 3}, "set_deterministic": {"deterministic": True},
    "set_recursion_limit": {"recursion_limit": 2000},
    "runtime.set_memory": {"init_size": "4GB", "max_size": "30GB", "optimize_level": "O1"},
    "runtime.dispatch_threads_num": {"threads_num": 8}, "runtime.launch_blocking": {"called": True},
    "runtime.set_cpu_affinity": {"enable_affinity": True, "affinity_cpu_list": {"device0": ["0-9"]}},
    "runtime.set_kernel_launch_group": {"thread_num": 2, "kernel_group_num": 8},
    "device_context.cpu.op_tuning.threads_num": {"num": 10},
    "device_context.ascend.op_debug.execute_timeout": {"op_timeout": 600},
    "device_context.ascend.op_debug.debug_option": {"option_value": "oom"},
    "device_context.ascend.op_debug.aclinit_config": {"config": {"err_msg_mode": "1"}},
    "device_context.ascend.op_precision.precision_mode": {"mode": "force_fp16"},
    "device_context.ascend.op_precision.op_precision_mode": {"path": "/ops.ini"},
    "device_context.ascend.op_precision.matmul_allow_hf32": {"value": True},
    "device_context.ascend.op_precision.conv_allow_hf32": {"value": False},
    "device_context.ascend.op_tuning.op_compile": {"value": True},
    "device_context.ascend.op_tuning.aoe_tune_mode": {"tune_mode": "online"},
    "device_context.ascend.op_tuning.aoe_job_type": {"config": "1"},
    "device_context.gpu.op_precision.matmul_allow_tf32": {"value": True},
    "device_context.gpu.op_precision.conv_allow_tf32": {"value": True},
    "device_context.gpu.op_tuning.conv_fprop_algo": {"mode": "fft"},
    "device_context.gpu.op_tuning.conv_dgrad_algo": {"mode": "fft"},
    "device_context.gpu.op_tuning.conv_wgrad_algo": {"mode": "fft"},
}
PARALLEL = {
    "mode": "sharding_propagation", "pipeline": {"stages": 4, "scheduler": "gpipe"}, "hsdp": {},
    "dataset_strategy": [[1, 8], [1, 8]], "load_param_strategy_file": "in.ckpt",
    "save_param_strategy_file": "out.ckpt", "disable_strategy_file_only_for_trainable_params": True,
    "load_operator_strategy_file": "/in.json", "save_operator_strategy_file": "/out.json",
    "comm_fusion": {"allreduce": {"mode": "size", "config": 32}}, "set_group_ckpt_save_file": "group",
    "print_local_norm": True, "dump_local_norm": "norms", "enable_device_local_norm": True,
    "enable_gradients_mean": True, "disable_gradient_fp32_sync": True, "disable_loss_repeated_mean": True,
    "enable_fp32_communication": True, "transformer_opt": "speed_up.json",
    "no_init_parameters_in_compile": True,
}
OLD = {"set_context": {"mode": 0, "max_call_depth": 500},
       "set_auto_parallel_context": {"parallel_mode": "data_parallel"}}


class Functions(launching.LaunchTest):
    def functions_called(self):
        """[(function, {parameter: text of its value})] in the order of the calls; getters left out."""
        with open(self.path("calls")) as file:
            lines = [json.loads(line) for line in file]
        return [(line["function"], line["values"]) for line in lines
                if not line["function"].startswith("get_")]

    def test_each_is_called_once_with_all_its_parameters(self):
        for release in ("2.5", "2.6", "2.7"):
            known = {name: VALUES[name] for name, (first, _, _) in functions.FUNCTIONS.items()
                     if first <= release}
            with self.subTest(release=release):
                self.setUp()
                self.write_context(release=release + ".0", **known)
                self.must_run("import mindspore", standin="functions_" + release.replace(".", ""))
                calls = dict(self.functions_called())
                self.assertEqual(len(self.functions_called()), len(known))
                for name, values in known.items():
                    shown = {key: repr(value) for key, value in values.items() if key != "called"}
                    self.assertEqual(calls[name], shown, name)
                self.assertEqual(self.applied()["applied"], known)
                self.assertTrue(self.applied()["complete"])

    def test_the_device_comes_first_and_can_be_read_back_from_26_on(self):
        device = {"device_target": "GPU", "device_id": 2}
        for release, read in (("2.5", {}), ("2.6", {"set_device": device})):
            with self.subTest(release=release):
                self.setUp()
                self.write_context(release=release + ".0", set_context={"mode": 0},
                                   **{"runtime.launch_blocking": {"called": True},
                                      "set_device": device})
                self.must_run("import mindspore", standin="functions_" + release.replace(".", ""))
                self.assertEqual([name for name, _ in self.functions_called()],
                                 ["set_device", "set_context", "runtime.launch_blocking"])
                effect = dict(self.applied()["in_effect"])
                self.assertEqual(effect.pop("set_context"), {"mode": 0})
                self.assertEqual(effect, read)
                unreadable = self.applied()["unreadable"]["runtime.launch_blocking"]
                self.assertIn("no function", unreadable["called"])

    def test_one_that_the_release_lacks_ends_the_process(self):
        self.write_context(release="2.5.0", **{"runtime.set_kernel_launch_group": {"thread_num": 2}})
        outcome = self.run_script("import mindspore; print('went on')", standin="functions_25")
        self.assertEqual((outcome.code, outcome.out), (1, ""))
        self.assertIn("MindSpore 2.5.0 has no mindspore.runtime.set_kernel_launch_group", outcome.err)

    def test_one_that_is_refused_ends_the_process(self):
        self.write_context(release="2.6.0", **{"runtime.set_memory": {"largest": "3GB"}})
        outcome = self.run_script("import mindspore", standin="functions_26")
        self.assertEqual(outcome.code, 1)
        self.assertIn("mindspore.runtime.set_memory(largest='3GB') raised TypeError", outcome.err)
        self.assertEqual(self.applied()["errors"][0]["function"], "runtime.set_memory")

    def test_a_name_that_is_none_is_not_called(self):
        self.write_context(release="2.6.0", **{"runtime.empty.cache": {"called": True}})
        outcome = self.run_script("import mindspore", standin="functions_26")
        self.assertEqual(outcome.code, 1)
        self.assertIn("cannot be applied with runtime.empty.cache", outcome.err)

    def test_the_order_holds_for_a_thousand_random_sets(self):
        """Many sets in one Python: each is applied to a fresh stand-in whose rules refuse a wrong order."""
        random.seed(7)
        sets = []
        for _ in range(1000):
            names = [name for name in VALUES if random.random() < 0.4]
            chosen = {name: VALUES[name] for name in random.sample(names, len(names))}
            if any(name.startswith("device_context.ascend.") for name in chosen):
                chosen["set_device"] = VALUES["set_device"]
            chosen.update({name: OLD[name] for name in OLD if random.random() < 0.5})
            if random.random() < 0.5:
                names = [name for name in PARALLEL if name == "mode" or random.random() < 0.4]
                chosen["parallel"] = {name: PARALLEL[name] for name in random.sample(names, len(names))}
            items = list(chosen.items())
            random.shuffle(items)
            sets.append(dict(items))
        with open(self.write("sets", json.dumps(sets))) as file:
            self.assertEqual(len(json.load(file)), 1000)
        self.write_context(release="2.7.0", set_context={"mode": 0})
        outcome = self.must_run("""
import importlib, json, os, sys
import muster_context.applying as applying, muster_context.context_file as context_file
calls = os.environ["STANDIN_CALLS"]
BEGIN, END = ["pipeline", "hsdp", "dataset_strategy"], ["transformer_opt"]
for number, chosen in enumerate(json.load(open("sets"))):
    for name in [name for name in sys.modules if name.split(".")[0] == "mindspore"]:
        del sys.modules[name]
    open(calls, "w").close()
    package = importlib.import_module("mindspore")
    with open(os.environ["MUSTER_CONTEXT"], "w") as file:
        json.dump({"format": 1, "mindspore": "2.7.0", "context": chosen}, file)
    application = applying.Application(package, "test")
    application.run()
    assert application._record["waiting"] == ["parallel"] * ("parallel" in chosen)
    package.communication.init()
    network = object()
    assert (application.wrap(network) is network) == ("parallel" not in chosen)
    names = [json.loads(line)["function"] for line in open(calls)]
    names = [name for name in names if not name.startswith("get_")]
    first = [name for name in context_file.FUNCTIONS if name in chosen]
    once = list(dict.fromkeys(names))
    wrapping = [name for name in once if name.startswith("AutoParallel")]
    assert once == first + sorted(set(chosen) - set(first) - {"parallel"}) + wrapping, (number, names)
    if "parallel" in chosen:
        rest = sorted(set(chosen["parallel"]) - {"mode"} - set(BEGIN) - set(END))
        wanted = [name for name in BEGIN + rest + END if name in chosen["parallel"]]
        assert names[-len(wanted) - 1:] == ["AutoParallel"] + ["AutoParallel." + name for name in wanted]
        assert application._record["complete"] and not application._record["waiting"]
        assert set(application._record["applied"]["parallel"]) == set(chosen["parallel"])
        chosen.pop("parallel")
    calls_once = [name for name in chosen if name not in ("set_context", "set_auto_parallel_context")]
    assert all(names.count(name) == 1 for name in calls_once)
print("done")
""", standin="functions_27", hook=False)
        self.assertEqual(outcome.out, "done\n")
