"""A stand-in for mindspore.parallel of 2.6 and later: AutoParallel and Layout, with every call recorded.

Implements what the real ones refuse, for the types that a wrong conversion from JSON would give, and that
the group of processes must exist before a network is wrapped. One function, `install`.
"""

import os
import sys
import types

SCHEDULERS = {"2.6": ("1f1b", "gpipe"), "2.7": ("1f1b", "gpipe", "seqpipe", "seqvpp", "seqsmartvpp")}
MODES = ("semi_auto", "sharding_propagation", "recursive_programming")
# method -> its parameters with their types; a tuple of types, or None for anything
METHODS = {
    "hsdp": {"shard_size": int, "threshold": int, "optimizer_level": str},
    "pipeline": {"stages": int, "output_broadcast": bool, "interleave": bool, "scheduler": str},
    "dataset_strategy": {"config": (str, tuple)},
    "load_param_strategy_file": {"file_path": str},
    "save_param_strategy_file": {"file_path": str},
    "disable_strategy_file_only_for_trainable_params": {},
    "load_operator_strategy_file": {"file_path": str},
    "save_operator_strategy_file": {"file_path": str},
    "comm_fusion": {"config": (dict, type(None))},
    "set_group_ckpt_save_file": {"file_path": str},
    "print_local_norm": {},
    "dump_local_norm": {"file_path": str},
    "enable_device_local_norm": {},
    "enable_gradients_mean": {},
    "disable_gradient_fp32_sync": {},
    "disable_loss_repeated_mean": {},
    "enable_fp32_communication": {},
    "transformer_opt": {"file_path": (str, type(None))},
    "no_init_parameters_in_compile": {},
}


class Layout:
    def __init__(self, device_matrix, alias_name, rank_list=None):
        if not isinstance(device_matrix, tuple) or not isinstance(alias_name, tuple):
            raise TypeError("device_matrix and alias_name must be tuples")
        if rank_list is not None and not isinstance(rank_list, list):
            raise TypeError("rank_list must be a list")
        self._made = device_matrix, alias_name, rank_list
        self._map = None

    def __call__(self, *tensor_map):
        for axis in tensor_map:
            for name in axis if isinstance(axis, tuple) else (axis,):
                if name != "None" and name not in self._made[1]:
                    raise ValueError("no axis %s" % (name,))
        self._map = tensor_map
        return self

    def __repr__(self):
        return "Layout%r%r" % (self._made, self._map)


def _check_strategy(config):
    if isinstance(config, str):
        if config not in ("full_batch", "data_parallel"):
            raise ValueError("config cannot be %s" % config)
        return
    for element in config:
        if isinstance(element, tuple):
            if not all(isinstance(number, int) for number in element):
                raise TypeError("the elements of config must be int")
        elif not isinstance(element, Layout):
            raise TypeError("the elements of config must be tuples or Layout, not %r" % (element,))


def _method(context, release, name, parameters):
    def call(self, *positional, **named):
        values = dict(zip(parameters, positional), **named)
        context._write("AutoParallel." + name, values)
        if len(positional) > len(parameters) or set(values) - set(parameters):
            raise TypeError("%s() got unexpected arguments %s" % (name, sorted(values)))
        if parameters and not values and name not in ("hsdp", "pipeline"):
            raise TypeError("%s() misses its argument" % name)
        for parameter, value in values.items():
            if not isinstance(value, parameters[parameter]):
                raise TypeError("%s of %s cannot be a %s" % (parameter, name, type(value).__name__))
        if name == "dataset_strategy":
            _check_strategy(values["config"])
        if name.endswith("operator_strategy_file"):
            if not os.path.isabs(values["file_path"]) or not values["file_path"].endswith(".json"):
                raise KeyError("file_path")
        if name == "pipeline":
            if values.get("scheduler", "1f1b") not in SCHEDULERS[release]:
                raise ValueError("scheduler cannot be %s" % values["scheduler"])
            self._stages = values.get("stages", 1)

    return call


def install(package, context, release):
    """Adds mindspore.parallel and mindspore.communication of `release` ("2.6") to the module `package`."""
    group = []

    class AutoParallel:
        def __init__(self, network, parallel_mode="semi_auto"):
            context._write("AutoParallel", {"parallel_mode": parallel_mode})
            if not group:
                raise RuntimeError("Distributed Communication has not been inited")
            if release >= "2.7" and parallel_mode not in MODES:
                raise ValueError("parallel_mode cannot be %s" % parallel_mode)
            self.network = network
            self._stages = 1

        def get_pipeline_stages(self):
            return self._stages

    for name, parameters in METHODS.items():
        setattr(AutoParallel, name, _method(context, release, name, parameters))
    parts = {"communication": {"init": lambda: group.append(True)}, "parallel": {"Layout": Layout},
             "parallel.auto_parallel": {"AutoParallel": AutoParallel}}
    for path, names in parts.items():
        module = types.ModuleType("%s.%s" % (package.__name__, path))
        vars(module).update(names)
        sys.modules[module.__name__] = module
        owner = sys.modules[module.__name__.rpartition(".")[0]]
        setattr(owner, path.rpartition(".")[2], module)
