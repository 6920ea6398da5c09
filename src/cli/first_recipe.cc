#include "cli/first_recipe.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/shell_quote.h"

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

// A Lua string: the escapes of Quoted are Lua's, too.
std::string Words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += Quoted(word) + ", ";
  return text;
}

bool IsLuaName(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string Framework(const LauncherCall& call) {
  switch (call.launcher) {
    case JobLauncher::kTorchrun:
      return "\"torch\"";
    case JobLauncher::kMsrun:
      return "\"mindspore\"";
    case JobLauncher::kMpirun:
      break;
  }
  if (call.launcher_args.empty()) return "\"mpi\"";
  std::string args = Words(call.launcher_args);
  args.resize(args.size() - 2);
  return "{ \"mpi\", args = { " + args + " } }";
}

// The table of a role's env.
std::string Environment(const LauncherCall& call) {
  std::string text = "      env     = { ";
  for (const auto& [name, value] : call.env)
    text += (IsLuaName(name) ? name : "[" + Quoted(name) + "]") + " = " + Quoted(value) + ", ";
  // The contract sets some of these itself, and must be told that this is meant.
  return text + "override = true },\n";
}

}  // namespace

std::string FirstRecipe(const std::string& file) { return Replaced(std::string(kFirst), "{file}", ShellQuoted(file)); }

std::string NameOfProgram(const LauncherCall& call) {
  const bool by_python = call.command.size() > 1 && call.command[0] == "python3";
  const bool module = by_python && call.command[1] == "-m" && call.command.size() > 2;
  const std::string& program = module ? call.command[2] : call.command[by_python ? 1 : 0];
  std::string name = module ? program : std::filesystem::path(program).stem().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '-';
  }
  return name.empty() || name.front() == '-' ? "job" : name;
}

std::string RecipeFromCall(const LauncherCall& call, const std::vector<std::string>& words, const std::string& file) {
  const std::string shown = ShellQuoted(file);
  std::string text = "-- What this starts, as a recipe:\n--\n--   " + Printable(ShellQuoted(words)) + "\n--\n";
  text +=
      fmt::format("--   muster plan {0}    every process it would start\n--   muster run {0}     starts them\n", shown);
  if (!call.without_effect.empty()) {
    text += "--\n-- Nothing follows from these:\n";
    for (const auto& [option, why] : call.without_effect) text += fmt::format("--   {}: {}\n", Printable(option), why);
  }
  text += "local muster = require \"muster\"\n\nreturn muster.recipe {\n";
  text += fmt::format("  name      = {},\n  framework = {},\n\n", Quoted(NameOfProgram(call)), Framework(call));
  if (call.total) {
    text +=
        fmt::format("  params = {{\n    workers = muster.int {{ {}, min = 1, doc = \"processes in all\" }},\n  }},\n\n",
                    *call.total);
  } else if (call.per_host) {
    text += fmt::format(
        "  params = {{\n    per_host = muster.int {{ {}, min = 1, doc = \"processes of each host\" }},\n  }},\n\n",
        *call.per_host);
  }
  if (call.hosts > 1 || (call.per_host && call.launcher != JobLauncher::kMpirun)) {
    text += fmt::format("  cluster = {{ hosts = {}", call.hosts);
    if (call.per_host) text += fmt::format(", devices_per_host = {}", *call.per_host);
    text += " },\n\n";
  }
  text += "  plan = function(p, job)\n    job:workers {\n";
  if (call.total) {
    text += "      count   = p.workers,\n";
  } else if (call.per_host) {
    text += "      per_host = p.per_host,\n      -- devices = 1,  -- a device for each, which no other process gets\n";
  } else {
    text += "      devices = 1,  -- and as many workers as there are devices\n";
  }
  text += "      command = { " + Words(call.command) + "job.args },\n";
  if (!call.cwd.empty()) text += "      cwd     = " + Quoted(call.cwd) + ",\n";
  if (!call.env.empty()) text += Environment(call);
  if (call.restarts > 0) text += fmt::format("      restart = {{ max = {}, scope = \"role\" }},\n", call.restarts);
  return text + "    }\n  end,\n}\n";
}

}  // namespace muster
