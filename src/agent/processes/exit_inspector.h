// What can be seen on the host about the way a process ended, besides its status: where a core dump went, and
// whether the kernel killed for lack of memory, and whether there was no room for what it wrote.
//
// Knows the ends of processes and where to look; looks only when an end gives reason to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/processes/memory_kills.h"
#include "muster/event.h"

namespace muster {

class ExitInspector {
 public:
  // Which must outlive it.
  explicit ExitInspector(MemoryKills& memory) : memory_(memory) {}

  void Started(const ProcessStarted& event, const std::string& cwd, const std::string& log);
  // A signal that the agent sent.
  void Signalled(const SignalSent& event);
  // What is known about this end; usually nothing. The attempt is forgotten.
  std::vector<EndEvidence> Ended(const ProcessExited& event);

 private:
  struct Running {
    std::int32_t pid = 0;
    MonotonicNs at = 0;
    std::string cwd;
    std::string log;
    bool killed = false;   // by the agent
    bool stopped = false;  // signalled by it at all
  };

  std::map<std::pair<ProcessId, std::uint32_t>, Running> running_;
  MemoryKills& memory_;
};

}  // namespace muster
