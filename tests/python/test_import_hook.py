"""Settings are applied on `import mindspore`, in the right order, once, whatever the release looks like."""

import launching


class ImportHook(launching.LaunchTest):
    def test_settings_are_applied_in_both_shapes_of_the_interface(self):
        for standin, release in (("old", "1.6.2"), ("new", "2.3.1"), ("both", "2.3.0-rc2")):
            with self.subTest(standin):
                self.setUp()
                self.write_context(release, set_context={"mode": 0, "device_target": "Ascend"},
                                   set_auto_parallel_context={"device_num": 8})
                self.must_run("import mindspore", standin=standin)
                self.assertEqual(self.calls(), [("set_context", "device_target", "'Ascend'"),
                                                ("set_context", "mode", "0"),
                                                ("set_auto_parallel_context", "device_num", "8")])
                applied = self.applied()
                self.assertEqual(applied["applied"], {"set_context": {"device_target": "Ascend", "mode": 0},
                                                      "set_auto_parallel_context": {"device_num": 8}})
                self.assertEqual((applied["imported"], applied["how"], applied["expected"],
                                  applied["complete"]),
                                 (True, "import hook", release, True))

    def test_every_way_to_import_applies_before_the_script_goes_on(self):
        ways = ("import mindspore as ms; context = ms.context", "from mindspore import context",
                "import mindspore.context; context = mindspore.context",
                "from mindspore.context import *; import mindspore.context as context",
                "import importlib; context = importlib.import_module('mindspore.context')",
                "context = __import__('mindspore').context")
        for way in ways:
            with self.subTest(way):
                self.setUp()
                self.write_context(set_context={"mode": 0})
                outcome = self.must_run(way + "; print(context.get_context('mode'))")
                self.assertEqual(outcome.out, "0\n")
                self.assertEqual(self.calls(), [("set_context", "mode", "0")])

    def test_what_others_depend_on_is_set_before_them(self):
        self.write_context("2.3.1", set_auto_parallel_context={
            "all_reduce_fusion_config": [20, 35], "auto_parallel_search_mode": "dynamic_programming",
            "comm_fusion": {"allreduce": {"mode": "auto", "config": None}},
            "dataset_strategy": [[1, 8], [1, 8]],
            "full_batch": True, "parallel_mode": "semi_auto_parallel", "search_mode": "recursive_programming",
            "strategy_ckpt_config": {"load_file": "b"}, "strategy_ckpt_load_file": "a",
        }, set_context={
            "device_id": 3, "device_target": "Ascend", "jit_config": {"jit_level": "O1"},
            "max_device_memory": "30GB",
            "mempool_block_size": "2GB", "mode": 0,
        }, set_ps_context={"client_password": "x", "enable_ps": True, "scheduler_manage_port": 11203})
        self.must_run("import mindspore", standin="new")
        self.assertEqual([(function, name) for function, name, _ in self.calls()], [
            ("set_context", "device_target"), ("set_context", "mode"), ("set_context", "jit_config"),
            ("set_context", "device_id"), ("set_context", "max_device_memory"),
            ("set_context", "mempool_block_size"),
            ("set_ps_context", "enable_ps"), ("set_ps_context", "client_password"),
            ("set_ps_context", "scheduler_manage_port"),
            ("set_auto_parallel_context", "parallel_mode"),
            ("set_auto_parallel_context", "all_reduce_fusion_config"),
            ("set_auto_parallel_context", "auto_parallel_search_mode"),
            ("set_auto_parallel_context", "comm_fusion"),
            ("set_auto_parallel_context", "full_batch"), ("set_auto_parallel_context", "search_mode"),
            ("set_auto_parallel_context", "strategy_ckpt_load_file"),
            ("set_auto_parallel_context", "dataset_strategy"),
            ("set_auto_parallel_context", "strategy_ckpt_config"),
        ])
        in_effect = self.applied()["in_effect"]
        self.assertEqual(in_effect["set_ps_context"]["scheduler_manage_port"], 11203)
        self.assertEqual(in_effect["set_auto_parallel_context"]["dataset_strategy"], [[1, 8], [1, 8]])

    def test_tuples_null_and_named_constants_are_what_the_real_interface_wants(self):
        self.write_context("2.3.1", set_auto_parallel_context={
            "dataset_strategy": [[1, 8], []], "all_reduce_fusion_config": [1, 2],
            "comm_fusion": {"allreduce": {"mode": "auto", "config": None}},
        }, set_context={"mode": "GRAPH_MODE", "jit_syntax_level": "LAX", "save_graphs": True})
        self.must_run("import mindspore", standin="new")
        self.assertEqual({name: value for _, name, value in self.calls()}, {
            "dataset_strategy": "((1, 8), ())", "all_reduce_fusion_config": "[1, 2]",
            "comm_fusion": "{'allreduce': {'mode': 'auto', 'config': None}}",
            "mode": "0", "jit_syntax_level": "2", "save_graphs": "True",
        })

    def test_dataset_strategy_as_a_word_stays_a_word(self):
        self.write_context(set_auto_parallel_context={"dataset_strategy": "full_batch"})
        self.must_run("import mindspore")
        self.assertEqual(self.calls(), [("set_auto_parallel_context", "dataset_strategy", "'full_batch'")])

    def test_an_empty_context_is_applied_without_a_call(self):
        self.write_context()
        self.must_run("import mindspore")
        self.assertEqual(self.calls(), [])
        applied = self.applied()
        self.assertEqual((applied["imported"], applied["complete"], applied["applied"],
                          applied["overridden"]),
                         (True, True, {}, []))

    def test_threads_that_import_at_once_see_the_settings_and_apply_them_once(self):
        self.write_context(set_context={"mode": 0, "device_id": 5})
        outcome = self.must_run("""
import threading
start, seen = threading.Barrier(8), []
def run():
    start.wait()
    from mindspore import context
    seen.append(context.get_context("device_id"))
threads = [threading.Thread(target=run) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(seen)
""")
        self.assertEqual(outcome.out, "[5, 5, 5, 5, 5, 5, 5, 5]\n")
        self.assertEqual(self.calls(), [("set_context", "mode", "0"), ("set_context", "device_id", "5")])

    def test_a_second_import_and_a_reload_apply_nothing_again(self):
        self.write_context(set_context={"mode": 0})
        self.must_run("import importlib, sys, mindspore; importlib.reload(mindspore); import mindspore;"
                      "sys.modules.pop('mindspore'); import mindspore")
        self.assertEqual(self.calls(), [("set_context", "mode", "0")])

    def test_the_module_is_as_without_the_hook(self):
        script = ("import mindspore as m; print(type(m.__loader__), type(m.__spec__.loader), m.__file__,"
                  " m.__path__, m.__spec__.origin, sorted(vars(m)))")
        self.write_context()
        self.assertEqual(self.must_run(script).out, self.must_run(script, hook=False).out)

    def test_looking_for_mindspore_imports_and_applies_nothing(self):
        self.write_context(set_context={"mode": 0})
        outcome = self.must_run("import importlib.util as u; spec = u.find_spec('mindspore');"
                                "print(spec.loader.is_package('mindspore'))")
        self.assertEqual(outcome.out, "True\n")
        self.assertFalse(self.applied()["imported"])

    def test_another_hook_that_asks_every_finder_is_no_trouble(self):
        self.write_context(set_context={"mode": 0})
        self.must_run("""
import importlib.util, sys
class Other:
    busy = False
    def find_spec(self, name, path=None, target=None):
        if name != "mindspore" or self.busy:
            return None
        self.busy = True
        try:
            return importlib.util.find_spec(name)
        finally:
            self.busy = False
sys.meta_path.insert(0, Other())
import mindspore
""")
        self.assertEqual(self.calls(), [("set_context", "mode", "0")])

    def test_another_hook_that_asks_every_finder_again_and_again_is_no_trouble(self):
        self.write_context(set_context={"mode": 0})
        self.must_run("""
import sys
class Other:
    def find_spec(self, name, path=None, target=None):
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        return next(filter(None, specs), None) if name == "mindspore" else None
sys.meta_path.insert(0, Other())
import mindspore
""")
        self.assertEqual(self.calls(), [("set_context", "mode", "0")])

    def test_packages_with_similar_names_are_left_alone(self):
        self.write_context(set_context={"mode": 0})
        self.write("more/mindspore_lite.py", "")
        self.must_run("import mindspore_lite", folders=[self.path("more")])
        self.assertFalse(self.applied()["imported"])

    def test_an_import_that_fails_fails_as_it_would_and_is_noted(self):
        self.write_context(set_context={"mode": 0})
        outcome = self.run_script("import mindspore", standin="failing")
        self.assertEqual(outcome.code, 1)
        self.assertTrue(outcome.err.endswith("ImportError: libcudart.so.11 is missing\n"), outcome.err)
        applied = self.applied()
        self.assertFalse(applied["imported"])
        self.assertEqual(applied["errors"], [{
            "kind": "import", "function": None, "attribute": None, "value": None,
            "message": "ImportError: libcudart.so.11 is missing"}])
