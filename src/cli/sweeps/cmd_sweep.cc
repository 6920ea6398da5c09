// muster sweep: runs one recipe for the points of a search space. --preview, before it starts: the number of points,
// which of them are possible and why others are not, rungs, cost and slots.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/system/clock.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/lookup/current_site.h"
#include "cli/sweeps/run_sweep.h"
#include "cli/sweeps/submit_sweep.h"
#include "cli/sweeps/sweep_options.h"
#include "space/space.h"
#include "sweep/record/sweep_events.h"
#include "sweep/scheduler/stop_rules.h"

namespace muster {
namespace {

// The preview of a sweep before it starts: the number of points, which of them are possible and why others are not,
// rungs, cost and slots.

struct SweepPreview {
  std::uint64_t layouts = 0;  // discrete points of the space
  bool continuous = false;    // there are continuous axes besides
  std::uint64_t trials = 0;   // of the sampler
  // What was judged: layouts; or trials if a check read a continuous axis, or if not all layouts are
  // used.
  bool of_layouts = false;
  std::string why_trials;  // the reason for judging trials, in words, if layouts might be expected
  bool sampled = false;    // a sample was judged, not the whole space
  Judgement judged;        // `points` of `total`
  // The number of possible trials: exact, or estimated if only layouts or a sample were judged.
  std::uint64_t possible_trials = 0;
  bool estimated = false;
};

constexpr std::uint64_t kMaxWhole = 2'000'000;  // larger spaces are sampled
constexpr std::uint64_t kSample = 100'000;      // points drawn from a larger space
// If so many plans were made, every point probably needs its own plan, and the space is sampled. Plans take about 1 ms
// each, and so many draws tell the share of possible points to about 1 %.
constexpr std::uint64_t kMaxPlans = 5'000;

// Judges the requested points from the beginning on, batch by batch.
class Judging {
 public:
  Judging(const DescribedSweep& described, Evaluator& evaluator)
      : described_(described), evaluator_(evaluator), line_("judging points"), began_(MonotonicNowNs()) {}

  // Ends before all `most` are judged when `enough` returns true; it is called between batches.
  template <class Enough>
  Result<Judgement> Judge(const SweepDescription& sweep, JudgeRequest::What what, std::uint64_t most, Enough enough) {
    Judgement all;
    do {
      auto batch = evaluator_.Judge(described_.evaluation, sweep, {what, all.points, most - all.points, false});
      if (!batch) {
        line_.Clear();
        return batch;
      }
      if (batch->points == 0) {
        all.total = batch->total;
        break;
      }
      Merge(*std::move(batch), all);
      Show(all, std::min(most, all.total));
    } while (all.points < std::min(most, all.total) && !enough(all));
    return all;
  }

