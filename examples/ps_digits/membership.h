// A server's or worker's place in the cluster: reaching the scheduler, registering, heartbeats, leaving. Knows
// nothing of weights.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ps_digits/cluster_settings.h"
#include "ps_digits/link.h"
#include "ps_digits/pulse.h"

namespace ps_digits {

class Membership {
 public:
  // Waits for a scheduler to appear.
  static Result<Membership> Connect(const ClusterSettings& settings);

  // Our address on the way to the scheduler: where others of the cluster can reach us.
  Result<Address> LocalAddress() const;

  // Waits until everybody has registered. `port` is where a server listens for workers, 0 for a worker.
  Result<Topology> Register(std::uint16_t port);

  // Call after every wait: takes what the scheduler has sent and beats. Fails when the job is over for us.
  Result<void> Tend(Clock::time_point now);
  Clock::time_point next_beat() const { return pulse_.next(); }

  void Unregister() { link_->Send(ps_digits::Unregister{}); }
  bool has_left() const { return has_left_; }

  Link* link() const { return link_.get(); }
  // "worker 2 (worker_02)"; before there is a rank, "worker worker_02".
  const std::string& self() const { return self_; }

 private:
  Membership(const ClusterSettings& settings, std::unique_ptr<Link> link);

  Result<void> Take(Message& message);

  ClusterSettings settings_;
  std::unique_ptr<Link> link_;
  std::string scheduler_;  // as messages call it
  std::string self_;
  Pulse pulse_;
  Clock::rep missed_beats_ = 0;
  std::optional<Topology> topology_;
  bool has_left_ = false;
};

}  // namespace ps_digits
