// The description of a sweep: the sweep options of the command line combined with what the file says, and the changes
// of a sweep's inputs since its beginning: files of the recipe, variables that it read, and its points.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "cli/options/recipe_options.h"
#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "space/sweep_description.h"

namespace muster {

// The sweep options of the command line, and the resulting description, combined with the file's.

// As typed, not parsed.
struct SweepOptions {
  RecipeOptions recipe;
  std::vector<std::string> grids;              // NAME=VALUES
  std::vector<std::vector<std::string>> zips;  // the same; one list for each --zip
  std::vector<std::string> where;
  std::vector<std::string> tries;                                            // NAME=VALUE,… or a JSON object
  std::array<std::optional<std::uint64_t>, std::size(kSamplers)> trials_of;  // of each sampler's option
  std::optional<std::uint64_t> seed;
  std::string optimizer;                 // words of a command
  std::string shard;                     // I/N
  std::vector<std::string> constraints;  // METRIC <= BOUND
  std::string seeds;                     // [NAME=]N
  std::vector<Objective> objectives;     // in the order in which they were given
  std::string asha;                      // RESOURCE:MIN..MAX/ETA
  std::string hyperband;                 // likewise
  bool promote = false;
  std::string median;  // RESOURCE[:WARMUP]
  std::string max_time;
  std::optional<std::uint64_t> max_trials;
  std::optional<std::uint32_t> max_devices;
  std::optional<double> max_device_hours;
  std::optional<std::uint32_t> slots;
  std::optional<std::uint32_t> per_device;
  std::optional<std::uint32_t> retry;
  std::vector<std::string> retry_on;  // lists of classes
  std::optional<std::uint64_t> stop_after_failures;
  std::optional<std::uint64_t> skip_after_failures;
  bool stop_after_no_gain = false;
  std::string name;
  std::string from;  // SWEEP
  // The results of another sweep, if they are known already, instead of those of `from`.
  std::optional<SamplerChoice::Given> given = {};
  // Of a sweep that was edited (space/sampler.h).
  std::vector<Point> kept = {};
  std::uint64_t edited_at = 0;
};

// --max-device-hours, of more than 0.
void AddDeviceHoursOption(CLI::App& app, std::optional<double>& hours);
void AddTryOption(CLI::App& app, std::vector<std::string>& tries);

// The rule of --asha or --median, of which one is given.
Result<EarlyStopChoice> EarlyStopOption(const std::string& asha, const std::string& hyperband,
                                        const std::string& median);

// Adds FILE, name=value … and all of the above. The options must live as long as the app.
void AddSweepOptions(CLI::App& app, SweepOptions& options, const Invocation& invocation);

// The parsed arguments of a call of muster sweep.
struct SweepArguments {
  SweepOptions sweep;
  std::string agent;                // --agent
  std::vector<std::string> notify;  // --notify
};
// Parses the arguments; applies --site (cli/lookup/current_site.h).
Result<SweepArguments> ParseSweepArguments(std::vector<std::string> words);

struct DescribedSweep {
  EvaluationOptions evaluation;  // of the recipe; add a point's values with PointOverride
  std::string recipe_name;
  SweepDescription sweep;
  std::vector<SiteHost> hosts = {};    // the named hosts, for all trials together
  std::uint32_t devices_per_host = 0;  // assumed by the recipe; known once a point was planned
  std::string about_sampler = {};      // a sentence, of ChooseSampler()
  // Of each point that users chose, how many of the description's it is: one for each seed.
  std::vector<std::size_t> chosen = {};
};

// Parses the options, evaluates the file, and combines the two. The result has passed CheckSweep. The same options give
// the same description as long as the files are unchanged.
Result<DescribedSweep> DescribeSweep(const SweepOptions& options, Evaluator& evaluator);
// The same for a prepared evaluation; the options about the recipe are ignored.
Result<DescribedSweep> DescribeSweep(const SweepOptions& options, EvaluationOptions evaluation, Evaluator& evaluator);

// Judges the chosen points of the description from `first` on. Fails with the recipe's errors about those that are not
// possible, each with its point.
Result<void> CheckChosen(const DescribedSweep& described, std::size_t first, Evaluator& evaluator);

// About those that are given twice, and those that are not in the space, if the sampler learns from results.
Diagnostics WarnOfChosen(const SweepDescription& sweep, std::size_t first);

// Refuses --spares, which a sweep cannot use. Kind "usage".
Result<void> CheckNoSpares(const RecipeOptions& options);

// Detects changes of a sweep's inputs since its beginning: files of the recipe, variables that it read, and its
// points.

// The differences between the stored files and the originals, line by line as text; empty if there are none. A missing
// original is no change: the stored file is used.
Result<std::string> ChangesOfSweep(const std::string& sweep_dir);

// A hash of all stored inputs of the trials: for SweepBegan::recipe.
Result<std::string> RecipeHashOf(const std::string& sweep_dir);

// Sets what a continued sweep knows of other trials: the results of another sweep that it began with, and the points
// that it kept when it was edited.
Result<void> KeepKnown(const std::string& sweep_dir, SweepOptions& options);

// Gives a sweep that began before unions had weights the draws that it began with.
Result<void> KeepDraws(const std::string& sweep_dir, SweepDescription& sweep);

// Trials are identified by number: a different point with the same number would be taken for a finished one. Kind
// "points_changed" if the current description has other points than at the beginning, "rules_changed" if it has another
// objective or rule.
Result<void> CheckSameSweep(const std::string& sweep_dir, const SweepDescription& sweep);

}  // namespace muster
