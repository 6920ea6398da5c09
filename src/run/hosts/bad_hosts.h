// Hosts that failed in earlier runs, remembered for a while: each failure counts half as much after kHalfLife, and is
// forgotten once it counts next to nothing. It is a warning, and never a reason to refuse a host.
//
// Knows one file, a line of JSON for each failure. Heads write it at the same time (flock(2)); what in it cannot be
// read is passed over.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct HostFailure {
  std::uint64_t at = 0;  // seconds since 1970
  std::string host;      // as the user named it
  std::string why;

  bool operator==(const HostFailure&) const = default;
};

inline constexpr std::chrono::hours kHalfLife{24};
// A host is spoken of as long as its failures together count as much as one of kHalfLife ago.
inline constexpr double kWorthReporting = 0.5;

// What the failures of one host count together at `now`.
double WeightAt(const std::vector<HostFailure>& failures, std::uint64_t now);

// One line for each of the hosts that is worth a word: "n3 failed 2 times in the last day; last 3 h ago: no answer".
std::vector<std::string> BadHostLines(const std::vector<HostFailure>& failures, const std::vector<std::string>& hosts,
                                      std::uint64_t now);

// $XDG_STATE_HOME/muster/hosts.jsonl, or ~/.local/state/muster/hosts.jsonl; empty if nobody says where that is.
std::string BadHostsFile(const std::vector<std::string>& environment);

// None if there is no file, or it cannot be read.
std::vector<HostFailure> ReadBadHosts(const std::string& file);

// Adds them, and takes away what counts no more. The file is 0600, in a folder that is made with 0700. False if it
// cannot be: nothing depends on it.
bool RememberBadHosts(const std::string& file, const std::vector<HostFailure>& failures);

}  // namespace muster
