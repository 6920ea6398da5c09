// The membership of a server or worker in the cluster: connecting to the scheduler, registering, heartbeats, leaving.
// Independent of weights.
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

  // This host's address on the route to the scheduler: where other processes can reach it.
  Result<Address> LocalAddress() const;

  // Waits until all processes have registered. `port` is the port on which a server listens for workers, 0 for a
  // worker.
  Result<Topology> Register(std::uint16_t port);

  // Call after every wait: handles the scheduler's messages and sends heartbeats. Fails when the job is over for this
  // process.
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
  std::string scheduler_;  // its name in messages
  std::string self_;
  Pulse pulse_;
  Clock::rep missed_beats_ = 0;
  std::optional<Topology> topology_;
  bool has_left_ = false;
};

}  // namespace ps_digits
