#include "cli/plan/check_programs.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/shell_quote.h"
#include "run/hosts/host_differences.h"
#include "run/hosts/host_question.h"
#include "spawn/start/spawn_spec.h"

namespace muster {
namespace {

// "role worker" or "roles server, worker".
std::string RolesWith(const Plan& plan, const std::string& program) {
  std::vector<std::string> names;
  for (const Process& process : plan.processes) {
    const std::vector<std::string>& runtime = plan.roles[process.role].container.runtime.run;
    const std::vector<Text>& command = EffectiveCommand(plan, process);
    const std::string& role = plan.roles[process.role].name;
    if (runtime.empty() && command.empty()) continue;
    if ((runtime.empty() ? command.front().marked : runtime.front()) != program) continue;
    if (std::find(names.begin(), names.end(), role) == names.end()) names.push_back(role);
  }
  std::string text = names.size() == 1 ? "role " : "roles ";
  for (const std::string& name : names) text += (&name == &names.front() ? "" : ", ") + name;
  return text;
}

// "{ \"python3\", \"train.py\" }"
std::string ListOfWords(const std::string& text) {
  std::string list;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) list += (list.empty() ? "" : ", ") + Quoted(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return "{ " + list + " }";
}

// One warning for each role with a word that is longer than the kernel takes.
Diagnostics TooLongWords(const Plan& plan) {
  Diagnostics warnings;
  std::vector<bool> reported(plan.roles.size());
  for (const Process& process : plan.processes) {
    if (reported[process.role]) continue;
    for (const Text& word : EffectiveCommand(plan, process)) {
      if (word.marked.size() < LongestWord()) continue;
      reported[process.role] = true;
      warnings.push_back(Warning("program", {},
                                 fmt::format("role {}: a word of its command has {} bytes, and this machine starts no "
                                             "program with one of more than {}",
                                             plan.roles[process.role].name, word.marked.size(), LongestWord() - 1),
                                 "write long texts to a file: job:file"));
      break;
    }
  }
  return warnings;
}

// One warning for each role whose command is Python with a script that is beside the recipe, and not in the folder of
// its processes.
Diagnostics MissingScripts(const Plan& plan, const std::string& recipe) {
  namespace fs = std::filesystem;
  Diagnostics warnings;
  std::vector<bool> reported(plan.roles.size());
  std::error_code error;
  for (const Process& process : plan.processes) {
    const std::vector<Text>& command = EffectiveCommand(plan, process);
    if (reported[process.role] || command.size() < 2 || process.cwd || !plan.roles[process.role].cwd.marked.empty())
      continue;
    if (!plan.roles[process.role].container.runtime.run.empty()) continue;
    const std::string program = fs::path(command[0].marked).filename();
    const std::string& script = command[1].marked;
    if (!program.starts_with("python") || !script.ends_with(".py") || script.starts_with('/')) continue;
    const bool beside = fs::exists(fs::path(recipe).parent_path() / script, error);
    if (!beside || fs::exists(script, error)) continue;
    reported[process.role] = true;
    warnings.push_back(
        Warning("program", {},
                fmt::format("role {}: the script {} is not in {}, the folder that muster is called from",
                            plan.roles[process.role].name, Quoted(script), Quoted(fs::current_path(error).string())),
                "it is beside the recipe: muster.here " + Quoted(script)));
  }
  return warnings;
}

}  // namespace

Diagnostics MissingPrograms(const Plan& plan, const std::string& recipe) {
  if (plan.hosts.size() != 1 || !plan.hosts.front().name.empty()) return {};
  std::error_code error;
  HostQuestion wanted;
  for (char** variable = environ; *variable != nullptr; ++variable) wanted.environment.emplace_back(*variable);
  wanted.cwd = std::filesystem::current_path(error).string();
  if (error) return {};
  const Inspect question = QuestionFor(plan, NeedsOf(plan, 1), wanted);
  Diagnostics missing;
  for (const ProgramQuery& sought : question.programs) {
    const std::string path = "PATH=" + sought.search_path;
    SpawnSpec spec;
    spec.argv = {sought.name};
    spec.cwd = wanted.cwd;
    spec.env = {path.c_str()};
    // Beside muster, as in a run.
    spec.search_dirs = {std::filesystem::path(BesideOwnProgram("muster")).parent_path().string()};
    const auto found = FindProgram(spec);
    if (found) continue;
    const bool named = sought.name.find('/') != std::string::npos;
    const std::string why =
        named && found.error().error == ENOENT ? Quoted(sought.name) + " is not there" : found.error().detail;
    missing.push_back(Warning(
        "program", {}, fmt::format("{}: the program {} on this machine", RolesWith(plan, sought.name), why),
        sought.name.find(' ') != std::string::npos ? "each word stands by itself: " + ListOfWords(sought.name)
        : named
            ? "a relative path is taken from the folder that muster is called from"
            : "install it, give its path, or have PATH set with job:activate; for other hosts: muster doctor --host"));
  }
  for (const Diagnostics& more : {TooLongWords(plan), MissingScripts(plan, recipe)}) {
    missing.insert(missing.end(), more.begin(), more.end());
  }
  return missing;
}

}  // namespace muster
