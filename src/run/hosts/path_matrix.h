// Which hosts try to connect to which before a run, and how what fails is told: grouped by sets of hosts. Pure.
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
  std::string port;          // name in the plan; empty: the one that the agent there opened for it
  std::uint16_t number = 0;  // of a port of the plan

  bool operator==(const ConnectionAttempt&) const = default;
};

// Ports of the plan that a host tries on each other one, at most: those of a host are often alike, and many.
inline constexpr std::size_t kMostPortsTried = 4;

// Ports of the plan on the host that others try, by name, at most kMostPortsTried.
std::vector<ConnectionAttempt> PortsTried(const Plan& plan, std::uint32_t host,
                                          const std::map<std::string, std::uint16_t>& ports);

// What host `from` tries. The plan's ports on every other host; the agents of others at distances 1, 2, 4, … from it,
// as hosts stand in a ring: of up to 8 hosts each reaches for each other one. So n hosts make at most n·log₂ n
// connections besides those to the plan's ports, and a host that is cut off is seen from several sides.
std::vector<ConnectionAttempt> TriesOf(const Plan& plan, std::uint32_t from,
                                       const std::map<std::string, std::uint16_t>& ports);

// `errors` of each host are those of its tries, in order: empty texts are well.
std::vector<PathFailure> FaultsOf(std::span<const std::vector<ConnectionAttempt>> tries,
                                  std::span<const std::vector<std::string>> errors);

// "n[3-4] cannot reach n1:29500 (port MASTER): no answer"
std::string PathFaultText(const PathFailure& fault, const std::function<std::string(const HostSet&)>& names);

}  // namespace muster
