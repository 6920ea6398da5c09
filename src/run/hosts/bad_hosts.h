// Remembers hosts that failed in earlier runs: the weight of each failure halves every kHalfLife, and a failure is
// forgotten once its weight is negligible. Used for warnings only, never to refuse a host.
//
// Uses one file with a line of JSON for each failure. Several heads may write it at the same time (flock(2));
// unreadable lines are ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct HostFailure {
  std::uint64_t at = 0;  // seconds since 1970
  std::string host;      // name given by the user
  std::string why;

  bool operator==(const HostFailure&) const = default;
};

inline constexpr std::chrono::hours kHalfLife{24};
// A host is reported while its failures together weigh as much as one from kHalfLife ago.
inline constexpr double kWorthReporting = 0.5;

// The weight of all failures of one host together at `now`.
double WeightAt(const std::vector<HostFailure>& failures, std::uint64_t now);

// One line for each host to be reported: "n3 failed 2 times in the last day; last 3 h ago: no answer".
std::vector<std::string> BadHostLines(const std::vector<HostFailure>& failures, const std::vector<std::string>& hosts,
                                      std::uint64_t now);

// The file `name` in $XDG_STATE_HOME/muster, or in ~/.local/state/muster; empty if neither variable is set.
std::string UserStateFile(const std::vector<std::string>& environment, const std::string& name);
// Replaces the file by what `made` returns, which is called while no other head does the same. It has mode 0600, in a
// folder that is created with mode 0700. Returns false on errors.
bool ReplaceUserStateFile(const std::string& file, const std::function<std::string()>& made);
// "3 h", "12 min": a rough duration.
std::string AgoText(std::uint64_t seconds);

// $XDG_STATE_HOME/muster/hosts.jsonl, or ~/.local/state/muster/hosts.jsonl; empty if neither variable is set.
std::string BadHostsFile(const std::vector<std::string>& environment);

// Empty if there is no file, or it cannot be read.
std::vector<HostFailure> ReadBadHosts(const std::string& file);

// Adds the failures and removes those of negligible weight. Returns false on errors, which are harmless.
bool RememberBadHosts(const std::string& file, const std::vector<HostFailure>& failures);

}  // namespace muster
