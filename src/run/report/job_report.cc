#include "run/report/job_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/quoting.h"
#include "base/values/utf8_text.h"

namespace muster {
namespace {

std::string JobName(const JobReport& job) {
  return job.job.empty() ? fmt::format("a job of {}", Printable(job.engine))
                         : fmt::format("{} job {}", Printable(job.engine), Printable(job.job));
}

std::string JsonSafe(const std::string& text) { return IsUtf8(text) ? text : Printable(text); }

nlohmann::ordered_json JobTextOrNull(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(JsonSafe(text));
}

}  // namespace

std::optional<JobReport> MakeJobReport(const std::string& run_dir) {
  const auto record = ReadJobRecord(run_dir);
  if (!record) return std::nullopt;
  JobReport report;
  report.engine = record->engine;
  report.job = ReadJobId(run_dir);
  report.attempts = ReadAttempts(FirstAttemptOf(run_dir));
  report.said = ReadJobEnd(run_dir);
  for (std::size_t i = 0; i < report.attempts.size(); ++i) {
    const JobAttempt& attempt = report.attempts[i];
    if (attempt.run != record->run) continue;
    report.attempt = i + 1;
    report.end = attempt.end;
    report.host = attempt.lost.empty() ? attempt.host : attempt.lost;
  }
  return report;
}

std::string LostText(const JobReport& job) {
  const std::string end = !job.end.empty() ? job.end : job.said ? job.said->state : std::string();
  if (end.empty()) return {};
  return fmt::format("{} {}{}", JobName(job), JobEndText(end, job.host),
                     job.said && !job.said->reason.empty() ? " (" + Printable(job.said->reason) + ")" : "");
}

std::string JobLines(const JobReport& job) {
  std::string text = fmt::format("  {:<10}{}", "job", JobName(job));
  if (job.attempts.size() > 1) text += fmt::format(", attempt {} of {}", job.attempt, job.attempts.size());
  if (!job.end.empty()) text += fmt::format("; it {}", JobEndText(job.end, job.host));
  text += '\n';
  if (job.attempts.size() < 2) return text;
  for (std::size_t i = 0; i < job.attempts.size(); ++i) {
    const JobAttempt& attempt = job.attempts[i];
    text += fmt::format(
        "  {:<10}{} on {}{}: {}\n", "attempt", i + 1, Printable(attempt.host),
        attempt.end.empty()
            ? ""
            : fmt::format(", job {}", JobEndText(attempt.end, attempt.lost.empty() ? attempt.host : attempt.lost)),
        Printable(attempt.run_dir));
  }
  return text;
}

nlohmann::ordered_json JobJson(const JobReport& job) {
  nlohmann::ordered_json attempts = nlohmann::ordered_json::array();
  for (const JobAttempt& attempt : job.attempts) {
    attempts.push_back({{"run", JsonSafe(attempt.run)},
                        {"run_dir", JsonSafe(attempt.run_dir)},
                        {"host", JsonSafe(attempt.host)},
                        {"end", JobTextOrNull(attempt.end)},
                        {"lost", JobTextOrNull(attempt.lost)},
                        {"requeued", attempt.requeued}});
  }
  nlohmann::ordered_json said = nullptr;
  if (job.said) {
    said = {{"state", JsonSafe(job.said->state)},
            {"reason", JobTextOrNull(job.said->reason)},
            {"hosts", JobTextOrNull(job.said->hosts)},
            {"exit_code",
             job.said->exit_code ? nlohmann::ordered_json(*job.said->exit_code) : nlohmann::ordered_json(nullptr)}};
  }
  return {{"engine", JsonSafe(job.engine)}, {"id", JobTextOrNull(job.job)}, {"attempt", job.attempt},
          {"end", JobTextOrNull(job.end)},  {"said", std::move(said)},      {"attempts", std::move(attempts)}};
}

}  // namespace muster
