// What is awaited before processes are stopped: a checkpoint, and a dump.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/journal/dump_places.h"
#include "run/supervise/job_limits.h"

namespace muster {

// The wait for a checkpoint before processes are stopped: which processes were sent their checkpoint signal, and how
// long to wait. The session detects new checkpoints.

class Orders;
class ProcessStates;

class CheckpointRound {
 public:
  // Sends their checkpoint signal to the running processes that have one; from then on their end counts as a stop.
  // Returns whether there are any.
  bool Begin(const Plan& plan, ProcessStates& states, Orders& orders);
  bool under_way() const { return !asked_.empty(); }
  // Ends the wait: orders the stop of all processes, by the StopPolicy of their roles.
  void Finish(const Plan& plan, ProcessStates& states, Orders& orders);
  // Cancels the wait.
  void Cancel(Orders& orders);

 private:
  std::vector<ProcessId> asked_;  // ascending
};

// The dump in progress: which machines have not answered yet, and which actions wait for its end. There is at most one
// at a time; a second request joins it. Pure.

class DumpRound {
 public:
  // Actions that wait for the end of a dump.
  struct Waiting {
    std::optional<StopRequested> stop;
    std::optional<SilenceWatch::Silent> silent;
    std::uint32_t silent_attempt = 0;  // of the process that fell silent first
  };

  // Orders a dump of all machines that still have an agent, unless a dump is in progress.
  void Begin(std::string_view why, const std::vector<bool>& over, Orders& orders);
  bool under_way() const { return under_way_; }
  // Number of the current or last dump, from 1; 0: there was none.
  std::uint32_t number() const { return number_; }
  bool complete() const { return left_ == 0; }

  // These require a dump in progress. A stop replaces an earlier waiting one; of several silences the first is kept.
  void DelayStop(const StopRequested& stop) { waiting_.stop = stop; }
  void DropStop() { waiting_.stop.reset(); }
  void DelaySilence(const SilenceWatch::Silent& silent, std::uint32_t attempt);
  const Waiting& waiting() const { return waiting_; }

  // The state of a process, of which the place is kept until the next dump.
  void Reported(const ProcessDumped& reported);
  // The process that holds up all others in the scope, which wait for it: the only outlier of the last dump, or the
  // first of several on one host. Empty if there is none, if there are some on several hosts, or if a process of
  // another host was not reported, which may be one. Outliers of stacks are also what ByteRobust replaces hosts for
  // (arXiv 2509.16293).
  std::optional<ProcessId> HeldUpBy(const SilenceScope& scope, const Plan& plan, const ProcessStates& states) const;

  // Records that the machine has sent all of that dump, or never will. Returns whether that completes the dump.
  bool Answered(std::uint32_t machine, std::uint32_t dump);
  // Ends the dump in progress; returns what waited for it.
  Waiting End(bool complete, Orders& orders);

 private:
  std::uint32_t number_ = 0;
  bool under_way_ = false;
  std::vector<bool> due_;  // by machine: whether its answer is missing
  std::uint32_t left_ = 0;
  Waiting waiting_;
  std::map<ProcessId, std::pair<std::uint32_t, DumpPlace>> places_;  // with the attempt
};

}  // namespace muster
