#include "cli/sweeps/sweep_options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/system/private_files.h"
#include "base/values/diagnostics.h"
#include "base/values/fingerprint.h"
#include "base/values/line_diff.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/small_file.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_facts.h"
#include "metrics/log_patterns.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/trial/trial_class.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

Diagnostic UsageError(std::string message, std::string hint) {
  return Error("usage", {}, std::move(message), std::move(hint));
}

// NAME=REST, split at the first '='.
Result<std::pair<std::string, std::string>> SplitWord(const std::string& option, const std::string& word,
                                                      const std::string& example) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Fail(UsageError(option + " " + Quoted(word) + " has no NAME=", option + " " + example));
  }
  return std::pair(word.substr(0, equals), word.substr(equals + 1));
}

// An axis that the evaluator parses by its parameter's type.
Result<Space> AxisOfWord(const std::string& option, const std::string& word) {
  auto split = SplitWord(option, word, "learning_rate=1e-4,3e-4");
  if (!split) return Fail(split.error());
  if (const std::string& name = split->first; name.ends_with(':') || name.ends_with('@')) {
    const std::string plain = name.substr(0, name.size() - 1);
    return Fail(UsageError(option + " " + Quoted(word) + ": an axis has one form, NAME=VALUES",
                           "values are separated by commas, lists and maps are JSON: " + option + " " +
                               ShellQuoted(plain + "=" + (split->second.empty() ? "1,2" : split->second))));
  }
  Space space;
  space.kind = Space::Kind::kAxis;
  space.axis.name = std::move(split->first);
  space.axis.values = {Value(std::move(split->second))};
  return space;
}

Result<std::optional<Space>> SpaceOfWords(const SweepOptions& options) {
  if (options.grids.empty() && options.zips.empty()) return std::optional<Space>();
  Space product;
  Diagnostics problems;
  const auto add = [&](const std::string& option, const std::string& word, Space& to) {
    auto axis = AxisOfWord(option, word);
    if (axis) {
      to.parts.push_back(*std::move(axis));
    } else {
      problems.insert(problems.end(), axis.error().begin(), axis.error().end());
    }
  };
  for (const std::string& word : options.grids) add("--grid", word, product);
  for (const std::vector<std::string>& words : options.zips) {
    Space zip;
    zip.kind = Space::Kind::kZip;
    for (const std::string& word : words) add("--zip", word, zip);
    product.parts.push_back(std::move(zip));
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return std::optional(std::move(product));
}

bool IsNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

// Whether "NAME=" begins there.
bool BeginsWithName(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), IsNameCharacter);
  return end != text.begin() && end != text.end() && *end == '=';
}

// NAME=VALUE,NAME=VALUE: a comma that is not before a NAME= belongs to a value. Or a JSON object.
Result<Space> ChosenPoint(const std::string& word) {
  const auto refuse = [&](const std::string& why) {
    return Fail(UsageError("--try " + Quoted(word) + ": " + why, "--try learning_rate=3e-4,batch_size=64"));
  };
  Space space;
  space.kind = Space::Kind::kFixed;
  if (word.starts_with('{')) {
    auto json = ValueFromJsonText(word);
    if (!json) return refuse(json.error());
    if (json->AsMap() == nullptr || json->AsMap()->empty()) return refuse("not a JSON object of names and values");
    space.fixed = *json->AsMap();
    return space;
  }
  for (std::size_t begin = 0; begin <= word.size();) {
    std::size_t end = word.find(',', begin);
    while (end != std::string::npos && !BeginsWithName(std::string_view(word).substr(end + 1))) {
      end = word.find(',', end + 1);
    }
    end = std::min(end, word.size());
    const std::string pair = word.substr(begin, end - begin);
    begin = end + 1;
    if (!BeginsWithName(pair)) return refuse("a point is NAME=VALUE, and more of them after commas");
    const std::size_t equals = pair.find('=');
    const std::string name = pair.substr(0, equals);
    if (!space.fixed.emplace(name, Value(pair.substr(equals + 1))).second) return refuse(name + " is given twice");
  }
  return space;
}

// [NAME=]N
Result<std::optional<SeedsChoice>> ReadSeeds(const std::string& text) {
  if (text.empty()) return std::nullopt;
  SeedsChoice seeds;
  const std::size_t equals = text.rfind('=');
  if (equals != std::string::npos) seeds.param = text.substr(0, equals);
  const auto count =
      ParseNumber<std::uint64_t>(std::string_view(text).substr(equals == std::string::npos ? 0 : equals + 1));
  if (!count || *count < 2 || *count > kMaxSeeds || seeds.param.empty()) {
    return Fail(UsageError(fmt::format("--seeds {} is not a number from 2 to {}, or NAME=N", Quoted(text), kMaxSeeds),
                           "--seeds 3, or --seeds train.seed=3"));
  }
  seeds.count = *count;
  return seeds;
}