 private:
  void Merge(Judgement batch, Judgement& all) {
    all.total = batch.total;
    all.points += batch.points;
    all.possible += batch.possible;
    all.planned += batch.planned;
    all.read = std::move(batch.read);
    for (RefusedPoints& refused : batch.reasons) {
      const auto same = std::find_if(all.reasons.begin(), all.reasons.end(), [&](const RefusedPoints& known) {
        return known.problem.kind == refused.problem.kind && known.problem.place == refused.problem.place &&
               (!known.problem.place.file.empty() || known.problem.message == refused.problem.message);
      });
      if (same == all.reasons.end()) {
        all.reasons.push_back(std::move(refused));
      } else {
        same->points += refused.points;
      }
    }
    for (PossiblePoints& possible : batch.footprints) {
      const auto same = std::find_if(all.footprints.begin(), all.footprints.end(), [&](const PossiblePoints& known) {
        return known.hosts == possible.hosts && known.devices == possible.devices;
      });
      if (same == all.footprints.end()) {
        all.footprints.push_back(std::move(possible));
      } else {
        same->points += possible.points;
      }
    }
  }
  void Show(const Judgement& all, std::uint64_t most) {
    const auto seconds = static_cast<unsigned>((MonotonicNowNs() - began_) / 1'000'000'000);
    if (seconds > 0) line_.Show(seconds, fmt::format("{} of {}", all.points, most));
  }

  const DescribedSweep& described_;
  Evaluator& evaluator_;
  WaitLine line_;
  std::uint64_t began_;
};

// The first continuous axis that a judgement depended on, if any.
const Axis* ContinuousRead(const CompiledSpace& space, const Judgement& judgement) {
  for (const Axis& axis : space.continuous()) {
    if (std::binary_search(judgement.read.begin(), judgement.read.end(), axis.name)) return &axis;
  }
  return nullptr;
}

// Judges the points; shows progress on a terminal after the first second.
Result<SweepPreview> PreviewSweep(const DescribedSweep& described, Evaluator& evaluator) {
  SweepDescription sweep = described.sweep;
  if (sweep.sampler.seeds) {  // the points, whatever the seeds
    sweep.space = Space(sweep.space.parts.front());
    sweep.sampler.seeds.reset();
  }
  const auto space = CompiledSpace::Of(sweep.space);
  if (!space) return Fail(space.error());
  const auto sampler = Sampler::Of(*space, sweep.sampler);
  if (!sampler) return Fail(sampler.error());
  SweepPreview preview;
  preview.layouts = space->discrete_size();
  preview.continuous = !space->continuous().empty();
  preview.trials = (*sampler)->size();
  const bool grid = !KindOf(sweep.sampler).draws;
  const bool whole_grid = grid && preview.trials == preview.layouts;
  Judging judging(described, evaluator);
  const auto too_many_plans = [](const Judgement& all) { return all.planned > kMaxPlans; };

  if (preview.layouts > kMaxWhole) {
    preview.why_trials = "there are too many layouts to look at all of them";
  } else {
    auto layouts = judging.Judge(sweep, JudgeRequest::What::kLayouts, preview.layouts, [&](const Judgement& all) {
      return too_many_plans(all) || ContinuousRead(*space, all) != nullptr;
    });
    if (!layouts) return Fail(layouts.error());
    if (const Axis* axis = ContinuousRead(*space, *layouts)) {
      preview.why_trials = "what is possible depends on " + axis->name + ", which has no values to count";
    } else if (layouts->points < layouts->total) {
      preview.why_trials = "the recipe reads so many values that almost every point needs a separate plan";
    } else {
      preview.of_layouts = true;
      preview.judged = *std::move(layouts);
    }
  }
  if (preview.of_layouts && whole_grid) {
    preview.possible_trials = preview.judged.possible;
    return preview;
  }
  const auto share_of = [&](const Judgement& judged) {
    if (judged.points == 0) return std::uint64_t{0};
    const double share = static_cast<double>(judged.possible) / static_cast<double>(judged.points);
    return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(preview.trials)));
  };
  if (preview.of_layouts && preview.trials > kMaxWhole) {
    preview.possible_trials = share_of(preview.judged);
    preview.estimated = true;
    return preview;
  }
  // Draws are in random order, so the first ones are a sample. The points of a grid are not: draws replace them.
  SweepDescription drawn = sweep;
  const bool all_needed = preview.trials <= kMaxWhole && preview.why_trials.find("almost every") == std::string::npos;
  if (!all_needed && grid) {
    drawn.sampler.kind = SamplerChoice::Kind::kRandom;
    drawn.sampler.weighted = false;  // of the points of a grid, each counts once
    drawn.sampler.trials = kSample;
  }
  const bool learns = KindOf(sweep.sampler).learns;
  if (learns) drawn.sampler.kind = SamplerChoice::Kind::kRandom;  // its points are known when there are results
  const std::uint64_t most = all_needed ? preview.trials : std::min(kSample, preview.trials);
  auto trials = judging.Judge(drawn, JudgeRequest::What::kTrials, most, too_many_plans);
  if (!trials) return Fail(trials.error());
  const bool all = trials->points == preview.trials && !(!all_needed && grid) && !learns;
  preview.possible_trials = all ? trials->possible : share_of(*trials);
  // Each point is tried once, even if it is drawn several times.
  if (preview.of_layouts && !preview.continuous) {
    preview.possible_trials = std::min(preview.possible_trials, preview.judged.possible);
  }
  preview.estimated = !all;
  if (!preview.of_layouts) {
    preview.sampled = !all;
    preview.judged = *std::move(trials);
  }
  return preview;
}

// 832,000
std::string Grouped(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string Line(std::string_view label, const std::string& text) { return fmt::format("{:<10}{}\n", label, text); }

std::string SamplerText(const SamplerChoice& sampler, std::uint64_t trials) {
  std::string text = KindOf(sampler).name;
  if (KindOf(sampler).pipes) text += " to " + Printable(ShellQuoted(sampler.command));
  if (KindOf(sampler).scrambles && sampler.scramble) text += ", scrambled";
  if (KindOf(sampler).draws) text += fmt::format(", seed {}", sampler.seed);
  if (sampler.shards > 1) text += fmt::format(", part {} of {}", sampler.shard, sampler.shards);
  return text + ", " + Counted(trials, "trial");
}

std::string ReasonPlaceText(const Place& place) {
  if (place.file.empty()) return "";
  return Printable(place.file) + (place.line > 0 ? ":" + std::to_string(place.line) : "");
}

std::string RejectedLines(const std::vector<RefusedPoints>& reasons) {
  std::vector<const RefusedPoints*> sorted;
  for (const RefusedPoints& reason : reasons) sorted.push_back(&reason);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->points > b->points; });
  std::size_t digits = 0;
  std::size_t columns = 0;
  for (const RefusedPoints* reason : sorted) {
    digits = std::max(digits, std::to_string(reason->points).size());
    columns = std::max(columns, Columns(Printable(reason->problem.message)));
  }
  std::string lines;
  for (const RefusedPoints* reason : sorted) {
    std::string message = Printable(reason->problem.message);
    const std::string place = ReasonPlaceText(reason->problem.place);
    if (!place.empty()) message += std::string(columns - Columns(message) + 2, ' ') + place;
    lines += Line("", fmt::format("{:>{}} rejected  {}", reason->points, digits, message));
  }
  return lines;
}

