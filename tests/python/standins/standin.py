"""Common code of the MindSpore stand-ins: a context that behaves like the real one and records every call.

Implements the rules of the real setters about the order of calls, tuples and reading, for a
handful of attributes; computes nothing. Calls are written to the file $STANDIN_CALLS, a JSON object per line.
"""

import atexit
import json
import os
import threading

TYPES = {
    "set_context": {
        "mode": int, "device_target": str, "device_id": int, "max_device_memory": str,
        "mempool_block_size": str, "variable_memory_max_size": str, "save_graphs": (bool, int),
        "jit_config": dict, "jit_syntax_level": int, "reserve_class_name_in_scope": bool,
        "enable_graph_kernel": bool, "max_call_depth": int, "auto_tune_mode": str, "ascend_config": dict,
    },
    "set_ps_context": {
        "enable_ps": bool, "scheduler_manage_port": int, "config_file_path": str, "enable_ssl": bool,
        "client_password": str, "server_password": str,
    },
    "set_auto_parallel_context": {
        "parallel_mode": str, "device_num": int, "global_rank": int, "gradients_mean": bool,
        "full_batch": bool, "dataset_strategy": (str, tuple), "pipeline_stages": int,
        "all_reduce_fusion_config": list, "comm_fusion": dict, "search_mode": str,
        "auto_parallel_search_mode": str, "strategy_ckpt_config": dict, "strategy_ckpt_load_file": str,
    },
}
DEFAULTS = {"mode": 1, "device_target": "CPU", "device_id": 0, "parallel_mode": "stand_alone",
            "jit_config": {}}
FROZEN = ("device_id", "max_device_memory", "variable_memory_max_size", "mempool_block_size")


class Context:
    """The context of one imported stand-in of `release`; a name of `refused` raises what it is mapped to."""

    def __init__(self, release, refused=None):
        self._major = int(release.split(".")[0])
        self._refused = refused or {}
        self._values = dict(DEFAULTS)
        self._named = set()  # of FROZEN: set once (1.x), or read (2.x)
        self._native_is_gone = False
        atexit.register(self._clear_up)

    def setter(self, function):
        def call(**values):
            self._write(function, values)
            self._check_types(function, values)
            for name in sorted(values, key=lambda name: name != "device_target"):
                self._set(name, values[name])

        call.__name__ = function
        return call

    def getter(self, function):
        def call(name):
            self._write(function, {name: None})
            if self._native_is_gone:
                raise RuntimeError("the native context has been cleared up")
            return self._get(name)

        call.__name__ = function
        return call

    def _clear_up(self):
        self._native_is_gone = True

    def _write(self, function, values):
        call = {"pid": os.getpid(), "thread": threading.current_thread().name, "function": function,
                "names": list(values), "values": {name: repr(value) for name, value in values.items()}}
        with open(os.environ["STANDIN_CALLS"], "a") as calls:
            calls.write(json.dumps(call) + "\n")

    def _check_types(self, function, values):
        for name, value in values.items():
            if name not in TYPES[function]:
                raise ValueError("For '%s', '%s' is not recognised" % (function, name))
            if value is not None and not isinstance(value, TYPES[function][name]):
                raise TypeError("For '%s', '%s' cannot be a %s" % (function, name, type(value).__name__))

    def _set(self, name, value):
        if name in self._refused:
            raise self._refused[name](value)
        if name in FROZEN and name in self._named:
            raise TypeError("'%s' cannot be set any more" % name)
        if name in FROZEN and self._major < 2:
            self._named.add(name)
        if name == "mempool_block_size" and self._values["mode"] == 0 \
                and self._values["jit_config"].get("jit_level") not in ("O0", "O1"):
            return
        alone = ("stand_alone", "data_parallel")
        if name == "parallel_mode" and self._values["mode"] == 1 and value not in alone:
            raise ValueError("PYNATIVE_MODE supports stand_alone and data_parallel, got %s" % value)
        if name == "dataset_strategy" and isinstance(value, tuple):
            if not all(isinstance(item, tuple) or type(item).__name__ == "Layout" for item in value):
                raise TypeError("the elements of dataset_strategy must be tuples")
        if name == "full_batch":
            self._values["dataset_strategy"] = "full_batch" if value else "data_parallel"
        if name == "enable_ps" and value:
            self._values["scheduler_manage_port"] = int(os.environ.get("MS_SCHED_MANAGE_PORT", "0"))
        self._values[name] = value

    def _get(self, name):
        if name == "auto_tune_mode":
            raise ValueError("auto_tune_mode cannot be read")
        if name in FROZEN and self._major >= 2:
            self._named.add(name)
        value = self._values.get(name)
        if name in ("max_device_memory", "mempool_block_size"):
            return float((value or "1GB")[:-2])
        if name == "variable_memory_max_size":
            return "%s * 1024 * 1024 * 1024" % (value or "0GB")[:-2]
        if name == "save_graphs" and value is True and self._major >= 2:
            return 2
        if name == "dataset_strategy" and isinstance(value, tuple):
            return [list(item) if isinstance(item, tuple) else item for item in value]
        return value
