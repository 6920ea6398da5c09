#include "run/supervise/restart_budget.h"

#include <algorithm>

#include "base/values/abnormal_exit.h"

namespace muster {

bool Restarts(const RestartPolicy& policy, const HowEnded& end) {
  if (policy.max == 0) return false;
  if (end.Well()) return policy.success;
  if (policy.any_failure) return true;
  switch (end.kind) {
    case HowEnded::Kind::kExited:
      return std::find(policy.codes.begin(), policy.codes.end(), end.code) != policy.codes.end();
    case HowEnded::Kind::kSignalled:
      return std::any_of(policy.signals.begin(), policy.signals.end(),
                         [&](const std::string& name) { return SignalNumber(name) == end.code; });
    case HowEnded::Kind::kNotStarted:
    case HowEnded::Kind::kLimit:
    case HowEnded::Kind::kLost:
      return false;
  }
  return false;
}

std::optional<RestartBudget::Grant> RestartBudget::Take(const RestartPolicy& policy, MonotonicNs now) {
  const MonotonicNs within = policy.within_ms * 1'000'000;
  while (within > 0 && !granted_.empty() && now - granted_.front() >= within) granted_.pop_front();
  if (granted_.size() >= policy.max) return std::nullopt;
  std::uint64_t delay_ms = policy.backoff_ms;
  for (std::size_t i = 0; i < granted_.size() && delay_ms < RestartPolicy::kMaxBackoffMs; ++i) delay_ms *= 2;
  // A delay that the recipe sets is not limited, only its growth is.
  delay_ms = std::min<std::uint64_t>(delay_ms, std::max(policy.backoff_ms, RestartPolicy::kMaxBackoffMs));
  granted_.push_back(now);
  return Grant{static_cast<std::uint32_t>(granted_.size()), static_cast<std::uint32_t>(delay_ms)};
}

}  // namespace muster
