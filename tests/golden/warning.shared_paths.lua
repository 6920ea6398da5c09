local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  framework = { "mindspore-ps", form = "minimal" },
  mindspore = "1.6",
  plan = function(p, job)
    context.set_context { device_target = "Ascend", print_file_path = "printed.txt" }
    context.set_context { save_graphs = true }
    context.set_context { enable_compile_cache = true }
    job:servers { count = 1, command = { "train" } }
    job:workers {
      count = 2, devices = 0, command = { "train" },
      each = function(process) process:context { compile_cache_path = "cache/" .. process.role .. process.index } end,
    }
  end,
}