template <class Number>
bool ReadNumber(std::string_view text, Number& number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && rest == text.data() + text.size();
}

Result<void> ReadShard(const std::string& text, SamplerChoice& sampler) {
  if (text.empty()) return {};
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || !ReadNumber(std::string_view(text).substr(0, slash), sampler.shard) ||
      !ReadNumber(std::string_view(text).substr(slash + 1), sampler.shards)) {
    return Fail(UsageError("--shard " + Quoted(text) + " is not a number of a part", "--shard 0/4 to --shard 3/4"));
  }
  return {};
}

// RESOURCE:MIN..MAX[/ETA], of --asha or --hyperband.
Result<EarlyStopChoice> ReadRungs(const std::string& option, EarlyStopChoice::Kind kind, const std::string& text) {
  EarlyStopChoice stop;
  stop.kind = kind;
  const std::size_t colon = text.find(':');
  const std::size_t dots = text.find("..", colon == std::string::npos ? 0 : colon);
  if (colon != std::string::npos && colon > 0 && dots != std::string::npos) {
    const std::size_t slash = text.find('/', dots);
    const std::string_view all = text;
    stop.resource = text.substr(0, colon);
    const bool read =
        ReadNumber(all.substr(colon + 1, dots - colon - 1), stop.min) &&
        ReadNumber(all.substr(dots + 2, slash == std::string::npos ? slash : slash - dots - 2), stop.max) &&
        (slash == std::string::npos || ReadNumber(all.substr(slash + 1), stop.eta));
    if (read) return stop;
  }
  return Fail(UsageError(option + " " + Quoted(text) + " is not METRIC:MIN..MAX/ETA", option + " step:1000..64000/4"));
}

// RESOURCE[:WARMUP]
Result<EarlyStopChoice> ReadMedian(const std::string& text) {
  EarlyStopChoice stop;
  stop.kind = EarlyStopChoice::Kind::kMedian;
  const std::size_t colon = text.find(':');
  stop.resource = text.substr(0, colon);
  if (stop.resource.empty() ||
      (colon != std::string::npos && !ReadNumber(std::string_view(text).substr(colon + 1), stop.warmup))) {
    return Fail(UsageError("--median " + Quoted(text) + " is not METRIC or METRIC:WARMUP", "--median step:1000"));
  }
  return stop;
}

Result<void> ReadRetries(const SweepOptions& options, RetryChoice& retry) {
  if (options.retry) retry.max = *options.retry;
  if (options.retry_on.empty()) return {};
  retry.on.clear();
  Diagnostics problems;
  if (retry.max == 0) problems.push_back(UsageError("--retry-on without --retry: nothing is retried", "--retry 2"));
  for (const std::string& list : options.retry_on) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string word = list.substr(begin, end - begin);
      begin = end + 1;
      const auto named = ParseTrialClass(word);
      if (named && IsFailure(*named)) {
        if (std::find(retry.on.begin(), retry.on.end(), *named) == retry.on.end()) retry.on.push_back(*named);
        continue;
      }
      problems.push_back(UsageError("--retry-on: " + Quoted(word) + " is not a failure class",
                                    DidYouMean(word, AllTrialClassNames(true))));
    }
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return {};
}

Result<void> ReadBudget(const SweepOptions& options, BudgetChoice& budget) {
  for (const auto& [name, none] :
       {std::pair{"--max-trials", options.max_trials == 0U}, std::pair{"--max-devices", options.max_devices == 0U},
        std::pair{"--slots", options.slots == 0U}, std::pair{"--per-device", options.per_device == 0U}}) {
    if (none) return Fail(UsageError(std::string(name) + " 0: nothing could be started", ""));
  }
  if (options.max_trials) budget.trials = options.max_trials;
  if (options.max_devices) budget.devices = options.max_devices;
  if (options.max_device_hours) budget.device_hours = options.max_device_hours;
  if (options.slots) budget.slots = options.slots;
  constexpr std::uint32_t kMaxPerDevice = 64;
  if (options.per_device > kMaxPerDevice) {
    return Fail(UsageError(
        fmt::format("--per-device {}: at most {} trials can share a device", *options.per_device, kMaxPerDevice), ""));
  }
  if (options.per_device) budget.per_device = options.per_device;
  if (options.max_time.empty()) return {};
  const auto seconds = ParseDuration(options.max_time);
  constexpr double kMax = 1e9;
  if (!seconds || !(*seconds > 0 && *seconds <= kMax)) {
    return Fail(UsageError("--max-time " + Quoted(options.max_time) + " is not a duration",
                           DurationHint(options.max_time, "--max-time 36h")));
  }
  budget.time_ms = static_cast<std::uint64_t>(std::ceil(*seconds * 1000));
  return {};
}

