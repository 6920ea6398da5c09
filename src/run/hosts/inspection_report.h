// Findings about hosts as text and as JSON (docs/doctor.md), and hosts without an agent in one message, grouped by
// reason. Draws no conclusions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "run/hosts/host_differences.h"
#include "transport/transport.h"

namespace muster {

// Summarises hosts without an agent in one message, grouped by reason.
//
// Pure text.

struct HostRefusal {
  std::string host;
  AgentUnreachable why;
};

// "2 of 64 hosts: permission denied: n[3,7]; 1 of 64 hosts: no answer: n9", the most frequent reason first; for a
// single host "n1: permission denied".
std::string RefusalsText(const std::vector<HostRefusal>& refusals, std::size_t hosts);

// Hints for these reasons, each once, in the same order.
std::vector<std::string> RefusalHints(const std::vector<HostRefusal>& refusals);

// Writes findings about hosts as text and as JSON (docs/doctor.md). Draws no conclusions.

// One line each, without a newline: "2 of 4 hosts: /tmp is full: n[1-2]", "n[1-3]: kernel 6.1 · n4: kernel 5.15".
std::string HostFaultLine(std::span<const InspectedHost> hosts, const HostFault& fault);
std::string HostDifferenceLine(std::span<const InspectedHost> hosts, const HostDifference& difference);

// For several hosts only differences and faults; for one host everything. `remembered`: lines about hosts that failed
// recently (run/hosts/bad_hosts.h). `agents`: the architectures of other hosts for which an agent is installed here.
std::string InspectionText(std::span<const InspectedHost> hosts, const HostComparison& comparison,
                           const std::vector<std::string>& remembered = {},
                           const std::vector<std::string>& agents = {});

// {"format": 1, "ok": …, "hosts": […], "faults": […], "differences": […], "remembered": […], "agents": […]}:
// everything.
std::string InspectionJson(std::span<const InspectedHost> hosts, const HostComparison& comparison,
                           const std::vector<std::string>& remembered = {},
                           const std::vector<std::string>& agents = {});
// The schema (wire/archive/json_schema.h) of that JSON.
std::string InspectionSchema();

}  // namespace muster
