-- enroot: an image file or a container made by `enroot create`, started as a descendant with the host's network, IPC and
-- PIDs. It has no option for the working folder, so a shell in the container changes to it. Source: doc/cmd/start.md and
-- doc/standard-hooks.md of enroot 3.4; not tried against it.
local devices = page "devices"

return {
  name = "enroot",
  run = { "enroot", "start", "--rw", "{mounts}", "{variables}", "{devices}", "{options}", "{image}",
          "/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", "{cwd}" },
  mount = { "--mount={source}:{target}:x-create=auto,rbind,{mode}" },
  variable = { "--env={variable}" },
  value = { "--env={variable}={value}" },
  own = { "PATH", "HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_DATA_HOME" },
  devices = {
    cuda = { words = { "--env=NVIDIA_VISIBLE_DEVICES=all", "--env=NVIDIA_DRIVER_CAPABILITIES=compute,utility" } },
    hip = { words = { "--mount=/dev/kfd:/dev/kfd:x-create=auto,bind,rw", "--mount=/dev/dri:/dev/dri:x-create=auto,rbind,rw" } },
    ascend = { script = devices.ascend_driver "--mount=%s:%s:x-create=auto,rbind,ro" },  -- /dev is the host's
  },
  exit_codes = { ["127"] = "the program was not found in the container" },
}
