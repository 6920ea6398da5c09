-- podman: rootless or as root, without a daemon. conmon, the parent of each container's processes, becomes a child of the
-- agent. Source: podman-run(1), podman-rm(1) of podman 4.3; tried against it (tests/containers).
local devices = page "devices"

return {
  name = "podman",
  run = { "podman", "run", "--rm", "--name={name}", "--label=muster.run={run}", "--network=host", "--ipc=host", "--pid=host",
          "--workdir={cwd}", "{output}", "{descriptors}", "{mounts}", "{variables}", "{devices}", "{options}", "{image}" },
  mount = { "--volume={source}:{target}:{mode}" },
  variable = { "--env={variable}" },
  value = { "--env={variable}={value}" },
  own = { "PATH", "HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
          "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "REGISTRY_AUTH_FILE" },
  descriptors = { "--preserve-fds={count}" },
  output = { "--log-driver=passthrough" },  -- the process writes to the log file itself
  terminal = { "--log-driver=none", "--tty", "--interactive" },
  devices = {
    cuda = { words = { "--device=nvidia.com/gpu=all" } },  -- by the Container Device Interface
    hip = { words = devices.hip },
    ascend = { script = devices.ascend "--device=%s" .. devices.ascend_driver "--volume=%s:%s:ro" },
  },
  remove = { "podman", "rm", "--force", "--time=0", "--filter=label=muster.run={run}" },
  exit_codes = {
    ["125"] = "podman could not start the container; often its image is missing, or an option is wrong",
    ["126"] = "the program could not be executed in the container",
    ["127"] = "the program was not found in the container",
  },
}