Result<void> ReadMetrics(const SweepOptions& options, MetricsChoice& metrics) {
  auto patterns = ParseMetrics(options.recipe);
  if (!patterns) return Fail(std::move(patterns.error()));
  for (auto& [name, pattern] : *patterns) metrics.patterns[name] = std::move(pattern);
  return {};
}

// Applies the command line to the description in the file.
Diagnostics ApplyOptions(const SweepOptions& options, SweepDescription& sweep) {
  Diagnostics problems;
  const auto take = [&](const Result<void>& done) {
    if (!done) problems.insert(problems.end(), done.error().begin(), done.error().end());
  };
  if (!options.name.empty()) sweep.name = options.name;
  if (!IsRunName(sweep.name)) {
    problems.push_back(UsageError("--name " + Quoted(sweep.name) + " names folders: letters, digits, '_', '-' and '.'",
                                  "--name lr-and-layout"));
  }
  sweep.where.insert(sweep.where.end(), options.where.begin(), options.where.end());
  for (std::size_t i = 0; i < options.trials_of.size(); ++i) {
    if (!options.trials_of[i]) continue;
    sweep.sampler.kind = static_cast<SamplerChoice::Kind>(i);
    sweep.sampler.trials = options.trials_of[i];
  }
  if (!options.optimizer.empty()) {
    const auto words = ShellWords(options.optimizer);
    if (!words) problems.push_back(UsageError("--optimizer " + Quoted(options.optimizer) + ": " + words.error(), ""));
    if (!KindOf(sweep.sampler).pipes) {
      problems.push_back(UsageError("--optimizer without a number of trials", "--pipe 30 --optimizer 'python3 my.py'"));
    }
    if (words) sweep.sampler.command = *words;
  }
  if (options.seed && !KindOf(sweep.sampler).draws) {
    problems.push_back(UsageError("--seed: a grid draws nothing", "--random N or --sobol N draw points"));
  }
  if (options.seed) sweep.sampler.seed = *options.seed;
  take(ReadShard(options.shard, sweep.sampler));
  if (options.objectives.size() > 2) {
    problems.push_back(UsageError(fmt::format("{} objectives: a sweep has at most two", options.objectives.size()),
                                  "--constraint 'memory <= 58GiB' bounds a further metric"));
  }
  for (const Objective& objective : options.objectives) {
    if (!objective.metric.empty()) continue;
    problems.push_back(UsageError(std::string(objective.maximize ? "--maximize" : "--minimize") + " names no metric",
                                  "--minimize loss"));
  }
  if (!options.objectives.empty()) {
    sweep.objective = options.objectives[0];
    sweep.second_objective.reset();
    if (options.objectives.size() > 1) sweep.second_objective = options.objectives[1];
  }
  for (const std::string& text : options.constraints) {
    auto constraint = ParseConstraint(text);
    if (constraint) {
      sweep.constraints.push_back(*std::move(constraint));
    } else {
      take(Fail(constraint.error()));
    }
  }
  take(ReadMetrics(options, sweep.metrics));
  if (!options.asha.empty() || !options.hyperband.empty() || !options.median.empty()) {
    auto stop = EarlyStopOption(options.asha, options.hyperband, options.median);
    if (stop) {
      sweep.early_stop = *std::move(stop);
    } else {
      problems.insert(problems.end(), stop.error().begin(), stop.error().end());
    }
  }
  if (options.promote && !(sweep.early_stop && sweep.early_stop->has_rungs())) {
    problems.push_back(UsageError("--promote: the sweep has no rungs at which trials could be paused",
                                  "--promote with --asha step:1000..64000/4 or --hyperband step:1000..64000/4"));
  } else if (options.promote) {
    sweep.early_stop->promote = true;
  }
  take(ReadRetries(options, sweep.retry));
  if (options.stop_after_failures == 0U) {
    problems.push_back(UsageError("--stop-after-failures 0: nothing could be started", "--stop-after-failures 5"));
  }
  if (options.stop_after_failures) sweep.stop_after.failures = options.stop_after_failures;
  if (options.stop_after_no_gain) sweep.stop_after.no_gain = true;
  if (options.skip_after_failures) sweep.skip_after.failures = *options.skip_after_failures;
  take(ReadBudget(options, sweep.budget));
  return problems;
}

}  // namespace

