// The failures of a trial as verdicts on it look at them: the last one of each of its attempts since it was opened. The
// scheduler judges by them, and `muster whatif` once more.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run/journal/head_facts.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// The failure of a run as one of its trial, which is retried as a whole. `host` is that of HostOfAttempt, or its
// name in the pool; `replaceable`: the sweep has another host.
FailureJudged AsFailureOfTrial(FailureJudged judged, std::string host, bool replaceable);

// The host that the failure of an attempt counts against: that of an attempt on one host; of one on several the host
// of the process that failed. Empty for this machine, and for a host of an allocation of its own.
std::string HostOfAttempt(const AttemptBegan& attempt, const FailureJudged& judged);

// The attempts that failed since their trial was opened, from the entries of a sweep's journal in their order.
class RetriedAttempts {
 public:
  // The attempt that ends by this entry; null for other entries and for the end of an interrupted attempt. Valid
  // until the next entry.
  const AttemptBegan* Take(const SweepEntry& entry);
  // Of trials that are to be tried again.
  const std::map<TrialNumber, std::vector<AttemptBegan>>& attempts() const { return attempts_; }

 private:
  std::map<TrialNumber, AttemptBegan> running_;
  std::map<TrialNumber, std::vector<AttemptBegan>> attempts_;
  AttemptBegan ended_;
};

}  // namespace muster
