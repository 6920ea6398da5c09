// Hosts on which there is no agent, told in one message: those that fail alike together.
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

// "2 of 64 hosts: permission denied: n[3,7]; 1 of 64 hosts: no answer: n9", what concerns most hosts first; of one host
// alone "n1: permission denied".
std::string RefusalsText(const std::vector<HostRefusal>& refusals, std::size_t hosts);

// What may help, each once, in the same order.
std::vector<std::string> RefusalHints(const std::vector<HostRefusal>& refusals);

}  // namespace muster
