#include "cli/plan/first_recipe.h"

#include <string_view>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

constexpr std::string_view kFirst =
    R"lua(-- A first recipe: it runs as it stands, and starts two processes that say who they are.
--
--   muster params {file}            what it takes
--   muster check {file}             whether all is well
--   muster plan {file} workers=4    every process it would start
--   muster run {file} workers=4     starts them
local muster = require "muster"

return muster.recipe {
  name = "first",
  doc  = "Says hello from a number of processes",

  -- Whose variables the processes find: "torch", "mindspore", "mpi" and others (muster docs), or "none".
  framework = "none",

  -- What may be set from outside, with types, limits and a word on each: muster.int, float, bool, string, enum, path,
  -- list, map, bytes, duration and secret.
  params = {
    workers = muster.int    { 2, min = 1, doc = "worker processes" },
    name    = muster.string { "world", doc = "who is greeted" },
  },

  -- Describes the processes; it starts nothing, and runs after all parameters are settled.
  plan = function(p, job)
    job:workers {
      count   = p.workers,
      command = { "echo", "hello", p.name },  -- a list, no shell: nothing needs quoting
      env     = { GREETED = p.name },
      each    = function(process)             -- once for every process; it has rank, local_rank, host, …
        process.command = { "echo", "hello", p.name, "from rank", process.rank, "of", process.world_size }
      end,
    }
  end,
}
)lua";

std::string Replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

std::string FirstRecipe(const std::string& file) { return Replaced(std::string(kFirst), "{file}", ShellQuoted(file)); }

}  // namespace muster
