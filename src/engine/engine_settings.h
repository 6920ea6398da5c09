// What a user sets for an engine, checked against the options of its page: slurm = { partition = "gpu" } in a recipe or
// a site file, --slurm partition=gpu on the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/engine_page.h"
#include "muster/result.h"

namespace muster {

// A checked value: a text (also for durations, in the engine's notation), a whole number, true or false, a list of
// texts, or for requeue a table of on and max.
struct EngineSetting {
  Value value;
  Place place;         // in a recipe or site file
  std::string source;  // "--slurm", "muster.site.lua:4 (project site file)", …
};

// By the option's name.
using EngineSettings = std::map<std::string, EngineSetting>;

// The settings of a table. `place_of` and `source_of` get the name of each option. Kinds "unknown_key", "type",
// "range", "format".
Result<EngineSettings> SettingsOfTable(const EnginePage& page, const Value& table,
                                       const std::function<Place(const std::string&)>& place_of,
                                       const std::function<std::string(const std::string&)>& source_of);

// The settings of words "name=text", given with `option` ("--slurm"); lists collect the texts of several words. Kind
// "usage", else as above.
Result<EngineSettings> SettingsOfWords(const EnginePage& page, std::span<const std::string> words,
                                       const std::string& option);

// Each setting from the first that has it.
EngineSettings MergedSettings(std::span<const EngineSettings> nearest_first);

// The number of nodes that the user asks for, if any.
std::optional<std::uint32_t> NodesOf(const EngineSettings& settings);
// The number of devices of each node that the user asks for: of "gpu:a100:8" 8. Nothing if they do not say.
std::optional<std::uint32_t> DevicesOf(const EnginePage& page, const EngineSettings& settings);

// The number of tasks of each node that the user asks for, by the option or by its words in a list of further options.
// Nothing: one, as for a launcher.
std::optional<std::uint32_t> TasksOf(const EnginePage& page, const EngineSettings& settings);

// The setting that asks for an allocation for each trial of a sweep; null if there is none, or if it says no.
const EngineSetting* EachTrialOf(const EnginePage& page, const EngineSettings& settings);

// After which ends of its allocation a job is requeued, and how often at most. Without causes it never is.
struct RequeueRule {
  std::set<std::string> on;  // "time_limit", "preempted", "node_fail", "failed"
  std::uint32_t max = 0;

  bool operator==(const RequeueRule&) const = default;
};
RequeueRule RequeueOf(const EnginePage& page, const EngineSettings& settings);

// How long before its end the head of a job is told: as the user says by `notice` or in a directive of his own, else
// what the end of the job takes (`stop_seconds`; 0: unknown) with a margin, but no more than three quarters of its time
// limit. Nothing for engines that announce no end. Kind "conflict": a directive of the user's that muster cannot
// follow.
struct NoticeChoice {
  std::uint32_t seconds = 0;
  std::string directive;  // of the user's, which sets it; the script has muster's own in its place
};
Result<std::optional<NoticeChoice>> NoticeOf(const EnginePage& page, const EngineSettings& settings,
                                             std::uint32_t stop_seconds);

}  // namespace muster