struct Rungs {
  std::vector<double> resources;
  std::vector<std::uint64_t> trials;
  std::vector<HyperbandBracket> brackets;
  double cost = 0;   // resource over all trials
  double share = 0;  // of the cost of running all trials to the end
};

std::optional<Rungs> RungsOf(const SweepDescription& sweep, std::uint64_t trials) {
  if (!sweep.early_stop || !sweep.early_stop->has_rungs()) return std::nullopt;
  const EarlyStopChoice& stop = *sweep.early_stop;
  Rungs rungs;
  // How many trials are expected at each rung from `first` on, of those that begin there; and what they cost.
  const auto add = [&](std::size_t first, double left) {
    double reached = 0;
    for (std::size_t rung = first; rung < rungs.resources.size(); ++rung, left /= stop.eta) {
      const double at = trials == 0 ? 0 : std::max(1.0, std::floor(left + 1e-9));
      rungs.trials[rung] += static_cast<std::uint64_t>(at);
      rungs.cost += at * (rungs.resources[rung] - reached);
      reached = rungs.resources[rung];
    }
  };
  const double all = static_cast<double>(trials);
  if (stop.kind == EarlyStopChoice::Kind::kHyperband) {
    rungs.brackets = HyperbandBrackets(stop.min, stop.max, stop.eta);
    rungs.resources = rungs.brackets.front().resources;
    rungs.trials.resize(rungs.resources.size());
    double of = 0;
    for (const HyperbandBracket& bracket : rungs.brackets) of += static_cast<double>(bracket.trials.front());
    for (std::size_t first = 0; first < rungs.brackets.size(); ++first) {
      add(first, all * static_cast<double>(rungs.brackets[first].trials.front()) / of);
    }
  } else {
    rungs.resources = Asha(stop.min, stop.max, stop.eta, stop.min_results).rungs();
    rungs.trials.resize(rungs.resources.size());
    add(0, all);
  }
  // Trials that are not stopped at the last rung continue to the end.
  if (!rungs.trials.empty()) {
    rungs.cost += static_cast<double>(rungs.trials.back()) * (stop.max - rungs.resources.back());
  }
  rungs.share = trials == 0 ? 0 : rungs.cost / (all * stop.max);
  return rungs;
}

