"""Properties of MindSpore's setters and getters, common to all releases.

Defines their order, the comparison of releases and how values read back. Calls nothing and has no state.

Every attribute is set by its own call. MindSpore processes the names of a call one by one and undoes nothing,
so several calls have the same effect as one; but only they show which value was refused. The order, where an
attribute affects what a later one may be or does:

- set_context comes first: parallel_mode is checked against mode, the fusion list is kept for device_target.
  First device_target (it decides which attributes are skipped, and changes defaults), then mode, then
  jit_config (mempool_block_size depends on both).
- set_ps_context: enable_ps first, it overwrites the others from the environment.
- set_auto_parallel_context: parallel_mode first. dataset_strategy and strategy_ckpt_config last: they store
  the same values as full_batch and the strategy files, with more detail.
- parallel, the settings of AutoParallel: the constructor's mode first; transformer_opt, which changes the
  context at once, last.
- Others are sorted by name. That puts old names before new ones if both are set:
  auto_parallel_search_mode and search_mode, all_reduce_fusion_config and comm_fusion.
"""

import re

FIRST = {
    "set_context": ("device_target", "mode", "jit_config"),
    "set_ps_context": ("enable_ps",),
    "set_auto_parallel_context": ("parallel_mode",),
    "parallel": ("mode", "pipeline", "hsdp", "dataset_strategy"),
}
LAST = {
    "set_auto_parallel_context": ("dataset_strategy", "strategy_ckpt_config"),
    "parallel": ("transformer_opt",),
}
GETTERS = {
    "set_context": "get_context",
    "set_ps_context": "get_ps_context",
    "set_auto_parallel_context": "get_auto_parallel_context",
}

# Functions of 2.5 and later that take their parameters in one call, as they are named below mindspore.
CALLS = re.compile(r"set_device|set_deterministic|set_recursion_limit|runtime\.\w+|"
                   r"device_context\.(cpu|gpu|ascend)\.\w+\.\w+")
# Settings that wait for the script's network, and the class that it is wrapped in.
PARALLEL = "parallel"
AUTO_PARALLEL = "parallel.auto_parallel.AutoParallel"
# Its methods whose settings are tables of their parameters. Others take the value; those without parameters
# are called where it is true.
SPREAD = ("hsdp", "pipeline")
# The value of a function without parameters.
CALLED = "called"

# From 2.0 on these cannot be changed once they have been read, so they are read at exit only: a script that
# sets one of them must find MindSpore as it is without muster.
FROZEN_BY_READING = ("device_id", "max_device_memory", "variable_memory_max_size", "mempool_block_size")
# Stored per thread: reading it in another thread than the setter's is meaningless.
KEPT_PER_THREAD = ("reserve_class_name_in_scope",)

RELEASE = re.compile(r"\s*v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-._]?rc[-._]?(\d+))?", re.IGNORECASE)


def release_of(text):
    """(major, minor, patch, release candidate or None) of 2.3.0-rc2, 2.3.0rc2 or 1.6; None of other texts.

    Ignores suffixes, as in 0.3.1-alpha or 2.3.1.dev20240801.
    """
    match = RELEASE.match(text) if isinstance(text, str) else None
    if not match:
        return None
    major, minor, patch, candidate = match.groups()
    return int(major), int(minor), int(patch or 0), int(candidate) if candidate else None


def is_call(function):
    """Whether it takes its parameters in one call; setters are called once for each attribute."""
    return CALLS.fullmatch(function) is not None


def in_order(function, values):
    """The names of `values` in the order for setting them."""
    first, last = FIRST.get(function, ()), LAST.get(function, ())

    def place(name):
        if name in first:
            return 0, first.index(name), name
        return (2, last.index(name), name) if name in last else (1, 0, name)

    return sorted(values, key=place)


def reads_as(name, written, read):
    """Whether `read` matches an attribute of FROZEN_BY_READING that was set to `written`."""
    if name == "device_id":
        return read == written
    amount = written[:-len("GB")]
    if name == "variable_memory_max_size":
        return read == amount + " * 1024 * 1024 * 1024"
    # MindSpore stores the number in 32 bits.
    return isinstance(read, (int, float)) and abs(read - float(amount)) <= 1e-6 * float(amount)
