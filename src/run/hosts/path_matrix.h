// Selects the connections between hosts that are tested before a run, and groups failures by sets of hosts. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/journal/host_findings.h"

namespace muster {

// One connection that a host tries.
struct ConnectionAttempt {
  std::uint32_t to = 0;      // host
  std::string port;          // name in the plan; empty: the port that the agent there opened for the test
  std::uint16_t number = 0;  // number of a port of the plan

  bool operator==(const ConnectionAttempt&) const = default;
};

// Most ports of the plan that a host tests on each other host: many ports of a host behave alike.
inline constexpr std::size_t kMostPortsTried = 4;

// The ports of the plan on the host that other hosts test, by name, at most kMostPortsTried.
std::vector<ConnectionAttempt> PortsTried(const Plan& plan, std::uint32_t host,
                                          const std::map<std::string, std::uint16_t>& ports);

// The connections that host `from` tests: the plan's ports on every other host, and the agents of hosts at distances 1,
// 2, 4, … from it in a ring of all hosts; with up to 8 hosts, the agents of all others. So n hosts make at most n·log₂
// n connections besides those to the plan's ports, and several hosts notice one that is disconnected.
std::vector<ConnectionAttempt> TriesOf(const Plan& plan, std::uint32_t from,
                                       const std::map<std::string, std::uint16_t>& ports);

// `errors` of each host are those of its connections, in order; an empty text means success.
std::vector<PathFailure> FaultsOf(std::span<const std::vector<ConnectionAttempt>> tries,
                                  std::span<const std::vector<std::string>> errors);

// "n[3-4] cannot reach n1:29500 (port MASTER): no answer"
std::string PathFaultText(const PathFailure& fault, const std::function<std::string(const HostSet&)>& names);

}  // namespace muster
