// Summarises hosts without an agent in one message, grouped by reason.
//
// Pure text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "transport/channel.h"

namespace muster {

struct HostRefusal {
  std::string host;
  AgentUnreachable why;
};

// "2 of 64 hosts: permission denied: n[3,7]; 1 of 64 hosts: no answer: n9", the most frequent reason first; for a
// single host "n1: permission denied".
std::string RefusalsText(const std::vector<HostRefusal>& refusals, std::size_t hosts);

// Hints for these reasons, each once, in the same order.
std::vector<std::string> RefusalHints(const std::vector<HostRefusal>& refusals);

}  // namespace muster