Result<EarlyStopChoice> EarlyStopOption(const std::string& asha, const std::string& hyperband,
                                        const std::string& median) {
  using Kind = EarlyStopChoice::Kind;
  if (!asha.empty()) return ReadRungs("--asha", Kind::kAsha, asha);
  return hyperband.empty() ? ReadMedian(median) : ReadRungs("--hyperband", Kind::kHyperband, hyperband);
}

void AddDeviceHoursOption(CLI::App& app, std::optional<double>& hours) {
  app.add_option("--max-device-hours", hours, "start no trial that does not get far within these hours × devices")
      ->type_name("H")
      ->check(CLI::Range(1e-6, 1e12));
}

void AddTryOption(CLI::App& app, std::vector<std::string>& tries) {
  app.add_option("--try", tries, "try this point next, in the space or beyond it: lr=0.1,batch=64")
      ->type_name("NAME=VALUE,…")
      ->allow_extra_args(false);
}

void AddSweepOptions(CLI::App& app, SweepOptions& options, const Invocation& invocation) {
  AddRecipeOptions(app, options.recipe, invocation);
  CLI::Option* file = app.get_option("RECIPE");
  file->description("a Lua file that returns muster.sweep { … }, or a recipe, with --grid or --zip");
  app.add_option("--grid", options.grids,
                 "try these values of a parameter: a=1,2,4; of numbers also 1..8, 0..1:0.25, 1e-5..1e-3:log")
      ->type_name("NAME=VALUES")
      ->allow_extra_args(false);
  app.add_option("--zip", options.zips, "try these values of several parameters together: a=1,2 b=8,4")
      ->type_name("NAME=VALUES …");
  app.add_option("--from", options.from, "results of another sweep, which the sampler knows from the beginning")
      ->type_name("SWEEP");
  app.add_option("--where", options.where, "condition on points: Lua expression over parameters and derived values")
      ->type_name("EXPRESSION")
      ->allow_extra_args(false);
  AddTryOption(app, options.tries);
  std::vector<CLI::Option*> samplers;
  for (std::size_t i = 0; i < std::size(kSamplers); ++i) {
    if (kSamplers[i].option == nullptr) continue;
    auto* sampler = app.add_option(std::string("--") + kSamplers[i].name, options.trials_of[i], kSamplers[i].option);
    sampler->type_name("N");
    for (CLI::Option* other : samplers) sampler->excludes(other);
    samplers.push_back(sampler);
  }
  app.add_option("--seeds", options.seeds, "try each point with N values of the parameter seed, or of another one")
      ->type_name("[NAME=]N");
  app.add_option("--optimizer", options.optimizer, "with --pipe: the program that chooses points, 'python3 my.py'")
      ->type_name("COMMAND");
  app.add_option("--seed", options.seed, "seed of the sampler (default: 0)")->type_name("N");
  app.add_option("--shard", options.shard, "run only this part of the trials: 0/4 to 3/4")->type_name("I/N");
  // Each time that one is given, so that the first one of the line is the first objective.
  const auto objective = [&](const char* name, bool maximize, const char* text) {
    app.add_option_function<std::string>(
           name,
           [&options, maximize](const std::string& metric) {
             options.objectives.push_back({.metric = metric, .maximize = maximize, .place = {}});
           },
           text)
        ->type_name("METRIC")
        ->trigger_on_parse();
  };
  objective("--minimize", false,
            "the best trial has the smallest value of this metric; a second one: a second objective");
  objective("--maximize", true,
            "the best trial has the largest value of this metric; a second one: a second objective");
  app.add_option("--constraint", options.constraints,
                 "the best trial's last value of a metric has to hold: 'memory<=58GiB'")
      ->type_name("METRIC<=BOUND")
      ->allow_extra_args(false);
  auto* asha = app.add_option("--asha", options.asha,
                              "stop trials early by ASHA: keep the best 1/ETA at MIN, MIN·ETA, … of this metric");
  asha->type_name("METRIC:MIN..MAX/ETA");
  auto* hyperband = app.add_option("--hyperband", options.hyperband,
                                   "stop trials early by ASHA in brackets that begin at MIN, MIN·ETA, … MAX");
  hyperband->type_name("METRIC:MIN..MAX/ETA")->excludes(asha);
  app.add_option("--median", options.median, "stop trials early that are worse than the median of finished trials")
      ->type_name("METRIC[:WARMUP]")
      ->excludes(asha)
      ->excludes(hyperband);
  app.add_flag("--promote", options.promote, "pause trials at each rung, and continue the best from their checkpoints");
  app.add_option("--max-time", options.max_time, "start no trial after this time")->type_name("DURATION");
  app.add_option("--max-trials", options.max_trials, "start no more trials than this")->type_name("N");
  AddDeviceHoursOption(app, options.max_device_hours);
  app.add_option("--max-devices", options.max_devices, "use no more devices than this at once")->type_name("N");
  app.add_option("--slots", options.slots, "run no more trials than this at once")->type_name("N");
  app.add_option("--per-device", options.per_device, "run up to N trials at once on a device; implies --share-devices")
      ->type_name("N");
  app.add_option("--retry", options.retry, "maximum retries of a failed trial")->type_name("N");
  app.add_option("--retry-on", options.retry_on, "failure classes to retry: timeout,host_lost")
      ->type_name("CLASSES")
      ->allow_extra_args(false);
  app.add_option("--stop-after-failures", options.stop_after_failures,
                 "start no more trials after N that failed with the same class and reason, with no result among them")
      ->type_name("N");
  app.add_flag("--stop-after-no-gain", options.stop_after_no_gain,
               "start no more trials once no gain above the noise of the results is expected");
  app.add_option("--skip-after-failures", options.skip_after_failures,
                 "skip a value once N trials with it failed alike, and others did not (default: 4; 0: never)")
      ->type_name("N");
  app.add_option("--name", options.name, "name of the sweep (default: that of its file or recipe)")->type_name("NAME");
}

