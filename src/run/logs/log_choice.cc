#include "run/logs/log_choice.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/values/parse_number.h"
#include "base/values/suggest.h"

namespace muster {

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
