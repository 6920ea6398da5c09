// The ports of a job on this host: held for its processes until they start, held again between two attempts, and
// checked for foreign processes that took one in between.
//
// Handles names, numbers and attempts; the head decides what a conflict means. Between the start of a process and its
// listen(2) the port cannot be held for it: a server that does not set SO_REUSEADDR could not bind it then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include "spawn/start/tcp_ports.h"
#include "wire/protocol/protocol.h"

namespace muster {

class GivenPorts {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  GivenPorts() = default;
  // For an agent in a PID namespace: `proc` is the outer namespace's /proc, `self` the agent's own pid there.
  GivenPorts(pid_t self, std::string proc) : self_(self), proc_(std::move(proc)), shut_in_(true) {}

  // Holds all ports or none. A number that was chosen once is not chosen again.
  PortsHeld Hold(HoldPorts command);

  // The attempt is about to start: releases its ports for it. Ports that are no longer held were released by an earlier
  // attempt.
  void Release(const StartProcess& command);
  void Started(const ProcessStarted& event);
  // The attempt is being stopped: its exit is no reason to search for foreign processes.
  void Stopped(const Key& key);

  // Whether the process that listens on the port may count as the job's: any process except a foreign one on an
  // allocated port. A foreign process is reported in `taken`, once per attempt.
  bool IsOurs(const Key& key, std::uint16_t number, std::optional<PortTaken>& taken);

  // Call it before the exit is reported: holds its own ports again if possible. If it failed without having been
  // stopped, returns the ports that foreign processes hold. `log` is a path.
  std::vector<PortTaken> Ended(const ProcessExited& event, const std::string& log);

  // Releases everything.
  void Clear();
  std::size_t held() const { return held_.size(); }

 private:
  struct Given {
    std::uint16_t number = 0;
    std::optional<Key> owner;  // the only attempt that uses the port
    bool ours = false;         // a process of the job has been seen listening on it
  };
  struct Attempt {
    pid_t pid = 0;
    bool stopped = false;
    bool reported = false;  // a foreign process was reported
  };

  static PortTaken Taken(const Key& key, const std::string& name, std::uint16_t number, std::string holder);

  // Whether the holder certainly does not belong to the job. An invisible holder of the same user may be a process of
  // the job that cannot be inspected; in a namespace only foreign processes cannot be inspected.
  bool IsForeign(const PortHolder& holder) const;

  pid_t self_ = ::getpid();
  std::string proc_ = "/proc";
  bool shut_in_ = false;
  std::map<std::string, HeldPort> held_;
  std::set<std::uint16_t> chosen_;
  std::map<std::string, Given> given_;
  std::map<Key, Attempt> attempts_;  // running attempts
};

}  // namespace muster