// "81 from 1, 34 from 3, 15 from 9, 8 from 27, 5 from 81, of 143 trials"
std::string BracketsText(const std::vector<HyperbandBracket>& brackets) {
  std::string text;
  std::uint64_t all = 0;
  for (const HyperbandBracket& bracket : brackets) {
    text += fmt::format("{} from {}, ", bracket.trials.front(), NumberText(bracket.resources.front()));
    all += bracket.trials.front();
  }
  return fmt::format("{}of {} trials", text, all);
}

// The devices that all trials may use together: the budget's, else those of the named hosts.
std::optional<std::uint64_t> AllDevices(const DescribedSweep& described) {
  if (described.sweep.budget.devices) return *described.sweep.budget.devices;
  std::uint64_t devices = 0;
  for (const SiteHost& host : described.hosts) {
    if (!host.devices) return std::nullopt;
    devices += *host.devices;
  }
  return devices > 0 ? std::optional(devices) : std::nullopt;
}

std::string SlotsText(const DescribedSweep& described, const SweepPreview& preview) {
  std::set<std::uint64_t> sizes;
  for (const PossiblePoints& possible : preview.judged.footprints) sizes.insert(possible.devices);
  if (sizes.empty()) return "";
  if (*sizes.rbegin() == 0) {
    const auto slots = described.sweep.budget.slots;
    return "trials take no devices" + (slots ? fmt::format("; at most {} at once", *slots) : std::string());
  }
  std::string text;
  if (sizes.size() <= 4) {
    std::size_t nth = 0;
    for (const std::uint64_t size : sizes) {
      text += (nth == 0 ? "" : nth + 1 == sizes.size() ? " or " : ", ") + std::to_string(size);
      ++nth;
    }
  } else {
    text = fmt::format("{} to {}", *sizes.begin(), *sizes.rbegin());
  }
  text += *sizes.rbegin() == 1 ? " device a trial" : " devices a trial";
  if (const auto all = AllDevices(described); all && *sizes.begin() > 0) {
    const std::uint64_t per_device = described.sweep.budget.per_device.value_or(1);
    const std::uint64_t least = *all / *sizes.rbegin() * per_device;
    const std::uint64_t most = *all / *sizes.begin() * per_device;
    if (least == 0) {
      text += fmt::format("; {} are too few for {} of them", Counted(*all, "device"), most == 0 ? "all" : "some");
    } else if (least == most) {
      text += fmt::format("; {} hold {} at once", Counted(*all, "device"), Counted(least, "trial"));
    } else {
      text += fmt::format("; {} hold {} to {} trials at once", Counted(*all, "device"), least, most);
    }
  }
  if (described.sweep.budget.slots) text += fmt::format("; at most {} at once", *described.sweep.budget.slots);
  return text;
}

std::string BudgetText(const BudgetChoice& budget) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (budget.time_ms) add("no trial is started after " + DurationText(static_cast<double>(*budget.time_ms) / 1000));
  if (budget.device_hours) add(fmt::format("{:.6g} device hours", *budget.device_hours));
  if (budget.trials) add("at most " + Counted(*budget.trials, "trial"));
  return text;
}

