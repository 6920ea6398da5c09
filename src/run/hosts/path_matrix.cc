#include "run/hosts/path_matrix.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

// Up to this number of hosts, every host tests every other one.
constexpr std::uint32_t kFewHosts = 8;

void Add(HostSet& set, std::uint32_t host) {
  const auto at = std::lower_bound(set.begin(), set.end(), host);
  if (at == set.end() || *at != host) set.insert(at, host);
}

}  // namespace

std::vector<ConnectionAttempt> PortsTried(const Plan& plan, std::uint32_t host,
                                          const std::map<std::string, std::uint16_t>& ports) {
  std::vector<ConnectionAttempt> tried;
  for (const auto& [name, port] : plan.ports) {
    const auto number = ports.find(name);
    if (port.host != host || number == ports.end() || tried.size() == kMostPortsTried) continue;
    tried.push_back({host, name, number->second});
  }
  return tried;
}

std::vector<ConnectionAttempt> TriesOf(const Plan& plan, std::uint32_t from,
                                       const std::map<std::string, std::uint16_t>& ports) {
  const auto hosts = static_cast<std::uint32_t>(plan.hosts.size());
  std::vector<ConnectionAttempt> tries;
  for (std::uint32_t to = 0; to < hosts; ++to) {
    if (to == from) continue;
    std::vector<ConnectionAttempt> tried = PortsTried(plan, to, ports);
    std::move(tried.begin(), tried.end(), std::back_inserter(tries));
  }
  for (std::uint32_t distance = 1; distance < hosts; distance = hosts <= kFewHosts ? distance + 1 : distance * 2) {
    tries.push_back({(from + distance) % hosts, {}, 0});
  }
  return tries;
}

std::vector<PathFailure> FaultsOf(std::span<const std::vector<ConnectionAttempt>> tries,
                                  std::span<const std::vector<std::string>> errors) {
  // First groups hosts that cannot reach one place for the same reason, then places that the same hosts cannot reach.
  using Where = std::tuple<std::string, std::uint16_t, std::uint32_t, std::string>;  // port, number, host, why
  std::map<Where, HostSet> by_place;
  for (std::uint32_t from = 0; from < tries.size(); ++from) {
    for (std::size_t i = 0; i < tries[from].size() && i < errors[from].size(); ++i) {
      const ConnectionAttempt& tried = tries[from][i];
      if (!errors[from][i].empty()) Add(by_place[{tried.port, tried.number, tried.to, errors[from][i]}], from);
    }
  }
  std::vector<PathFailure> faults;
  for (const auto& [place, from] : by_place) {
    const auto& [port, number, to, why] = place;
    const auto alike = std::find_if(
        faults.begin(), faults.end(), [&, &port = port, &why = why, &from = from](const PathFailure& fault) {
          return fault.port == port && port.empty() && fault.why == why && fault.from == from;
        });
    if (alike != faults.end()) {
      Add(alike->to, to);
    } else {
      faults.push_back({from, {to}, port, number, why});
    }
  }
  // Ports of the plan are the most important ones.
  std::stable_partition(faults.begin(), faults.end(), [](const PathFailure& fault) { return !fault.port.empty(); });
  return faults;
}

std::string PathFaultText(const PathFailure& fault, const std::function<std::string(const HostSet&)>& names) {
  const std::string place =
      fault.port.empty() ? std::string() : fmt::format(":{} (port {})", fault.number, Printable(fault.port));
  return fmt::format("{} cannot reach {}{}: {}", names(fault.from), names(fault.to), place, Printable(fault.why));
}

}  // namespace muster
