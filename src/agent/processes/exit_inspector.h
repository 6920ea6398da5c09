// Evidence on the host for the cause of an exit besides the exit status: the path of a core dump, the log of a
// sanitizer, a kill by the kernel for lack of memory, and a full disk.
//
// Inspects the host only if the exit status gives a reason to.
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
  // `memory` must outlive this object.
  explicit ExitInspector(MemoryKills& memory) : memory_(memory) {}

  // `sanitizer_logs`: the files that a sanitizer in the process would write.
  void Started(const ProcessStarted& event, const std::string& cwd, const std::string& log,
               std::vector<std::string> sanitizer_logs = {});
  // A signal that the agent sent.
  void Signalled(const SignalSent& event);
  // The evidence for this exit; usually empty. Forgets the attempt.
  std::vector<EndEvidence> Ended(const ProcessExited& event);

 private:
  struct Running {
    std::int32_t pid = 0;
    MonotonicNs at = 0;
    std::string cwd;
    std::string log;
    std::vector<std::string> sanitizer_logs;
    bool killed = false;   // by the agent
    bool stopped = false;  // received any signal from the agent
  };

  std::map<std::pair<ProcessId, std::uint32_t>, Running> running_;
  MemoryKills& memory_;
};

}  // namespace muster