std::string SweepPreviewText(const DescribedSweep& described, const SweepPreview& preview) {
  const SweepDescription& sweep = described.sweep;
  const auto space = CompiledSpace::Of(sweep.space);
  std::string points = Counted(preview.layouts, preview.continuous ? "layout" : "point");
  if (space) {
    for (const Axis& axis : space->continuous()) points += " × " + axis.name + " in " + AxisText(axis);
  }
  std::string text = Line("sweep", Printable(sweep.name) + " of " + Printable(described.recipe_name));
  text += Line("space", Printable(points));
  text += Line("sampler", SamplerText(sweep.sampler, preview.trials));
  if (!described.about_sampler.empty()) text += Line("", described.about_sampler);
  if (const auto& seeds = sweep.sampler.seeds) {
    text += Line("seeds", fmt::format("{} values of {} for each point, ranked by the {}{}", seeds->count,
                                      Printable(seeds->param), seeds->median ? "median" : "mean",
                                      seeds->race ? "; fewer for points that are clearly worse" : ""));
  }
  if (const auto seeds = sweep.seed_points.size()) text += Line("first", Counted(seeds, "chosen point"));
  const Judgement& judged = preview.judged;
  const std::string thing = !preview.of_layouts ? "trial" : preview.continuous ? "layout" : "point";
  std::string possible = fmt::format("{} of {}{}", judged.possible, Counted(judged.points, thing),
                                     preview.sampled ? fmt::format(" that were drawn of {}", preview.trials) : "");
  if (preview.of_layouts && preview.trials != preview.layouts) {
    possible += fmt::format(", {}{} of {}", preview.estimated ? "about " : "", preview.possible_trials,
                            Counted(preview.trials, "trial"));
  }
  text += Line("possible", possible);
  text += RejectedLines(judged.reasons);
  if (!preview.why_trials.empty()) {
    text += Line(
        "", fmt::format("trials were judged{}: {}", preview.continuous ? " and no layouts" : "", preview.why_trials));
  }
  if (sweep.objective) {
    const auto wanted = [](const Objective& objective) {
      return (objective.maximize ? "the largest " : "the smallest ") + Printable(objective.metric);
    };
    text += Line("objective",
                 wanted(*sweep.objective) + (sweep.second_objective ? ", and " + wanted(*sweep.second_objective) : ""));
  }
  for (std::size_t i = 0; i < sweep.constraints.size(); ++i) {
    text += Line(i == 0 ? "require" : "", Printable(sweep.constraints[i].text));
  }
  if (const auto rungs = RungsOf(sweep, preview.possible_trials)) {
    std::string resources;
    std::string trials;
    for (std::size_t i = 0; i < rungs->resources.size(); ++i) {
      resources += (i == 0 ? "" : "  ") + NumberText(rungs->resources[i]);
      trials += (i == 0 ? "" : "  ") + std::to_string(rungs->trials[i]);
    }
    const std::string resource = Printable(sweep.early_stop->resource);
    text += Line("rungs", fmt::format("at {} {}: expected trials {}", resource, resources, trials));
    if (!rungs->brackets.empty()) text += Line("brackets", BracketsText(rungs->brackets));
    text += Line("cost", fmt::format("{} {} in all, {:.1f} % of running all {} trials to the end", resource,
                                     Grouped(rungs->cost), 100 * rungs->share, preview.possible_trials));
  }
  if (const std::string slots = SlotsText(described, preview); !slots.empty()) text += Line("slots", slots);
  if (const auto failures = sweep.stop_after.failures) {
    text += Line("end after", Counted(*failures, "trial") + " that failed alike");
  }
  if (sweep.stop_after.no_gain) text += Line("end after", "no gain above the noise is expected");
  if (const std::string budget = BudgetText(sweep.budget); !budget.empty()) text += Line("budget", budget);
  return text;
}

std::string SweepPreviewJson(const DescribedSweep& described, const SweepPreview& preview) {
  using Json = nlohmann::ordered_json;
  const Judgement& judged = preview.judged;
  Json reasons = Json::array();
  for (const RefusedPoints& refused : judged.reasons) {
    reasons.push_back({{"points", refused.points},
                       {"problem", DiagnosticsAsJson({refused.problem}).front()},
                       {"example", ToJson(Value(refused.example))}});
  }
  Json footprints = Json::array();
  for (const PossiblePoints& possible : judged.footprints) {
    footprints.push_back({{"hosts", possible.hosts}, {"devices", possible.devices}, {"points", possible.points}});
  }
  Json json = {{"format", 1},
               {"recipe", described.recipe_name},
               {"sweep", ToJson(SweepDescriptionValue(described.sweep))},
               {"layouts", preview.layouts},
               {"trials", preview.trials},
               {"possible_trials", preview.possible_trials},
               {"estimated", preview.estimated},
               {"judged",
                {{"what", preview.of_layouts ? "layouts" : "trials"},
                 {"points", judged.points},
                 {"possible", judged.possible},
                 {"planned", judged.planned},
                 {"sampled", preview.sampled},
                 {"read", judged.read},
                 {"reasons", std::move(reasons)},
                 {"footprints", std::move(footprints)}}}};
  if (const auto rungs = RungsOf(described.sweep, preview.possible_trials)) {
    Json list = Json::array();
    for (std::size_t i = 0; i < rungs->resources.size(); ++i) {
      list.push_back({{"resource", rungs->resources[i]}, {"expected_trials", rungs->trials[i]}});
    }
    json["rungs"] = std::move(list);
    json["cost"] = {{"resource", rungs->cost}, {"share", rungs->share}};
  }
  return SerializedJson(json, 1) + "\n";
}

}  // namespace

