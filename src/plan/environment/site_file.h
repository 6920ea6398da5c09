// Site files: facts about machines, stated once for all jobs, and the notifications that a site file or a recipe asks
// for. Validates the content of one file, and merges several files, nearer ones first. Knows their fields
// (docs/site.md); finds and opens no files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"
#include "muster/value.h"

namespace muster {

// Notifications as values: what lua/muster/notify.lua has made of the `notify` of a recipe or site file.

// A list of maps with the members of Notification. The error is a phrase; checked values have none.
tl::expected<std::vector<Notification>, std::string> NotificationsFrom(const Value& value);

// Site files: facts about machines, stated once for all jobs. Validates the content of one file, and merges several
// files, nearer ones first. Knows their fields (docs/site.md); finds and opens no files.

// Nearest first. kGiven is the file named by --site or MUSTER_SITE, which then is the only one.
enum class SiteLevel : std::uint8_t { kGiven, kProject, kUser, kSystem };

// The engines whose options a site file may set; more engines are pages of users (docs/engines.md).
std::span<const std::string_view> EnginesOfSiteFiles();

// "site file", "project site file", "user site file", "system site file"
std::string SiteLevelText(SiteLevel level);

struct SiteFile {
  std::string shown;   // path as shown in diagnostics
  std::string folder;  // absolute: base of relative paths in the file
  std::string home;    // replacement for "~/"; empty: not replaced
  SiteLevel level = SiteLevel::kGiven;
};

enum class SiteTransport : std::uint8_t { kUnsaid, kLocal, kSsh };
enum class SiteAccess : std::uint8_t { kUnsaid, kUser, kGroup };

// Contents of site files. Paths are absolute.
struct SiteFacts {
  std::vector<SiteHost> hosts;
  std::string hostfile;  // a file that lists the hosts, instead of `hosts`
  std::optional<std::uint32_t> devices;
  std::optional<std::uint64_t> memory;
  SiteTransport transport = SiteTransport::kUnsaid;
  SiteEnvironment environment;
  std::string run_root;  // folder below which runs/ is created
  SiteAccess access = SiteAccess::kUnsaid;
  std::map<std::string, std::string> libraries;  // folders by name, without '@'
  std::string rules;
  std::string verdicts;  // a file with rules of verdicts
  std::vector<Notification> notifications;
  // Options of engines by engine and name, not checked yet.
  std::map<std::string, std::map<std::string, Value>> engines;
  // By field ("hosts", "environment.set.NAME", "libraries.acme", "slurm.time"): its place, and "muster.site.lua:4
  // (project site file)".
  std::map<std::string, Place> places;
  std::map<std::string, std::string> sources;
};

// `table` is the value that the file returned, `lines` the lines of its keys, by path. Reports all errors at once:
// kinds "unknown_key", "type", "range", "conflict", "hosts", "variable" and "format".
Result<SiteFacts> ReadSiteFacts(const SiteFile& file, const Value& table,
                                const std::map<std::string, std::uint32_t>& lines);

// Takes each field from the first file that defines it; `environment.set`, `libraries` and options of engines are
// merged name by name; notifications of all files are added up.
SiteFacts MergedSiteFacts(std::span<const SiteFacts> nearest_first);

}  // namespace muster
