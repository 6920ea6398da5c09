local muster = require "muster"

return muster.recipe {
  name = "case",
  params = { token = muster.secret { from_env = "TOKEN" } },
  plan = function(p, job)
    job:workers { command = { "train", "--token", p.token }, env = { TOKEN = "Bearer " .. p.token } }
  end,
}
