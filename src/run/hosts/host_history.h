// What this user's runs have shown about hosts: how often and how long each was used, and the failures that happened
// first there, with their fingerprints (run/report/failure_fingerprint.h). A host without failures beside one with many
// is what tells a bad host from a bad program.
//
// One file with a line of JSON for each host, bounded, and replaced as a whole by one head at a time. Lines that are
// not valid are ignored: it is the user's file, and other programs of the user may write to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/hosts/bad_hosts.h"

namespace muster {

struct HostFirstFailure {
  std::uint64_t at = 0;  // seconds since 1970
  std::string run;       // its id
  std::string name;      // of its recipe
  std::string process;   // "worker.3"; empty: the host itself was lost
  std::uint32_t attempt = 0;
  std::optional<double> step;
  std::string failure_class;  // FailureClassName
  std::string fingerprint;    // FailureFingerprint::Id
  std::string what;           // FailureFingerprint::Text

  bool operator==(const HostFirstFailure&) const = default;
};

struct HostHistory {
  std::string host;                                  // name given by the user; of this machine its own
  std::uint64_t runs = 0;                            // that had it, and have ended
  std::uint64_t seconds = 0;                         // in which they had it
  std::uint64_t failures = 0;                        // that happened first there; a run with restarts may have several
  std::uint64_t first_seen = 0;                      // seconds since 1970: when the first of the runs ended, …
  std::uint64_t last_seen = 0;                       // … and the last
  std::vector<HostFirstFailure> last_failures = {};  // the newest ones, oldest first

  bool operator==(const HostHistory&) const = default;
};

inline constexpr std::size_t kMaxHistoryHosts = 2'000;  // those seen last
inline constexpr std::size_t kMaxFailuresOfHost = 8;
inline constexpr std::size_t kMaxHistoryText = 300;  // bytes of a text in it

// One host of a run that has ended.
struct HostUse {
  std::string host;
  std::uint64_t seconds = 0;
  std::vector<HostFirstFailure> failures = {};  // oldest first
};

// Adds the hosts of a run that ended at `now`. Pure.
void AddRun(const std::vector<HostUse>& used, std::uint64_t now, std::vector<HostHistory>& hosts);

// $XDG_STATE_HOME/muster/host_history.jsonl, or below ~/.local/state; empty if neither variable is set.
std::string HostHistoryFile(const std::vector<std::string>& environment);

// By name; empty if there is no file, or it cannot be read.
std::vector<HostHistory> ReadHostHistory(const std::string& file);

// How often hosts have failed.
struct HostFailures {
  std::size_t hosts = 0;
  double seconds = 0;   // in which runs had them
  double failures = 0;  // that happened first there
  double lost = 0;      // … of the host itself, by the share of those among the failures that are remembered

  bool operator==(const HostFailures&) const = default;
};
// Of the remembered hosts with these names; of all if `names` is empty.
HostFailures FailuresOf(const std::vector<HostHistory>& hosts, const std::set<std::string>& names);

// Returns false on errors, which are harmless. Modes as of the file of bad hosts (bad_hosts.h).
bool RememberHostUse(const std::string& file, const std::vector<HostUse>& used, std::uint64_t now);

// The schema (wire/archive/json_schema.h) of a line of the file.
std::string HostHistorySchema();

// A host with the failures of its own that are remembered (bad_hosts.h): it could not be reached, or was lost.
struct ShownHost {
  HostHistory record;
  std::vector<HostFailure> own_failures = {};  // oldest first
};
// All hosts of both, by name; with `names` only these, in their order, also if nothing is known of them.
std::vector<ShownHost> ShownHosts(std::vector<HostHistory> history, const std::vector<HostFailure>& own_failures,
                                  const std::vector<std::string>& names);

// Lines for a terminal: a table, and with `details` the failures of each host, newest first. `now` in seconds since
// 1970.
std::string ShownHostsText(const std::vector<ShownHost>& hosts, bool details, std::uint64_t now);
std::string ShownHostsJson(const std::vector<ShownHost>& hosts);
std::string ShownHostsSchema();

}  // namespace muster
