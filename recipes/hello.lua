-- The smallest recipe: a few processes that print their names.
--
--   muster run recipes/hello.lua greetings=3 name=world
local muster = require "muster"

return muster.recipe {
  name = "hello",
  doc  = "Says hello from a number of processes",

  params = {
    greetings = muster.int { 2, min = 1, max = 64, doc = "processes that greet" },
    name      = muster.string { "world", doc = "who is greeted" },
  },

  plan = function(p, job)
    job:workers {
      count = p.greetings,
      command = { "echo", "hello", p.name },
      each = function(process)
        process.command = { "echo", "hello", p.name, "from rank", process.rank, "of", process.world_size }
      end,
    }
  end,
}