Result<void> CheckNoSpares(const RecipeOptions& options) {
  if (options.spares == 0) return {};
  return Fail(
      UsageError("--spares: the trials of a lost host are retried on the others", "name all hosts, without --spares"));
}

Result<DescribedSweep> DescribeSweep(const SweepOptions& options, Evaluator& evaluator) {
  if (!options.recipe.resume.empty() || !options.recipe.checkpoint.empty()) {
    return Fail(UsageError("--resume and --checkpoint are for one run, not for a sweep",
                           "muster resume SWEEP continues a sweep"));
  }
  if (auto checked = CheckNoSpares(options.recipe); !checked) return Fail(checked.error());
  RecipeOptions recipe = options.recipe;
  recipe.metrics.clear();  // read with the sweep's other options, so that all mistakes are reported at once
  auto evaluation = PrepareEvaluation(recipe);
  if (!evaluation) return Fail(evaluation.error());
  // Named hosts are for all trials together; the recipe and the space determine how many each trial uses.
  std::vector<SiteHost> hosts = std::move(evaluation->site.hosts);
  evaluation->site.hosts.clear();
  auto described = DescribeSweep(options, *std::move(evaluation), evaluator);
  if (described) described->hosts = std::move(hosts);
  return described;
}

namespace {

// A chosen point without a seed is tried with each.
// Returns how many points each of them has become.
std::vector<std::size_t> RepeatChosen(SweepDescription& sweep) {
  std::vector<std::size_t> counts(sweep.seed_points.size(), 1);
  if (!sweep.sampler.seeds) return counts;
  std::vector<Point> points;
  std::vector<Place> places;
  for (std::size_t i = 0; i < sweep.seed_points.size(); ++i) {
    const bool has_seed = sweep.seed_points[i].contains(sweep.sampler.seeds->param);
    for (const Value& seed : sweep.space.parts.back().axis.values) {
      points.push_back(sweep.seed_points[i]);
      places.push_back(sweep.seed_places[i]);
      if (has_seed) break;
      points.back()[sweep.sampler.seeds->param] = seed;
    }
    if (!has_seed) counts[i] = sweep.space.parts.back().axis.values.size();
  }
  sweep.seed_points = std::move(points);
  sweep.seed_places = std::move(places);
  return counts;
}

// The results of another sweep at points of this one.
Result<SamplerChoice::Given> GivenBy(const std::string& word, const SweepDescription& sweep) {
  const auto other = OpenSweep(word);
  if (!other) return Fail(other.error());
  // Seeds are no part of a point here.
  const auto& seeds = sweep.sampler.seeds;
  const auto space = CompiledSpace::Of(seeds ? sweep.space.parts.front() : sweep.space);
  if (!space) return Fail(space.error());
  const auto& objective = other->file.objective;
  if (!sweep.objective || !objective || objective->metric != sweep.objective->metric ||
      objective->maximize != sweep.objective->maximize) {
    const auto text = [](const std::optional<Objective>& one) {
      if (!one) return std::string("no objective");
      return fmt::format("the {} {}", one->maximize ? "largest" : "smallest", one->metric);
    };
    return Fail(UsageError(fmt::format("the results of {}: that sweep looks for {}, and this one for {}", Quoted(word),
                                       text(objective), text(sweep.objective)),
                           "results can be learned from if both look for the same"));
  }
  SamplerChoice::Given given;
  given.sweep = other->file.sweep_id;
  std::size_t outside = 0;
  auto read = other->view.ForEachTrial(SweepView::Order::kNumber, [&](AttemptRow row) {
    if (!row.loss || !std::isfinite(*row.loss)) return true;
    if (seeds) row.point.erase(seeds->param);
    if (!space->Locate(row.point)) {
      ++outside;
      return true;
    }
    given.points.push_back(std::move(row.point));
    given.losses.push_back(*row.loss);
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  if (given.points.empty()) {
    return Fail(UsageError(fmt::format("the results of {}: none of its {} is at a point of this space", Quoted(word),
                                       Counted(outside, "result")),
                           "its parameters must have the same names, and values that this space has, too"));
  }
  return given;
}

// Replaces a choice that is left to muster; the sentence about it.
std::string SettleSampler(SweepDescription& sweep) {
  const auto space = CompiledSpace::Of(sweep.space);
  if (!space) return "";
  // Without a sampler, and without a grid: what is to be found, and with how many trials, is enough.
  const bool no_sampler =
      sweep.sampler.kind == SamplerChoice::Kind::kGrid && sweep.sampler.place == Place{} && !sweep.sampler.trials;
  if (no_sampler && !space->size() && sweep.objective && sweep.budget.trials) {
    sweep.sampler.kind = SamplerChoice::Kind::kAuto;
    sweep.sampler.trials = sweep.budget.trials;
  }
  ChosenSampler chosen = ChooseSampler(*space, sweep.sampler, sweep.objective.has_value(), sweep.budget.slots);
  sweep.sampler = std::move(chosen.choice);
  return std::move(chosen.why);
}

}  // namespace

Result<DescribedSweep> DescribeSweep(const SweepOptions& options, EvaluationOptions evaluation, Evaluator& evaluator) {
  auto words = SpaceOfWords(options);
  if (!words) return Fail(words.error());
  std::vector<Space> chosen;
  for (const std::string& word : options.tries) {
    auto point = ChosenPoint(word);
    if (!point) return Fail(point.error());
    chosen.push_back(*std::move(point));
  }
  DescribedSweep described;
  described.evaluation = std::move(evaluation);
  auto seeds = ReadSeeds(options.seeds);
  if (!seeds) return Fail(seeds.error());
  auto sweep = evaluator.DescribeSweep(described.evaluation, *std::move(words), &described.recipe_name,
                                       std::move(chosen), *std::move(seeds));
  if (!sweep) return Fail(sweep.error());
  described.sweep = *std::move(sweep);
  Diagnostics problems = ApplyOptions(options, described.sweep);
  if (options.given) {
    described.sweep.sampler.given = *options.given;
  } else if (const std::string& from = options.from.empty() ? described.sweep.warm_start : options.from;
             !from.empty()) {
    auto given = GivenBy(from, described.sweep);
    if (!given) return Fail(given.error());
    described.sweep.sampler.given = *std::move(given);
  }
  described.about_sampler = SettleSampler(described.sweep);
  described.chosen = RepeatChosen(described.sweep);
  described.sweep.sampler.kept = options.kept;
  described.sweep.sampler.edited_at = options.edited_at;
  if (const SamplerChoice& sampler = described.sweep.sampler; !sampler.given.points.empty()) {
    described.about_sampler +=
        fmt::format("{}{} knows {} of sweep {}", described.about_sampler.empty() ? "" : "; ", KindOf(sampler).name,
                    Counted(sampler.given.points.size(), "result"), sampler.given.sweep);
  }
  for (std::size_t i = 0; i < described.sweep.seed_points.size(); ++i) {
    Point& point = described.sweep.seed_points[i];
    auto complete = CompletePoint(described.sweep.space, point, described.sweep.seed_places[i]);
    if (complete) {
      point = *std::move(complete);
    } else {
      problems.insert(problems.end(), complete.error().begin(), complete.error().end());
    }
  }
  const Diagnostics more = CheckSweep(described.sweep);
  problems.insert(problems.end(), more.begin(), more.end());
  // Here, before a sweep has a directory.
  const auto add = [&problems](const auto& checked) {
    if (!checked) problems.insert(problems.end(), checked.error().begin(), checked.error().end());
  };
  add(LogPatterns::Of(described.sweep.metrics.patterns, described.sweep.metrics.place));
  add(ClassPatterns::Of(described.sweep.retry.patterns, described.sweep.retry.place));
  if (!problems.empty()) return Fail(std::move(problems));
  described.evaluation.metrics = described.sweep.metrics;  // the trials' runs, and runs of their recipe
  return described;
}

Result<void> CheckChosen(const DescribedSweep& described, std::size_t first, Evaluator& evaluator) {
  const std::vector<Point>& all = described.sweep.seed_points;
  Diagnostics problems;
  while (first < all.size()) {
    const std::vector<Point> points(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
    auto judged = evaluator.Judge(described.evaluation, described.sweep, JudgeRequest::Of(0, points));
    if (!judged) return Fail(judged.error());
    for (RefusedPoints& refused : judged->reasons) {
      refused.problem.message += " (the chosen point " + PointText(refused.example) + ")";
      problems.push_back(std::move(refused.problem));
    }
    if (judged->points == 0) break;
    first += judged->points;
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return {};
}

Diagnostics WarnOfChosen(const SweepDescription& sweep, std::size_t first) {
  Diagnostics warnings;
  std::set<std::string> ids;
  for (std::size_t i = 0; i < sweep.seed_points.size(); ++i) {
    if (ids.insert(PointId(sweep.seed_points[i])).second || i < first) continue;
    warnings.push_back(
        Warning("point", sweep.seed_places[i],
                fmt::format("the chosen point {} is given twice: it is tried once", PointText(sweep.seed_points[i]))));
  }
  const auto space = CompiledSpace::Of(sweep.space);
  // An optimizer hears of these results.
  if (!space || !KindOf(sweep.sampler).learns || KindOf(sweep.sampler).pipes) return warnings;
  for (std::size_t i = first; i < sweep.seed_points.size(); ++i) {
    if (space->Locate(sweep.seed_points[i])) continue;
    warnings.push_back(Warning("point", sweep.seed_places[i],
                               fmt::format("the chosen point {} is not in the space of the sweep: it is tried, and {} "
                                           "learns nothing from its result",
                                           PointText(sweep.seed_points[i]), KindOf(sweep.sampler).name)));
  }
  return warnings;
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLines = 40;  // shown of the changes of a file

// "  - lr = 0.1", "  + lr = 0.2".
std::string ChangesText(const std::string& path, const std::string& before, const std::string& now) {
  std::string text = Printable(path) + " has changed:\n";
  const std::vector<LineChange> changes = DiffLines(before, now);
  for (std::size_t i = 0; i < changes.size() && i < kMaxLines; ++i) {
    text += fmt::format("  {} {:>4}  {}\n", changes[i].added ? '+' : '-', changes[i].line, Printable(changes[i].text));
  }
  if (changes.size() > kMaxLines) text += fmt::format("  … and {} more lines\n", changes.size() - kMaxLines);
  return text;
}

// The original path of a file below recipe/; empty for muster's own.
fs::path OriginalOf(const std::string& path, const EvaluationOptions& options) {
  if (!path.starts_with('@')) return fs::path(options.beside) / path;
  const std::size_t slash = path.find('/');
  const auto library = options.libraries.find(path.substr(1, slash == std::string::npos ? slash : slash - 1));
  if (slash == std::string::npos || library == options.libraries.end()) return {};
  return fs::path(library->second.beside) / path.substr(slash + 1);
}

Result<Value> ReadJson(const std::string& file, std::size_t most) {
  const auto text = ReadSmallFile(file, most);
  if (!text) return Fail(Error("sweep", {}, text.error()));
  auto json = ValueFromJsonText(*text);
  if (!json) return Fail(Error("sweep", {file, 0}, json.error()));
  return *std::move(json);
}

Result<Value> InputsOf(const std::string& sweep_dir) { return ReadJson(kInputsEntry.In(sweep_dir), kInputsEntry.most); }

// How to get as many points as before: more trials of a sampler begin with the same ones.
std::string PointsText(const Value& description) {
  const Value* space = FieldOf(description, "space");
  const Value* drawn = FieldOf(description, "sampler");
  Value::Map sampler = drawn == nullptr || drawn->AsMap() == nullptr ? Value::Map() : *drawn->AsMap();
  sampler.erase("trials");
  return JsonText(Value(Value::List{space == nullptr ? Value() : *space, Value(std::move(sampler))}));
}

std::string HashOfVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : Sha256Hex(value);
}

}  // namespace

Result<std::string> ChangesOfSweep(const std::string& sweep_dir) {
  const auto options = EvaluationOfRun(sweep_dir);
  if (!options) return Fail(options.error());
  const auto sources = SourcesOfRun(sweep_dir);
  if (!sources) return Fail(sources.error());
  std::string changes;
  for (const auto& [path, before] : *sources) {
    const fs::path original = OriginalOf(path, *options);
    std::error_code error;
    if (original.empty() || !fs::is_regular_file(original, error)) continue;
    const auto now = ReadSmallFile(original);
    if (!now || *now == before) continue;
    changes += ChangesText(original, before, *now);
  }
  const auto inputs = InputsOf(sweep_dir);
  if (!inputs) return Fail(inputs.error());
  const Value* list = FieldOf(*inputs, "inputs");
  if (list == nullptr || list->AsList() == nullptr) return changes;
  for (const Value& input : *list->AsList()) {
    if (TextField(input, "kind") != "variable") continue;
    const std::string name = TextField(input, "name");
    if (HashOfVariable(name) == TextField(input, "sha256")) continue;
    changes += fmt::format("the variable {} has another value\n", Printable(name));
  }
  return changes;
}

Result<std::string> RecipeHashOf(const std::string& sweep_dir) {
  constexpr std::size_t kDigits = 16;
  const auto inputs = ReadSmallFile(kInputsEntry.In(sweep_dir), kInputsEntry.most);
  if (!inputs) return Fail(Error("sweep", {}, inputs.error()));
  const auto sources = SourcesOfRun(sweep_dir);
  if (!sources) return Fail(sources.error());
  Sha256 hash;
  hash.Add(*inputs);
  for (const auto& [path, bytes] : *sources) hash.Add('\0' + path + '\0' + Sha256Hex(bytes));
  return hash.Hex().substr(0, kDigits);
}

Result<void> KeepKnown(const std::string& sweep_dir, SweepOptions& options) {
  auto description = ReadSweepDescription(sweep_dir);
  if (!description) return Fail(description.error());
  options.given = std::move(description->sampler.given);
  options.kept = std::move(description->sampler.kept);
  options.edited_at = description->sampler.edited_at;
  return {};
}

Result<void> KeepDraws(const std::string& sweep_dir, SweepDescription& sweep) {
  const auto file = ReadJson(sweep_dir + "/" + kSweepDirectories.marker, kInputsEntry.most);
  if (!file) return Fail(file.error());
  const Value* description = FieldOf(*file, "description");
  if (description == nullptr || FieldOf(*description, "branches") != nullptr) return {};
  sweep.sampler.weighted = false;
  ForgetEvenWeights(sweep.space);
  return {};
}

Result<void> CheckSameSweep(const std::string& sweep_dir, const SweepDescription& sweep) {
  const auto file = ReadJson(sweep_dir + "/" + kSweepDirectories.marker, kInputsEntry.most);
  if (!file) return Fail(file.error());
  const Value now = SweepDescriptionValue(sweep);
  const Value* before = FieldOf(*file, "description");
  if (before != nullptr && PointsText(*before) == PointsText(now)) {
    for (const char* name : {"objective", "second_objective", "constraints", "early_stop"}) {
      const Value* const then = FieldOf(*before, name);
      const Value* const said = FieldOf(now, name);
      if ((then == nullptr ? Value() : *then) == (said == nullptr ? Value() : *said)) continue;
      return Fail(Error("rules_changed", {},
                        fmt::format("{} {} than when the sweep began", name,
                                    name == std::string_view("constraints") ? "are others" : "is another one"),
                        "finished trials were compared by it; restore it, or start another sweep"));
    }
    return {};
  }
  return Fail(Error("points_changed", {}, "the space or the sampler differs from when the sweep began",
                    "its trials are numbers of points: restore the recipe as it was (its copy is in " +
                        Quoted(kRecipeEntry.In(sweep_dir)) + "), or start another sweep with muster sweep"));
}

}  // namespace muster
