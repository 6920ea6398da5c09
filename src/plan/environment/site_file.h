// Site files: facts about machines, said once for all jobs. What one file says is checked here, and several are made
// one, nearer ones first. Knows their words (docs/site.md); finds and opens nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "muster/result.h"
#include "muster/site.h"
#include "muster/value.h"

namespace muster {

// Nearest first. kGiven is the one that is named by --site or MUSTER_SITE, and then the only one.
enum class SiteLevel : std::uint8_t { kGiven, kProject, kUser, kSystem };

// The engines whose options a site file may set; more engines are pages of users (docs/engines.md).
std::span<const std::string_view> EnginesOfSiteFiles();

// "site file", "project site file", "user site file", "system site file"
std::string SiteLevelText(SiteLevel level);

struct SiteFile {
  std::string shown;   // as diagnostics name it
  std::string folder;  // absolute: what its paths are relative to
  std::string home;    // what "~/" stands for; empty: nothing
  SiteLevel level = SiteLevel::kGiven;
};

enum class SiteTransport : std::uint8_t { kUnsaid, kLocal, kSsh };
enum class SiteAccess : std::uint8_t { kUnsaid, kUser, kGroup };

// What site files say. Paths are absolute.
struct SiteFacts {
  std::vector<SiteHost> hosts;
  std::string hostfile;  // whose hosts they are instead
  std::optional<std::uint32_t> devices;
  std::optional<std::uint64_t> memory;
  SiteTransport transport = SiteTransport::kUnsaid;
  SiteEnvironment environment;
  std::string run_root;  // runs/ is made below it
  SiteAccess access = SiteAccess::kUnsaid;
  std::map<std::string, std::string> libraries;  // folders by name, without '@'
  std::string rules;
  std::map<std::string, std::map<std::string, Value>>
      engines;  // options of engines by engine and name, not checked yet
  // By field ("hosts", "environment.set.NAME", "libraries.acme", "slurm.time"): where, and "muster.site.lua:4 (project
  // site file)".
  std::map<std::string, Place> places;
  std::map<std::string, std::string> sources;
};

// `table` is what the file returned, `lines` where its keys stand, by path. All that is wrong at once: kinds
// "unknown_key", "type", "range", "conflict", "hosts", "variable" and "format".
Result<SiteFacts> ReadSiteFacts(const SiteFile& file, const Value& table,
                                const std::map<std::string, std::uint32_t>& lines);

// Field by field the first that says it; of `environment.set`, `libraries` and options of engines, name by name.
SiteFacts MergedSiteFacts(std::span<const SiteFacts> nearest_first);

}  // namespace muster
