// What the command line says of a sweep, and the description that it comes to, with what the file says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "cli/options/recipe_options.h"
#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "space/sweep_description.h"

namespace muster {

// As it was typed: nothing is read yet.
struct SweepOptions {
  RecipeOptions recipe;
  std::vector<std::string> grids;              // NAME=VALUES
  std::vector<std::vector<std::string>> zips;  // the same, those of one --zip together
  std::vector<std::string> where;
  std::optional<std::uint64_t> random;
  std::optional<std::uint64_t> sobol;
  std::optional<std::uint64_t> seed;
  std::string shard;  // I/N
  std::string minimize;
  std::string maximize;
  std::vector<std::string> metrics;  // NAME=PATTERN
  std::string asha;                  // RESOURCE:MIN..MAX/ETA
  std::string median;                // RESOURCE[:WARMUP]
  std::string max_time;
  std::optional<std::uint64_t> max_trials;
  std::optional<std::uint32_t> max_devices;
  std::optional<std::uint32_t> slots;
  std::optional<std::uint32_t> per_device;
  std::optional<std::uint32_t> retry;
  std::vector<std::string> retry_on;  // lists of classes
  std::string name;
};

// Adds FILE, name=value … and all of the above. The options must live as long as the app.
void AddSweepOptions(CLI::App& app, SweepOptions& options, const Invocation& invocation);

// What a call of muster sweep said.
struct SweepWords {
  SweepOptions sweep;
  std::string agent;  // --agent
};
// From its words; its --site is chosen (cli/options/site_of_call.h).
Result<SweepWords> ReadSweepWords(std::vector<std::string> words);

struct DescribedSweep {
  EvaluationOptions evaluation;  // of the recipe; a point's values are to be added (PointOverride)
  std::string recipe_name;
  SweepDescription sweep;
  std::vector<SiteHost> hosts = {};    // that are named, for all trials together
  std::uint32_t devices_per_host = 0;  // that the recipe believes in; once a point was planned
};

// Reads the words, asks the evaluator what the file says, and puts the two together. What it gives has passed
// CheckSweep. The same words give the same description as long as the files are the same.
Result<DescribedSweep> DescribeSweep(const SweepOptions& options, Evaluator& evaluator);
// The same of a recipe that is asked for already; what the options say of a recipe does not count.
Result<DescribedSweep> DescribeSweep(const SweepOptions& options, EvaluationOptions evaluation, Evaluator& evaluator);

// A sweep has no use for --spares. Kind "usage".
Result<void> CheckNoSpares(const RecipeOptions& options);

// For sweep.json and --json.
Value SweepDescriptionValue(const SweepDescription& sweep);

}  // namespace muster
