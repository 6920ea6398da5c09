#include "sweep/trial/trial_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "muster/plan.h"
#include "plan/text/plan_json.h"
#include "run/directory/run_files.h"
#include "sweep/trial/metric_values.h"

namespace muster {
namespace {

constexpr const char* kUsualResource = "step";
constexpr std::uint32_t kMostAttempts = 10'000;

}  // namespace

std::string LoggingProcessOf(const std::string& run_dir, const MetricsChoice& choice) {
  const auto folder = OpenFolder(AT_FDCWD, run_dir);
  if (!folder) return {};
  const auto json = ReadPlanJson(folder->get(), run_dir);
  if (!json) return {};
  const auto plan = PlanFromJson(*json);
  if (!plan || plan->processes.empty()) return {};
  const auto process = LoggingProcess(*plan, choice);
  return process ? ProcessName(*plan, plan->processes[*process]) : std::string();
}

std::optional<MetricValues> LogReports::Take(std::string_view line) {
  MetricValues found = patterns_.Find(line);
  if (found.empty()) return std::nullopt;
  if (const auto named = found.find(resource_); named != found.end()) {
    latest_ = named->second;
    if (found.size() == 1 && !patterns_.only(resource_)) return std::nullopt;
  } else if (!latest_.IsNull()) {
    found.emplace(resource_, latest_);
  }
  return found;
}

TrialLog::TrialLog(const LogPatterns& patterns, MetricsChoice choice, const std::string& resource, std::string run_dir)
    : choice_(std::move(choice)),
      run_dir_(std::move(run_dir)),
      reports_(patterns, resource.empty() ? kUsualResource : resource) {}

void TrialLog::Read(bool over, const Report& report) {
  if (process_.empty()) process_ = LoggingProcessOf(run_dir_, choice_);
  if (process_.empty()) return;
  for (std::uint32_t attempt = 0; attempt < kMostAttempts; ++attempt) {
    const std::string path = fmt::format("{}/logs/{}.{}.log", run_dir_, process_, attempt);
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
    GrowingLog& log = logs_.try_emplace(attempt, path).first->second;
    const auto take = [&](std::string_view line, bool) {
      if (const auto values = reports_.Take(line)) report(attempt, *values);
    };
    std::size_t left = kMostAtOnce / GrowingLines::kMostAtOnce;
    while (log.Read(take)) {
      if (--left == 0) log.LeaveOut();
    }
    if (over) log.Flush(take);
  }
}

std::optional<ProcessHistory> ReadLogHistory(const MetricsChoice& choice, const std::string& resource,
                                             const std::string& run_dir, bool over) {
  const auto patterns = LogPatterns::Of(choice.patterns, choice.place);
  if (!patterns || patterns->empty()) return std::nullopt;
  ProcessHistory history;
  std::optional<std::uint32_t> last;
  TrialLog(*patterns, choice, resource, run_dir).Read(over, [&](std::uint32_t attempt, const MetricValues& report) {
    if (last != attempt) history.attempt_starts.push_back(history.history.reports);
    last = attempt;
    history.history.Add(report);
  });
  return history;
}

}  // namespace muster
