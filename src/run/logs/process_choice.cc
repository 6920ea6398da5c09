#include "run/logs/process_choice.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "base/values/suggest.h"
#include "run/directory/rank_set.h"

namespace muster {
namespace {

// The processes named by the word, at least one. `kind` is the kind of errors, and the option's name without
// hyphens.
Result<std::set<ProcessId>> Chosen(const Plan& plan, std::string_view kind, const std::string& word,
                                   std::string_view example) {
  const std::size_t colon = word.find(':');
  const std::string role = word.substr(0, colon);
  std::optional<RankSet> ranks;
  if (colon != std::string::npos) {
    ranks = RankSet::Parse(std::string_view(word).substr(colon + 1));
    if (!ranks) {
      return Fail(Error(std::string(kind), {},
                        fmt::format("--{} {}: what follows the colon is not a rank", kind, Quoted(word)),
                        fmt::format("for example --{} {}", kind, example)));
    }
  }
  bool known = false;
  std::set<ProcessId> chosen;
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const Process& process = plan.processes[id];
    if (plan.roles[process.role].name != role) continue;
    known = true;
    if (!ranks || ranks->Contains(process.rank.value_or(process.index))) chosen.insert(id);
  }
  if (!chosen.empty()) return chosen;
  std::vector<std::string> roles;
  for (const Role& one : plan.roles) roles.push_back(one.name);
  return Fail(Error(std::string(kind), {}, fmt::format("--{} {}: the plan has no such process", kind, Quoted(word)),
                    known ? "muster plan shows the ranks of each role" : DidYouMean(role, roles)));
}

}  // namespace

Result<std::set<ProcessId>> TeedProcesses(const Plan& plan, const std::vector<std::string>& words) {
  std::set<ProcessId> teed;
  for (const std::string& word : words) {
    Result<std::set<ProcessId>> chosen = Chosen(plan, "tee", word, "worker:0-3,7");
    if (!chosen) return chosen;
    teed.merge(*chosen);
  }
  return teed;
}

Result<ProcessId> ProcessAtTerminal(const Plan& plan, const std::string& word) {
  Result<std::set<ProcessId>> chosen = Chosen(plan, "pty", word, "worker:0");
  if (!chosen) return Fail(std::move(chosen.error()));
  if (chosen->size() == 1) return *chosen->begin();
  const Process& first = plan.processes[*chosen->begin()];
  return Fail(
      Error("pty", {},
            fmt::format("--pty {}: it names {} processes, and there is one terminal", Quoted(word), chosen->size()),
            fmt::format("for example --pty {}:{}", plan.roles[first.role].name, first.rank.value_or(first.index))));
}

Result<ProcessId> OneProcessNamed(const Plan& plan, std::string_view kind, const std::string& word) {
  Result<std::set<ProcessId>> chosen = Chosen(plan, kind, word, "worker:0");
  if (!chosen) return Fail(std::move(chosen.error()));
  if (chosen->size() == 1) return *chosen->begin();
  const Process& first = plan.processes[*chosen->begin()];
  return Fail(Error(
      std::string(kind), {}, fmt::format("--{} {}: it names {} processes", kind, Quoted(word), chosen->size()),
      fmt::format("for example --{} {}:{}", kind, plan.roles[first.role].name, first.rank.value_or(first.index))));
}

Result<ProcessId> ExplainedProcess(const Plan& plan, const std::string& word) {
  Result<std::set<ProcessId>> chosen = Chosen(plan, "env", word, "worker:3");
  if (!chosen) return Fail(std::move(chosen.error()));
  return *chosen->begin();
}

}  // namespace muster