// muster sweep: runs one recipe for the points of a search space.

namespace {

struct SweepCommandLine {
  SweepOptions sweep;
  StartOptions start;
  bool preview = false;
  bool json = false;
};

int SweepRecipe(const SweepCommandLine& options) {
  auto evaluator = std::make_unique<Evaluator>();
  std::optional<RequestedSweep> requested;
  if (auto outside = CheckEachTrialIsOutside(options.sweep.recipe.engine); !outside) {
    return Refuse(outside.error(), options.json);
  }
  const auto asks = AsksForAllocation(options.sweep.recipe.engine);
  if (!asks) return Refuse(asks.error(), options.json);
  if (*asks) {
    auto made = RequestHostsFor(options.sweep);
    if (!made) return Refuse(made.error(), options.json);
    requested = *std::move(made);
  }
  const SweepOptions& sweep = requested ? requested->options : options.sweep;
  auto described = DescribeSweep(sweep, *evaluator);
  if (!described) return Refuse(described.error(), options.json);
  if (requested) PlanForAllocations(*requested, described->evaluation);
  if (auto possible = CheckChosen(*described, 0, *evaluator); !possible) return Refuse(possible.error(), options.json);
  PrintDiagnostics(WarnOfConditions(described->sweep.space));
  PrintDiagnostics(WarnOfChosen(described->sweep, 0));
  if (!options.preview) {
    return StartSweep(
        {options.sweep, *std::move(described), std::move(evaluator), options.start, std::move(requested)});
  }
  const auto preview = PreviewSweep(*described, *evaluator);
  if (!preview) return Refuse(preview.error(), options.json);
  std::fputs(
      PrintableLines(options.json ? SweepPreviewJson(*described, *preview) : SweepPreviewText(*described, *preview))
          .c_str(),
      stdout);
  return kExitOk;
}

void AddOptions(CLI::App& app, SweepCommandLine& options, const Invocation& invocation) {
  options.start.words = invocation.words;
  AddSweepOptions(app, options.sweep, invocation);
  AddEngineSettings(app, options.sweep.recipe.engine);
  AddSweepStartOptions(app, options.start);
  auto* preview =
      app.add_flag("--preview", options.preview,
                   "print the points of the sweep, impossible ones with reasons, and its cost; run nothing");
  app.add_flag("--json", options.json, "print JSON for programs")->needs(preview);
  app.add_option("--tag", options.start.tags, "a word, or NAME=VALUE, by which muster ls --sweeps shows the sweep")
      ->type_name("TAG")
      ->allow_extra_args(false);
  app.add_flag("--detach,-d", options.start.detach,
               "return once a trial has begun; the sweep continues in the background")
      ->excludes(preview);
}

}  // namespace

std::function<int()> SetupSweep(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<SweepCommandLine>();
  AddOptions(app, *options, invocation);
  return [options] { return SweepRecipe(*options); };
}

Result<SweepArguments> ParseSweepArguments(std::vector<std::string> words) {
  Invocation invocation;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    invocation.words_after_dashes.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  CLI::App app;
  SweepCommandLine options;
  AddOptions(app, options, invocation);
  std::string site;
  const CLI::Option* given = app.add_option("--site", site);
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // CLI11 takes words in reverse order
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return Fail(Error("sweep", {}, std::string("the sweep's own call cannot be read: ") + error.what()));
  }
  if (given->count() > 0) ChooseSite(site);
  return SweepArguments{options.sweep, options.start.agent, options.start.notify};
}

}  // namespace muster
