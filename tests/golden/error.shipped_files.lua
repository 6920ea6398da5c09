local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  mindspore = "2.3",
  plan = function(p, job)
    context.set_context { device_target = "Ascend" }
    context.set_context { ascend_config = { parallel_speed_up_json_path = muster.file "conf/spoilt_speed_up.json" } }
    context.set_context { env_config_path = muster.file "conf/spoilt_env.json" }
    context.set_context { env_config_path = muster.file "conf/twice.json" }
    context.set_ps_context { config_file_path = muster.file "conf/spoilt_ps.json" }
    context.set_ps_context { config_file_path = muster.file "conf/cut.json" }
    context.set_context { env_config_path = muster.file "conf/nowhere.json" }
    context.set_context { env_config_path = muster.file "lib" }
    context.set_context { env_config_path = muster.file "../golden_test.cc" }
    job:workers { count = 1, command = { "train" } }
  end,
}
