// The hosts of a sweep and their standing agents: which are usable, and reconnecting lost ones.
//
// Reports the hosts to the scheduler; independent of trials.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "muster/site.h"
#include "sweep/head/sweep_head.h"
#include "sweep/scheduler/trial_scheduler.h"
#include "transport/host_agents.h"

namespace muster {

// The pool that trials are packed onto, or the one for an allocator (sweep/head/trial_place.h). Each host has one core
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
             TrialScheduler& course, Calls calls);

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
  static constexpr std::uint32_t kMostLosses = 3;  // of a host's agent, until the host is not used any more

  void OnReady(std::uint32_t host, const AgentReady& ready);
  void OnLost(std::uint32_t host, const std::string& why);
  void OnNone(std::uint32_t host, const std::string& why);

  boost::asio::io_context& io_;
  TrialScheduler& course_;
  Calls calls_;
  bool finishing_ = false;
  std::map<std::uint32_t, std::uint32_t> losses_;
  std::set<std::uint32_t> counted_;  // hosts with a known number of cores
  std::set<std::uint32_t> connecting_again_;
  HostAgents agents_;
};

}  // namespace muster
