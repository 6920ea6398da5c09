// The hosts on which the trials of a sweep start: their free resources, which of them are quarantined, and whether a
// failure blames the host or the trial is retried.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"
#include "sweep/scheduler/host_pool.h"
#include "sweep/scheduler/recorded_progress.h"

namespace muster {

// Records failures per host, to quarantine faulty hosts.

// Detects failures caused by a host: so many in a row there, of different trials, while trials succeeded elsewhere.
// Failures caused by the point do not count: out of memory on a device, divergence, invalid input.
class HostRecord {
 public:
  explicit HostRecord(std::uint32_t after) : after_(after) {}

  std::uint32_t after() const { return after_; }
  void Succeeded(const std::string& host);
  // The trials that failed there in a row, this one last, if the host is to be quarantined; else empty.
  std::vector<TrialNumber> Failed(const std::string& host, TrialNumber trial, TrialClass trial_class);

 private:
  struct Streak {
    std::vector<TrialNumber> trials;
    std::uint64_t began = 0;  // as a number of ends
  };
  std::uint32_t after_;
  std::uint64_t ends_ = 0;
  std::map<std::string, Streak> streaks_;
  std::map<std::string, std::uint64_t> last_well_;  // last success by host
};

// Decides after a failure whether to retry the trial, and whether to blame the host.

// Limit for retries after failures that the trial did not cause; further ones count.
inline constexpr std::uint32_t kMaxUncounted = 10;

struct RetryVerdict {
  bool again = false;
  bool counted = true;

  bool operator==(const RetryVerdict&) const = default;
};

// `counted` earlier attempts count, `free` ones failed without counting. Lost hosts and processes that were killed from
// outside are not caused by the trial. Without a list in `choice.on` everything is retried except failures that would
// recur: divergence and refused input.
RetryVerdict AfterFailure(const RetryChoice& choice, TrialClass trial_class, std::uint32_t counted, std::uint32_t free);

// The hosts on which the trials of a sweep start: their free resources, which of them are quarantined, and which of
// them a trial avoids.

// Hosts are numbered as in the pool.
class TrialHosts {
 public:
  // `record` must outlive this object. A host is quarantined after `quarantine_after` failures in a row; never if that
  // is 0, or if there is only one host.
  TrialHosts(HostPool pool, std::uint32_t quarantine_after, RecordedProgress& record);

  HostPool& pool() { return pool_; }
  const HostPool& pool() const { return pool_; }

  // The host gets no more trials until Open().
  void Close(std::uint32_t host) { pool_.Close(host); }
  // Undoes Close(), unless the host is quarantined.
  void Open(std::uint32_t host);
  // The host gets no more trials from this head, nor, if it `stays` so, from later ones. Recorded once.
  void Quarantine(const std::string& host, const std::string& why, bool stays);
  // The quarantine of earlier heads, unless no host were left.
  void Resume();

  // Failures in a row count over heads: before all attempts of the sweep that have ended are recalled, in order, what
  // is known of them is forgotten.
  void ForgetFailures() { failures_ = HostRecord(failures_.after()); }
  void Recall(const std::vector<std::string>& hosts, const AttemptEnded& ended);
  // A trial succeeded on these hosts.
  void Succeeded(const std::vector<std::uint32_t>& hosts);
  // A trial failed on the host. If that puts the host into quarantine, the trials that failed there and had no attempts
  // left are recorded as reopened, and returned ascending: they are retried elsewhere, without counting.
  std::vector<TrialNumber> Failed(const std::string& host, TrialNumber trial, TrialClass trial_class);

  // The hosts that the trial was moved away from, because it waited for devices there. Empty for most trials.
  std::set<std::uint32_t> MovedFrom(TrialNumber trial) const;
  void SetMovedFrom(TrialNumber trial, std::set<std::uint32_t> hosts) { moved_from_[trial] = std::move(hosts); }
  void ForgetMoves(TrialNumber trial) { moved_from_.erase(trial); }

 private:
  RecordedProgress& record_;
  HostPool pool_;
  HostRecord failures_;
  std::set<std::string> quarantined_;  // by this head
  std::map<TrialNumber, std::set<std::uint32_t>> moved_from_;
};

}  // namespace muster
