#include "cli/plan/first_recipe.h"

#include <string_view>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

constexpr std::string_view kFirst =
    R"lua(-- A first recipe: it runs unchanged, and starts two processes that print their ranks.
--
--   muster params {file}            lists its parameters
--   muster check {file}             checks it for problems
--   muster plan {file} workers=4    shows every process that it would start
--   muster run {file} workers=4     starts them
local muster = require "muster"

return muster.recipe {
  name = "first",
  doc  = "Says hello from a number of processes",

  -- The framework whose variables are set: "torch", "mindspore", "mpi" and others (muster docs), or "none".
  framework = "none",

  -- The parameters, with types, limits and documentation: muster.int, float, bool, string, enum, path,
  -- list, map, bytes, duration and secret.
  params = {
    workers = muster.int    { 2, min = 1, doc = "worker processes" },
    name    = muster.string { "world", doc = "the name to greet" },
  },

  -- Describes the processes; called after all parameters are known. Starts nothing.
  plan = function(p, job)
    job:workers {
      count   = p.workers,
      command = { "echo", "hello", p.name },  -- a list, no shell: no quoting needed
      env     = { GREETED = p.name },
      each    = function(process)             -- called for every process, with its rank, local_rank, host, …
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
