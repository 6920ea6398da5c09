#include <algorithm>
#include <utility>

#include "muster/report.h"
#include "run/report/report.h"

namespace muster {
namespace {

FailureSummary Summary(FailureReport failure) {
  return {std::move(failure.role), failure.index,          failure.rank,
          std::move(failure.host), failure.exit_code,      std::move(failure.signal),
          std::move(failure.why),  std::move(failure.log), std::move(failure.last_lines)};
}

ProcessSummary Summary(ProcessReport process) {
  const auto started = std::count_if(process.attempts.begin(), process.attempts.end(),
                                     [](const AttemptReport& attempt) { return !attempt.started_at.empty(); });
  return {std::move(process.role),
          process.index,
          process.rank,
          std::move(process.host),
          static_cast<std::uint32_t>(started),
          std::move(process.verdict)};
}

}  // namespace

Result<ReportSummary> ReadReport(const std::string& run_dir) {
  auto report = MakeReport(run_dir);
  if (!report) return Fail(std::move(report.error()));
  ReportSummary summary;
  summary.run_id = std::move(report->run);
  summary.plan_id = std::move(report->plan);
  summary.name = std::move(report->name);
  summary.outcome = std::move(report->outcome);
  summary.exit_code = report->exit_code;
  summary.why = std::move(report->why);
  if (report->first_failure) summary.first_failure = Summary(*std::move(report->first_failure));
  for (ProcessReport& process : report->processes) summary.processes.push_back(Summary(std::move(process)));
  summary.seconds = report->timings.total;
  return summary;
}

}  // namespace muster
