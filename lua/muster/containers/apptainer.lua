-- Apptainer: starts processes as its own descendants and keeps no record of them. Variables come into the container from
-- variables with a prefix. Source: apptainer exec in the user guide of Apptainer 1.2; not tried against it.
local devices = page "devices"

return {
  name = "apptainer",
  run = { "apptainer", "exec", "--cleanenv", "--pwd={cwd}", "{mounts}", "{devices}", "{options}", "{image}" },
  mount = { "--bind={source}:{target}:{mode}" },
  variable_prefix = "APPTAINERENV_",
  own = { "PATH", "HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "TMPDIR" },
  devices = {
    cuda = { words = { "--nv" } },
    hip = { words = { "--rocm" } },
    ascend = { script = devices.ascend_driver "--bind=%s:%s:ro" },  -- /dev is the host's
  },
  exit_codes = { ["255"] = "apptainer could not start the container; often its image is missing, or an option is wrong" },
}
