-- A YAML file that a recipe cannot represent, reported at the file's own line.
local muster = require "muster"

return muster.recipe {
  name = "yaml",
  plan = function(p, job)
    muster.read_yaml "conf/wrong.yaml"
  end,
}
