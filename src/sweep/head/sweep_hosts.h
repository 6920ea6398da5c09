// The hosts of a sweep and their standing agents, and allocations of trials that get hosts of their own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "muster/result.h"
#include "muster/site.h"
#include "sweep/head/live_trial.h"
#include "sweep/head/sweep_head.h"
#include "sweep/scheduler/trial_planning.h"
#include "sweep/scheduler/trial_scheduler.h"
#include "transport/host_agents.h"

namespace muster {

// The hosts of a sweep and their standing agents: which are usable, and reconnecting lost ones.
//
// Reports the hosts to the scheduler; independent of trials.

// The pool that trials are packed onto, or the one for an allocator (sweep/head/live_trial.h). Each host has one core
// until its number is known.
HostPool PoolOf(const SweepRequest& request);
// The names of these hosts; of this machine an empty one.
std::vector<std::string> NamesOf(const std::vector<SiteHost>& hosts);

class SweepHosts {
 public:
  struct Calls {
    std::function<void()> changed;                          // something may be possible to start
    std::function<void(const std::string& line)> say;       // a line for the user
    std::function<void(const std::string& why)> none_left;  // no host will be usable again
  };

  // `id` is the sweep's. All but the names must outlive it.
  SweepHosts(boost::asio::io_context& io, Transport& transport, std::vector<std::string> names, const std::string& id,
             TrialScheduler& scheduler, Calls calls);

  void ConnectAll() { agents_.ConnectAll(); }
  // Every host is connected or, for now or for good, not used.
  bool settled() const;
  // A lost agent is being restarted.
  bool connects_again() const { return !connecting_again_.empty(); }
  std::unique_ptr<Transport> TransportFor(const std::vector<std::uint32_t>& hosts) {
    return agents_.TransportFor(hosts);
  }
  // Stops all notifications; `done` is called once their agents have ended.
  void Finish(std::function<void()> done);

 private:
  static constexpr std::uint32_t kMaxLosses = 3;  // of a host's agent, until the host is not used any more

  void OnReady(std::uint32_t host, const AgentReady& ready);
  void OnLost(std::uint32_t host, const std::string& why);
  void OnNone(std::uint32_t host, const std::string& why);

  boost::asio::io_context& io_;
  TrialScheduler& scheduler_;
  Calls calls_;
  bool finishing_ = false;
  std::map<std::uint32_t, std::uint32_t> losses_;
  std::set<std::uint32_t> counted_;  // hosts with a known number of cores
  std::set<std::uint32_t> connecting_again_;
  HostAgents agents_;
};

// The allocations of a sweep whose trials get hosts of their own: requested when a trial is to start, and released when
// its run is over.
//
// Their ids are in the file `jobs` of the sweep's folder as long as they may exist, so that a later head can take back
// what a killed one has left.
class TrialAllocations {
 public:
  // Called from the loop.
  struct Calls {
    std::function<void(const std::string& job)> queued;  // of a trial that waits for it
    // The trial has its hosts; job() is known.
    std::function<void(TrialNumber trial, const std::string& job, TrialPlace place)> granted;
    // The trial gets none: the request was refused, or its job ended in the queue. Not after ReleaseWaiting().
    std::function<void(TrialNumber trial, const std::string& why)> refused;
    std::function<void(TrialNumber trial, const std::string& job, const std::string& why)> lost;
    std::function<void()> changed;  // nothing is left of one of them
    std::function<void(const std::string& line)> say;
  };

  // An engine that does not take back an allocation is not waited for any longer.
  static constexpr std::chrono::seconds kMaxParting{30};

  // All but `calls` must outlive the object. `folder` is that of the sweep.
  TrialAllocations(boost::asio::io_context& io, TrialAllocator& allocator, int folder, Calls calls);

  // Takes back what an earlier head has left. A failure is reported to the user.
  void CancelLeft();
  // How many there are, from the request until nothing is left.
  std::size_t size() const { return entries_.size(); }
  // How many trials wait for theirs.
  std::size_t waiting() const;

  Result<void> Request(TrialQueue::Start start);
  // The trial's run is over. It is destroyed once nothing is left of the allocation.
  void Release(TrialNumber trial, std::unique_ptr<LiveTrial> over);
  // Withdraws the requests of those that have no hosts yet; returns their trials.
  std::vector<TrialNumber> ReleaseWaiting();
  // Calls `done` once nothing is left of all of them, or it takes too long. All runs must be over.
  void Finish(std::function<void()> done);

 private:
  enum class State : std::uint8_t { kWaiting, kGranted, kParting };
  struct Entry {
    TrialQueue::Start start;
    State state = State::kWaiting;
    std::unique_ptr<TrialAllocation> allocation = {};
    std::unique_ptr<LiveTrial> over = {};  // its agents' start command ends with the allocation
  };

  void OnEnded(Entry* entry, const std::string& why, bool refused);
  void Remove(Entry* entry);
  void Keep();
  void DoneIfEmpty();

  boost::asio::io_context& io_;
  TrialAllocator& allocator_;
  const int folder_;
  const Calls calls_;
  std::list<Entry> entries_;
  boost::asio::steady_timer late_;
  std::function<void()> done_;
};

}  // namespace muster
