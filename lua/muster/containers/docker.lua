-- docker: containers belong to its daemon, so they are no descendants of the agent and are removed by their label.
-- Source: the reference of `docker run`, `docker ps` and `docker rm` of Docker 24; not tried against it.
local devices = page "devices"

return {
  name = "docker",
  run = { "docker", "run", "--rm", "--name={name}", "--label=muster.run={run}", "--network=host", "--ipc=host", "--pid=host",
          "--workdir={cwd}", "{output}", "{mounts}", "{variables}", "{devices}", "{options}", "{image}" },
  -- The daemon is root: without this, files that a process writes would belong to root.
  script = 'set -- "--user=$(id -u):$(id -g)" "$@"; ',
  mount = { "--volume={source}:{target}:{mode}" },
  variable = { "--env={variable}" },
  value = { "--env={variable}={value}" },
  own = { "PATH", "HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT" },
  output = { "--log-driver=none" },  -- the client writes the output that it gets from the daemon
  terminal = { "--log-driver=none", "--tty", "--interactive" },
  devices = {
    cuda = { words = { "--gpus=all" } },
    hip = { words = devices.hip },
    ascend = { script = devices.ascend "--device=%s" .. devices.ascend_driver "--volume=%s:%s:ro" },
  },
  remove = { "/bin/sh", "-c", 'docker ps --all --quiet --filter="label=muster.run=$1" | xargs --no-run-if-empty docker rm --force',
             "sh", "{run}" },
  exit_codes = {
    ["125"] = "docker could not start the container; often its image is missing, or an option is wrong",
    ["126"] = "the program could not be executed in the container",
    ["127"] = "the program was not found in the container",
  },
}
