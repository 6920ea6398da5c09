local muster = require "muster"

return muster.recipe {
  name = "case",
  framework = "mindspore",
  plan = function(p, job)
    job:env { MS_ROLE = "MS_WORKER" }
    job:workers { command = { "train" }, env = { RANK_TABLE_FILE = "/etc/hccl.json", RANK_ID = "0" } }
  end,
}
