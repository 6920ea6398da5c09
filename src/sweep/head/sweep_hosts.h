// The hosts of a sweep and the agents that stand on them: which can be used, and what is done about one that is lost.
//
// Tells the course which hosts it has; knows no trials.
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
#include "sweep/course/sweep_course.h"
#include "transport/host_agents.h"

namespace muster {

// What trials are packed onto; `hosts` none: this machine. `devices`: of hosts without a number of their own. Each has
// one core until more is known.
HostPool PoolOf(const std::vector<SiteHost>& hosts, std::uint32_t devices, const BudgetChoice& budget);

class SweepHosts {
 public:
  struct Calls {
    std::function<void()> changed;                          // something can be started, or waited for, now
    std::function<void(const std::string& line)> say;       // for the user
    std::function<void(const std::string& why)> none_left;  // no host will be there again
  };

  // `hosts` none: this machine. `id` is the sweep's. All but the names have to outlive it.
  SweepHosts(boost::asio::io_context& io, Transport& transport, const std::vector<SiteHost>& hosts,
             const std::string& id, SweepCourse& course, Calls calls);

  void ConnectAll() { agents_.ConnectAll(); }
  // Every host is there, or will not be used, for now or at all.
  bool settled() const;
  // An agent that was lost is started again.
  bool connects_again() const { return !connecting_again_.empty(); }
  std::unique_ptr<Transport> TransportFor(const std::vector<std::uint32_t>& hosts) {
    return agents_.TransportFor(hosts);
  }
  // Nobody is told of hosts any more; `done` comes once their agents have ended.
  void Finish(std::function<void()> done);

 private:
  static constexpr std::uint32_t kMostLosses = 3;  // of a host's agent, until the host is left alone

  void OnReady(std::uint32_t host, const AgentReady& ready);
  void OnLost(std::uint32_t host, const std::string& why);
  void OnNone(std::uint32_t host, const std::string& why);

  boost::asio::io_context& io_;
  SweepCourse& course_;
  Calls calls_;
  bool finishing_ = false;
  std::map<std::uint32_t, std::uint32_t> losses_;
  std::set<std::uint32_t> counted_;  // whose cores are known
  std::set<std::uint32_t> connecting_again_;
  HostAgents agents_;
};

}  // namespace muster
