#include "run/logs/log_choice.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"

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

Result<LogChoice> LogChoice::Of(const Report& report, const LogFilter& filter) {
  LogChoice choice;
  choice.attempt_ = filter.attempt;
  std::vector<std::string> roles;
  for (std::size_t place = 0; place < report.processes.size(); ++place) {
    const ProcessReport& process = report.processes[place];
    if (std::find(roles.begin(), roles.end(), process.role) == roles.end()) roles.push_back(process.role);
    if (!filter.role.empty() && process.role != filter.role) continue;
    if (filter.index && process.index != *filter.index) continue;
    if (filter.ranks && !(process.rank && filter.ranks->Contains(*process.rank))) continue;
    const std::string name = fmt::format("{}.{}", process.role, process.index);
    choice.processes_[name] = {place, process.rank ? fmt::format("{} rank {}", name, *process.rank) : name};
  }
  if (!choice.processes_.empty()) return choice;
  const bool unknown_role = !filter.role.empty() && std::find(roles.begin(), roles.end(), filter.role) == roles.end();
  return Fail(Error("logs", {}, "the run has no such process",
                    unknown_role ? DidYouMean(filter.role, roles) : "muster report shows which there are"));
}

std::optional<LogFile> LogChoice::Find(std::string_view name) const {
  constexpr std::string_view kLog = ".log";
  if (!name.ends_with(kLog)) return std::nullopt;
  const std::string_view stem = name.substr(0, name.size() - kLog.size());
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto chosen = processes_.find(stem.substr(0, dot));
  const auto attempt = ParseNumber<std::uint32_t>(stem.substr(dot + 1));
  if (chosen == processes_.end() || !attempt || (attempt_ && *attempt != *attempt_)) return std::nullopt;
  LogFile file;
  file.attempt = *attempt;
  file.name = name;
  file.process = chosen->second.place;
  file.prefix = chosen->second.prefix;
  if (file.attempt > 0) file.prefix += fmt::format(" attempt {}", file.attempt);
  return file;
}

std::vector<LogFile> LogChoice::In(const std::string& logs_folder) const {
  std::vector<LogFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(logs_folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (entry->symlink_status(gone).type() != std::filesystem::file_type::regular) continue;
    if (auto file = Find(entry->path().filename().native())) files.push_back(std::move(*file));
  }
  std::sort(files.begin(), files.end(), [](const LogFile& a, const LogFile& b) {
    return std::pair(a.process, a.attempt) < std::pair(b.process, b.attempt);
  });
  return files;
}

}  // namespace muster
