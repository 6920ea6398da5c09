// The ports of a job on this host: held for its processes until they start, held again between two attempts, and
// watched for strangers who took one in between.
//
// Knows names, numbers and attempts; what a clash means is the head's to decide. Between the start of a process and the
// moment it listens nobody can hold its port for it: a server that does not set SO_REUSEADDR could not bind it then.
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

#include "spawn/ports/held_port.h"
#include "spawn/ports/port_holder.h"
#include "wire/protocol/port_messages.h"
#include "wire/protocol/start_messages.h"

namespace muster {

class GivenPorts {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  GivenPorts() = default;
  // For an agent in a PID namespace: `proc` is that of the namespace outside, `self` its own pid there.
  GivenPorts(pid_t self, std::string proc) : self_(self), proc_(std::move(proc)), shut_in_(true) {}

  // All or none. A number that was chosen is never chosen again.
  PortsHeld Hold(HoldPorts command);

  // The attempt is about to start: its ports are free for it from now on. What it does not hold any more was released
  // by an earlier attempt.
  void Release(const StartProcess& command);
  void Started(const ProcessStarted& event);
  // It is to end: that it ends is no reason to look for strangers.
  void Stopped(const Key& key);

  // Whether the one that listens on the port may be taken for the job's: any but a stranger on a port that was given.
  // What there is to say about a stranger is said once for an attempt.
  bool IsOurs(const Key& key, std::uint16_t number, std::optional<PortTaken>& taken);

  // Has to be called before its end is told: its own ports are held again if that can be. If it ended badly and
  // unasked, the ports that strangers have. `log` is a path.
  std::vector<PortTaken> Ended(const ProcessExited& event, const std::string& log);

  // Gives everything up.
  void Clear();
  std::size_t held() const { return held_.size(); }

 private:
  struct Given {
    std::uint16_t number = 0;
    std::optional<Key> owner;  // the attempt that alone has it
    bool ours = false;         // a process of the job has been seen to listen there
  };
  struct Attempt {
    pid_t pid = 0;
    bool stopped = false;
    bool told = false;  // of a stranger
  };

  static PortTaken Taken(const Key& key, const std::string& name, std::uint16_t number, std::string holder);

  // Not one of ours for all that is known. A holder of our own user who cannot be seen may be one of ours that cannot
  // be looked into; in a namespace it is the strangers who cannot.
  bool IsForeign(const PortHolder& holder) const;

  pid_t self_ = ::getpid();
  std::string proc_ = "/proc";
  bool shut_in_ = false;
  std::map<std::string, HeldPort> held_;
  std::set<std::uint16_t> chosen_;
  std::map<std::string, Given> given_;
  std::map<Key, Attempt> attempts_;  // that run
};

}  // namespace muster
