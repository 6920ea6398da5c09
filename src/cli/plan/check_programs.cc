#include "cli/plan/check_programs.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/shell_quote.h"
#include "run/hosts/host_differences.h"
#include "run/hosts/host_question.h"
#include "spawn/command/find_program.h"

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

}  // namespace

Diagnostics MissingPrograms(const Plan& plan) {
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
    if (FindProgram(spec)) continue;
    const bool named = sought.name.find('/') != std::string::npos;
    missing.push_back(Warning(
        "program", {},
        fmt::format("{}: the program {} {} on this machine", RolesWith(plan, sought.name), Quoted(sought.name),
                    named ? "is not there" : "is not on PATH"),
        named
            ? "a relative path is taken from the folder that muster is called from"
            : "install it, give its path, or have PATH set with job:activate; for other hosts: muster doctor --host"));
  }
  return missing;
}

}  // namespace muster
