// The hosts on which the trials of a sweep start: their free resources, which of them are quarantined, and which of
// them a trial avoids.
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
#include "sweep/scheduler/host_record.h"
#include "sweep/scheduler/recorded_progress.h"

namespace muster {

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
  // The host gets no more trials from this head. Recorded once.
  void Quarantine(const std::string& host, const std::string& why);

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
