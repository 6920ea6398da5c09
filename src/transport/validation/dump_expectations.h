// What an agent may report about dumps of its processes.
#pragma once

#include <compare>
#include <cstdint>
#include <set>

#include "transport/validation/message_verdict.h"
#include "wire/protocol/protocol.h"

namespace muster {

class DumpExpectations {
 public:
  void Note(const TakeDump& command);

  MessageVerdict On(const ProcessDumped& message);
  MessageVerdict On(const HostDumped& message);

 private:
  struct Dumped {
    std::uint32_t dump = 0;
    ProcessId process = 0;
    std::uint32_t attempt = 0;

    auto operator<=>(const Dumped&) const = default;
  };

  std::set<std::uint32_t> dumps_;  // HostDumped messages that are allowed
  std::set<Dumped> dumped_;        // ProcessDumped messages that are allowed
};

}  // namespace muster
