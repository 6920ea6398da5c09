#include "cli/jobs/engine_jobs.h"

#include <algorithm>
#include <utility>

#include "base/values/shell_quote.h"
#include "cli/options/engine_choice.h"
#include "engine/engine_calls.h"

namespace muster {
namespace {

std::string FirstLine(const std::string& text) { return Printable(text.substr(0, text.find('\n'))); }

tl::unexpected<Diagnostics> CallFailed(const EnginePage& page, const EngineCall& call, const CommandOutput& output) {
  const std::string why = !output.started       ? "it cannot be started"
                          : output.late         ? "it took longer than 30 s"
                          : !output.err.empty() ? FirstLine(output.err)
                                                : "it exited with code " + std::to_string(output.exit_code);
  return Fail(MachineError("engine", page.name + ": " + call.words.front() + ": " + why));
}

}  // namespace

Result<std::string> EngineJobs::Submit(const std::string& path, const std::string& text) const {
  bool on_stdin = false;
  const EngineCall call = SubmitCall(page_, path, on_stdin);
  const CommandOutput output = RunEngineCommand(call.words, call.clear, on_stdin ? text : std::string_view());
  if (output.exit_code != 0) return CallFailed(page_, call, output);
  return SubmittedJob(page_, output.out);
}

Result<std::map<std::string, JobStatus>> EngineJobs::States(std::span<const std::string> jobs) const {
  std::map<std::string, JobStatus> states;
  std::vector<std::string> asked(jobs.begin(), jobs.end());
  for (std::size_t i = 0; i < page_.queries.size() && !asked.empty(); ++i) {
    const EngineQuery& query = page_.queries[i];
    for (const EngineCall& call : QueryCalls(page_, query, asked)) {
      const CommandOutput output = RunEngineCommand(call.words, call.clear);
      // A later query may be of a program that the site does not have.
      if (!output.started && i > 0) continue;
      if (!output.started || output.late) return CallFailed(page_, call, output);
      const auto answer = JobStates(page_, query, call.jobs, {output.out, output.err, output.exit_code});
      if (!answer && i == 0) return Fail(answer.error());
      if (!answer) continue;
      for (const auto& [job, status] : *answer) {
        const auto before = states.find(job);
        states[job] = before == states.end() ? status : CombinedStatus(before->second, status);
      }
    }
    std::erase_if(asked, [&](const std::string& job) {
      const auto known = states.find(job);
      return known != states.end() && known->second.state != JobState::kVanished &&
             known->second.state != JobState::kUnknown;
    });
  }
  return states;
}

Result<void> EngineJobs::Call(const std::vector<EngineCall>& calls) const {
  for (const EngineCall& call : calls) {
    const CommandOutput output = RunEngineCommand(call.words, call.clear);
    if (output.exit_code != 0) return CallFailed(page_, call, output);
  }
  return {};
}

Result<void> EngineJobs::Cancel(std::span<const std::string> jobs) const { return Call(CancelCalls(page_, jobs)); }

Result<void> EngineJobs::Signal(std::span<const std::string> jobs, const std::string& signal) const {
  return page_.signal.empty() ? Cancel(jobs) : Call(SignalCalls(page_, jobs, signal));
}

Result<void> EngineJobs::Requeue(std::span<const std::string> jobs) const { return Call(RequeueCalls(page_, jobs)); }

std::chrono::milliseconds JobPolling::After(bool changed, bool answered) {
  if (changed && answered) next_ = kFirst;
  return std::exchange(next_, std::min(next_ * 3 / 2, kLongest));
}

bool OverTest::Has(JobState state) {
  constexpr std::chrono::seconds kVanishes{30};
  const auto now = std::chrono::steady_clock::now();
  if (state != JobState::kVanished) {
    vanished_.reset();
    return IsOver(state);
  }
  if (!vanished_) vanished_ = now;
  return now - *vanished_ >= kVanishes;
}

std::string StatusText(const JobStatus& status) {
  std::string text(JobStateName(status.state));
  std::replace(text.begin(), text.end(), '_', ' ');
  // The reason of a cancelled job is still the one for which it was in the queue.
  if (!status.reason.empty() && status.state != JobState::kCancelled) text += ": " + Printable(status.reason);
  const bool placed = status.state == JobState::kRunning || status.state == JobState::kEnding;
  if (placed && !status.hosts.empty()) text += " on " + Printable(status.hosts);
  return text;
}

}  // namespace muster
