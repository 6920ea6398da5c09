-- Files beside the recipe: one that MindSpore reads, one that the program reads.
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "shipped",
  mindspore = "2.3",
  cluster = { devices_per_host = 2 },
  plan = function(p, job)
    context.set_context {
      device_target = "Ascend", save_graphs = 1, save_graphs_path = "graphs",
      ascend_config = { parallel_speed_up_json_path = muster.file "conf/speed_up.json" },
    }
    job:workers {
      command = { "train", "--schedule", muster.file "lib/schedule.lua" },
      each = function(process) process.env { RANK_ID = process.rank } end,
    }
  end,
}
