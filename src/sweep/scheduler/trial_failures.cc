#include "sweep/scheduler/trial_failures.h"

#include <utility>
#include <variant>

namespace muster {

FailureJudged AsFailureOfTrial(FailureJudged judged, std::string host, bool replaceable) {
  judged.host_name = std::move(host);
  judged.replaceable = replaceable;
  judged.alone = false;  // the whole trial is retried
  return judged;
}

std::string HostOfAttempt(const AttemptBegan& attempt, const FailureJudged& judged) {
  if (attempt.hosts.size() > 1) return judged.host_name;
  return attempt.hosts.empty() || !attempt.job.empty() ? std::string() : attempt.hosts.front();
}

const AttemptBegan* RetriedAttempts::Take(const SweepEntry& entry) {
  if (const auto* const began = std::get_if<AttemptBegan>(&entry)) running_[began->trial] = *began;
  const auto* const ended = std::get_if<AttemptEnded>(&entry);
  if (ended == nullptr || ended->interrupted) return nullptr;
  const auto attempt = running_.find(ended->trial);
  if (attempt == running_.end() || attempt->second.attempt != ended->attempt) return nullptr;
  ended_ = std::move(attempt->second);
  running_.erase(attempt);
  if (ended->again) {
    attempts_[ended->trial].push_back(ended_);
  } else {
    attempts_.erase(ended->trial);
  }
  return &ended_;
}

}  // namespace muster
