"""Stand-ins for the functions of MindSpore 2.5 to 2.7 that replace set_context; each call is recorded.

Defines which release has which function, which may be repeated, and that set_device comes first where
a function needs the device. `auto_parallel` has what wraps a network. One function,
`install`, puts them into a stand-in package.
"""

import sys
import types

ONCE, SAME, FREE = "once", "same", "free"
# name below mindspore -> (first release, how often it may be called, parameters in order)
FUNCTIONS = {
    "set_device": ("2.5", SAME, ("device_target", "device_id")),
    "set_deterministic": ("2.5", ONCE, ("deterministic",)),
    "set_recursion_limit": ("2.5", FREE, ("recursion_limit",)),
    "runtime.set_memory": ("2.5", ONCE, ("init_size", "increase_size", "max_size", "optimize_level",
                                         "huge_page_reserve_size")),
    "runtime.dispatch_threads_num": ("2.5", ONCE, ("threads_num",)),
    "runtime.launch_blocking": ("2.5", FREE, ()),
    "runtime.set_cpu_affinity": ("2.5", ONCE, ("enable_affinity", "affinity_cpu_list", "module_to_cpu_dict")),
    "runtime.set_kernel_launch_group": ("2.6", ONCE, ("thread_num", "kernel_group_num")),
    "device_context.cpu.op_tuning.threads_num": ("2.5", ONCE, ("num",)),
    "device_context.ascend.op_debug.execute_timeout": ("2.5", SAME, ("op_timeout",)),
    "device_context.ascend.op_debug.debug_option": ("2.5", SAME, ("option_value",)),
    "device_context.ascend.op_debug.aclinit_config": ("2.6", FREE, ("config",)),
    "device_context.ascend.op_precision.precision_mode": ("2.5", SAME, ("mode",)),
    "device_context.ascend.op_precision.op_precision_mode": ("2.5", SAME, ("path",)),
    "device_context.ascend.op_precision.matmul_allow_hf32": ("2.5", SAME, ("value",)),
    "device_context.ascend.op_precision.conv_allow_hf32": ("2.5", SAME, ("value",)),
    "device_context.ascend.op_tuning.op_compile": ("2.5", ONCE, ("value",)),
    "device_context.ascend.op_tuning.aoe_tune_mode": ("2.5", SAME, ("tune_mode",)),
    "device_context.ascend.op_tuning.aoe_job_type": ("2.5", SAME, ("config",)),
    "device_context.gpu.op_precision.matmul_allow_tf32": ("2.5", FREE, ("value",)),
    "device_context.gpu.op_precision.conv_allow_tf32": ("2.5", FREE, ("value",)),
    "device_context.gpu.op_tuning.conv_fprop_algo": ("2.5", FREE, ("mode",)),
    "device_context.gpu.op_tuning.conv_dgrad_algo": ("2.5", FREE, ("mode",)),
    "device_context.gpu.op_tuning.conv_wgrad_algo": ("2.5", FREE, ("mode",)),
}
# Parameters that came later than their function.
LATER = {"huge_page_reserve_size": "2.6", "module_to_cpu_dict": "2.7"}


def _function(context, name, repeats, parameters):
    before = []

    def call(*positional, **named):
        values = dict(zip(parameters, positional), **named)
        context._write(name, values)
        if len(positional) > len(parameters) or set(values) - set(parameters):
            raise TypeError("%s() got unexpected arguments %s" % (name, sorted(values)))
        if before and repeats == ONCE or before and repeats == SAME and before[0] != values:
            raise RuntimeError("%s has been called before" % name)
        if name.startswith("device_context.ascend.") and context._values["device_target"] != "Ascend":
            raise AssertionError("%s is called on %s" % (name, context._values["device_target"]))
        before.append(values)
        if name == "set_device":
            context._values.update({"device_id": 0}, **values)

    return call


def install(package, context, release):
    """Adds the functions of `release` ("2.6") to the module `package`."""
    for name, (first, repeats, parameters) in FUNCTIONS.items():
        if release < first:
            continue
        kept = tuple(parameter for parameter in parameters if release >= LATER.get(parameter, first))
        *folders, last = name.split(".")
        owner, path = package, package.__name__
        for folder in folders:
            path += "." + folder
            if path not in sys.modules:
                sys.modules[path] = types.ModuleType(path)
                setattr(owner, folder, sys.modules[path])
            owner = sys.modules[path]
        setattr(owner, last, _function(context, name, repeats, kept))
    if release >= "2.6":
        import auto_parallel  # beside this file on the path of a launched Python only

        auto_parallel.install(package, context, release)
        package.get_current_device = lambda: (context._values["device_target"], context._values["device_id"])
