#include "cli/options/host_memory.h"

#include "base/system/clock.h"
#include "run/hosts/bad_hosts.h"

namespace muster {
namespace {

std::uint64_t NowSeconds() { return WallNowNs() / 1'000'000'000; }

}  // namespace

std::vector<std::string> RememberedHosts(const std::vector<std::string>& hosts,
                                         const std::vector<std::string>& environment) {
  const std::string file = BadHostsFile(environment);
  if (file.empty()) return {};
  return BadHostLines(ReadBadHosts(file), hosts, NowSeconds());
}

void RememberHosts(const std::vector<std::pair<std::string, std::string>>& bad, std::size_t hosts,
                   const std::vector<std::string>& environment) {
  const std::string file = BadHostsFile(environment);
  if (file.empty() || (hosts > 1 && bad.size() >= hosts)) return;
  std::vector<HostFailure> failures;
  for (const auto& [host, why] : bad) failures.push_back({NowSeconds(), host, why});
  static_cast<void>(RememberBadHosts(file, failures));  // best effort; nothing depends on it
}

}  // namespace muster
