// muster simulate: lives of a recipe's job against failures, for intervals between checkpoints, numbers of spares and
// restart policies, with the decisions of a run.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/small_file.h"
#include "cli/lookup/current_site.h"
#include "cli/options/recipe_options.h"
#include "cli/plan/failure_trace.h"
#include "run/journal/journal.h"
#include "run/simulate/job_simulation.h"

namespace muster {
namespace {

struct SimulateOptions {
  RecipeOptions recipe;
  std::string failures;  // a trace
  std::string between;   // mean time between failures of a host
  double shape = 1;
  std::string down = "1h";
  std::string time = "30d";
  std::vector<std::string> intervals = {"30m"};
  std::string save = "1m";
  std::string start = "5m";
  std::string queue = "0s";
  std::vector<std::uint32_t> spare_hosts = {0};
  std::vector<std::string> policies = {"recipe"};
  std::uint32_t lives = 20;
  std::uint64_t seed = 1;
  std::string rules;
};

constexpr std::uintmax_t kMaxTrace = 64U << 20;
constexpr std::size_t kMaxFailures = 5'000'000;
constexpr std::uint32_t kMaxLives = 10'000;
constexpr std::size_t kMaxRows = 10'000;
constexpr int kBarWidth = 40;

Diagnostics WrongUse(const std::string& message, const std::string& hint = {}) {
  return {Error("usage", {}, message, hint)};
}

Result<double> DurationOf(const std::string& option, const std::string& text, bool zero = false) {
  const std::optional<double> seconds = ParseDuration(text);
  if (zero && text == "0") return 0;
  if (seconds && std::isfinite(*seconds) && (*seconds > 0 || zero)) return *seconds;
  return Fail(WrongUse(fmt::format("{} {}: this is no duration", option, Quoted(text)), DurationHint(text, "30m")));
}

}  // namespace

Result<std::vector<SimulatedFailure>> ReadFailureTrace(const std::string& file, double down_s) {
  const auto text = ReadSmallFile(file, kMaxTrace);
  if (!text) return Fail(Error("file", {}, text.error()));
  std::vector<SimulatedFailure> failures;
  std::uint32_t number = 0;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    std::string line = text->substr(begin, std::min(end, text->find('#', begin)) - begin);
    begin = end + 1;
    ++number;
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == ',' || c == '\t' || c == '\r'; }, ' ');
    if (Trimmed(line).empty()) continue;
    SimulatedFailure failure;
    failure.down = down_s;
    int used = 0;
    const int fields = std::sscanf(line.c_str(), "%lf %u %lf %n", &failure.at, &failure.machine, &failure.down, &used);
    const bool sane = std::isfinite(failure.at) && failure.at >= 0 && std::isfinite(failure.down) && failure.down >= 0;
    if (fields < 2 || !sane || (fields == 3 && static_cast<std::size_t>(used) < line.size())) {
      return Fail(Error("trace", {file, number}, fmt::format("{} is no failure", Quoted(std::string(Trimmed(line)))),
                        "seconds, the number of a host, and optionally the seconds that it was down: 86400 17 3600"));
    }
    failures.push_back(failure);
    if (failures.size() > kMaxFailures)
      return Fail(Error("trace", {file, number}, fmt::format("there are more than {} failures", kMaxFailures)));
  }
  std::stable_sort(failures.begin(), failures.end(),
                   [](const SimulatedFailure& a, const SimulatedFailure& b) { return a.at < b.at; });
  return failures;
}

namespace {

// "recipe", "none", "verdict" or a number of restarts.
Result<Plan> WithPolicy(Plan plan, const std::string& policy) {
  if (policy == "recipe") return plan;
  RestartPolicy set;
  set.scope = RestartPolicy::Scope::kJob;
  if (policy == "verdict") {
    set.max = 1'000'000;
    set.verdict = true;
  } else if (const bool digits = !policy.empty() && policy.size() <= 6 &&
                                 std::all_of(policy.begin(), policy.end(), [](char c) { return IsDigit(c); });
             digits) {
    set.max = static_cast<std::uint32_t>(std::stoul(policy));
  } else if (policy != "none") {
    return Fail(WrongUse(fmt::format("--policy {}: this is no restart policy", Quoted(policy)),
                         "recipe, none, verdict or a number of restarts"));
  }
  for (Role& role : plan.roles) role.restart = set;
  return plan;
}

struct Setting {
  double interval_s = 0;
  std::uint32_t spares = 0;
  std::string policy;
};

struct Quartiles {
  double low = 0;
  double middle = 0;
  double high = 0;
};

Quartiles QuartilesOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double part) {
    const double place = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double above = values[std::min(below + 1, values.size() - 1)];
    return values[below] + (place - static_cast<double>(below)) * (above - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

struct SimulatedOutcome {
  Setting setting;
  std::array<Quartiles, kSimulatedRowNames.size()> shares;
  Quartiles failures;
  Quartiles runs;
};

std::string PercentText(double share) { return fmt::format("{:.1f}", 100 * share); }

// A row for each setting: medians, and the quartiles of what is kept.
std::string TableText(const std::vector<SimulatedOutcome>& outcomes) {
  std::string text =
      fmt::format("{:>10} {:>6} {:>8} {:>6} {:>13} {:>6} {:>6} {:>6} {:>8} {:>8} {:>5}\n", "checkpoint", "spares",
                  "policy", "kept %", "quartiles", "lost", "saves", "start", "waiting", "failures", "runs");
  for (const SimulatedOutcome& each : outcomes) {
    const auto share = [&](SimulatedRow row) { return each.shares[static_cast<std::size_t>(row)]; };
    const Quartiles kept = share(SimulatedRow::kKept);
    text += fmt::format(
        "{:>10} {:>6} {:>8} {:>6} {:>13} {:>6} {:>6} {:>6} {:>8} {:>8.0f} {:>5.0f}\n",
        DurationText(each.setting.interval_s), each.setting.spares, each.setting.policy, PercentText(kept.middle),
        PercentText(kept.low) + " - " + PercentText(kept.high), PercentText(share(SimulatedRow::kLost).middle),
        PercentText(share(SimulatedRow::kCheckpoint).middle), PercentText(share(SimulatedRow::kStart).middle),
        PercentText(share(SimulatedRow::kWaiting).middle), each.failures.middle, each.runs.middle);
  }
  return text;
}

// What is kept of each setting, on one scale.
std::string PlotText(const std::vector<SimulatedOutcome>& outcomes) {
  double least = 1;
  for (const SimulatedOutcome& each : outcomes) least = std::min(least, each.shares[0].low);
  least = std::floor(least * 20) / 20;  // in steps of 5 %
  const auto cells = [&](double share) {
    return static_cast<int>(std::lround((share - least) / (1 - least) * kBarWidth));
  };
  std::string text = fmt::format("kept, from {} % to 100 %; [ ] are quartiles, | the median\n", PercentText(least));
  for (const SimulatedOutcome& each : outcomes) {
    const Quartiles& kept = each.shares[0];
    std::string bar(kBarWidth + 1, ' ');
    for (int cell = 0; cell < cells(kept.middle); ++cell) bar[static_cast<std::size_t>(cell)] = '=';
    bar[static_cast<std::size_t>(cells(kept.low))] = '[';
    bar[static_cast<std::size_t>(cells(kept.high))] = ']';
    bar[static_cast<std::size_t>(cells(kept.middle))] = '|';
    text += fmt::format("{:>10} {:>6} {:>8} {}\n", DurationText(each.setting.interval_s), each.setting.spares,
                        each.setting.policy, std::string(Trimmed(" " + bar)));
  }
  return text;
}

class Simulating {
 public:
  explicit Simulating(const SimulateOptions& options) : options_(options) {}

  Result<int> Run() {
    if (Result<void> read = ReadOptions(); !read) return Fail(read.error());
    const Result<Evaluation> evaluation = EvaluateFrom(options_.recipe);
    if (!evaluation) return Fail(evaluation.error());
    PrintDiagnostics(evaluation->warnings);
    const Plan& plan = evaluation->plan;
    if (plan.hosts.empty() || plan.processes.empty())
      return Fail(WrongUse(fmt::format("{} has no processes to simulate", Quoted(plan.name))));
    std::vector<SimulatedOutcome> outcomes;
    for (const std::string& policy : options_.policies) {
      const Result<Plan> with = WithPolicy(plan, policy);
      if (!with) return Fail(with.error());
      for (const std::uint32_t spares : options_.spare_hosts) {
        const auto machines = static_cast<std::uint32_t>(plan.hosts.size() + spares);
        if (Result<void> drawn = Draw(machines); !drawn) return Fail(drawn.error());
        for (const double interval : intervals_) outcomes.push_back(Simulate(*with, {interval, spares, policy}));
      }
    }
    const auto hosts = static_cast<double>(plan.hosts.size());
    const std::string source =
        rate_ ? fmt::format("a host fails every {}, the job every {}; medians of {}", DurationText(rate_->mean_s),
                            DurationText(rate_->mean_s / hosts), Counted(options_.lives, "life", "lives"))
              : "failures of " + options_.failures;
    std::string text =
        fmt::format("{} on {} for {}; {}\n\n{}\n{}", Printable(plan.name), Counted(plan.hosts.size(), "host"),
                    DurationText(terms_.horizon_s), Printable(source), TableText(outcomes), PlotText(outcomes));
    if (rate_ && terms_.save_s > 0) {
      text += fmt::format("\nYoung and Daly: a checkpoint every {}\n",
                          DurationText(BestInterval(terms_.save_s, (rate_->mean_s + rate_->down_s) / hosts)));
    }
    std::fputs(PrintableLines(text).c_str(), stdout);
    return kExitOk;
  }

 private:
  Result<void> ReadOptions() {
    const std::array<std::pair<const std::string*, std::pair<const char*, double*>>, 4> durations = {{
        {&options_.time, {"--time", &terms_.horizon_s}},
        {&options_.save, {"--save", &terms_.save_s}},
        {&options_.start, {"--start", &terms_.start_s}},
        {&options_.queue, {"--queue", &terms_.queue_s}},
    }};
    for (const auto& [text, target] : durations) {
      const Result<double> seconds = DurationOf(target.first, *text, target.second != &terms_.horizon_s);
      if (!seconds) return Fail(seconds.error());
      *target.second = *seconds;
    }
    for (const std::string& text : options_.intervals) {
      const Result<double> seconds = DurationOf("--interval", text);
      if (!seconds) return Fail(seconds.error());
      intervals_.push_back(*seconds);
    }
    const Result<double> down = DurationOf("--down", options_.down, true);
    if (!down) return Fail(down.error());
    down_s_ = *down;
    if (options_.failures.empty() == options_.between.empty()) {
      return Fail(WrongUse("either --failures FILE or --between TIME says when hosts fail",
                           "for example --between 1000d: a host fails once in 1,000 days"));
    }
    if (!options_.between.empty()) {
      const Result<double> mean = DurationOf("--between", options_.between);
      if (!mean) return Fail(mean.error());
      rate_ = FailureRate{*mean, options_.shape, down_s_};
      if (!(options_.shape >= 0.2 && options_.shape <= 10))
        return Fail(WrongUse(fmt::format("--shape must be from 0.2 to 10, got {}", options_.shape)));
    } else {
      auto trace = ReadFailureTrace(options_.failures, down_s_);
      if (!trace) return Fail(std::move(trace.error()));
      trace_ = *std::move(trace);
    }
    if (options_.lives < 1 || options_.lives > kMaxLives)
      return Fail(WrongUse(fmt::format("--lives must be from 1 to {}, got {}", kMaxLives, options_.lives)));
    for (const std::uint32_t spares : options_.spare_hosts) {
      if (spares > kMaxSpares)
        return Fail(WrongUse(fmt::format("--spare-hosts must be at most {}, got {}", kMaxSpares, spares)));
    }
    if (intervals_.size() * options_.spare_hosts.size() * options_.policies.size() > kMaxRows)
      return Fail(WrongUse(fmt::format("these are more than {} settings", kMaxRows)));
    const auto site = GetSite();
    if (!site) return Fail(site.error());
    auto rules = ReadVerdictRules(options_.rules.empty() ? site->facts.verdicts : options_.rules);
    if (!rules) return Fail(std::move(rules.error()));
    rules_ = *std::move(rules);
    return {};
  }

  // The failures of each life.
  Result<void> Draw(std::uint32_t machines) {
    failures_.clear();
    if (!rate_) {
      failures_.emplace_back();
      for (const SimulatedFailure& failure : trace_) {
        if (failure.machine < machines) failures_.back().push_back(failure);
      }
      return {};
    }
    const double expected = machines * (terms_.horizon_s / (rate_->mean_s + rate_->down_s) + 1);
    if (expected * options_.lives > static_cast<double>(kMaxFailures)) {
      return Fail(WrongUse(
          fmt::format("about {:.0f} failures in {} are too many", expected, Counted(options_.lives, "life", "lives")),
          fmt::format("at most {} in all: a shorter --time, or fewer --lives", kMaxFailures)));
    }
    for (std::uint32_t life = 0; life < options_.lives; ++life)
      failures_.push_back(DrawFailures(*rate_, machines, terms_.horizon_s, options_.seed + life));
    return {};
  }

  SimulatedOutcome Simulate(const Plan& plan, const Setting& setting) {
    SimulatedTerms terms = terms_;
    terms.interval_s = setting.interval_s;
    terms.spares = setting.spares;
    std::array<std::vector<double>, kSimulatedRowNames.size()> shares;
    std::vector<double> failed;
    std::vector<double> runs;
    for (const std::vector<SimulatedFailure>& failures : failures_) {
      const SimulatedLife life = SimulateLife(plan, failures, terms, rules_);
      for (std::size_t row = 0; row < shares.size(); ++row) shares[row].push_back(life.seconds[row] / terms.horizon_s);
      failed.push_back(life.failures);
      runs.push_back(life.runs);
    }
    SimulatedOutcome outcome{setting, {}, QuartilesOf(std::move(failed)), QuartilesOf(std::move(runs))};
    for (std::size_t row = 0; row < shares.size(); ++row) outcome.shares[row] = QuartilesOf(std::move(shares[row]));
    return outcome;
  }

  const SimulateOptions& options_;
  SimulatedTerms terms_;
  double down_s_ = 0;
  std::vector<double> intervals_;
  std::optional<FailureRate> rate_;
  std::vector<SimulatedFailure> trace_;
  std::vector<std::vector<SimulatedFailure>> failures_;
  std::vector<VerdictRule> rules_;
};

}  // namespace

std::function<int()> SetupSimulate(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<SimulateOptions>();
  AddRecipeOptions(app, options->recipe, invocation);
  app.add_option("--between", options->between, "mean time between failures of one host")->type_name("TIME");
  app.add_option("--shape", options->shape, "shape of their Weibull distribution (1: exponential)")
      ->type_name("NUMBER");
  app.add_option("--failures", options->failures, "trace of failures: lines of seconds, host and seconds down")
      ->type_name("FILE");
  app.add_option("--down", options->down, "how long a failed host is down; 0: a process was killed (1h)")
      ->type_name("TIME");
  app.add_option("--time", options->time, "simulated time (30d)")->type_name("TIME");
  app.add_option("--interval", options->intervals, "work between checkpoints (30m); a list compares")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("TIME,…");
  app.add_option("--save", options->save, "time that writing a checkpoint takes (1m)")->type_name("TIME");
  app.add_option("--start", options->start, "time from a start to the first step (5m)")->type_name("TIME");
  app.add_option("--queue", options->queue, "time until another run follows (0s)")->type_name("TIME");
  app.add_option("--spare-hosts", options->spare_hosts, "number of spare hosts (0); a list compares")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N,…");
  app.add_option("--policy", options->policies, "restarts: recipe, none, verdict or a number; a list compares")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("POLICY,…");
  app.add_option("--lives", options->lives, "number of simulated lives (20)")->type_name("N");
  app.add_option("--seed", options->seed, "seed of the first life (1)")->type_name("N");
  app.add_option("--rules", options->rules, "rules of verdicts, instead of those of the site")->type_name("FILE");
  return [options] {
    const Result<int> shown = Simulating(*options).Run();
    return shown ? *shown : Refuse(shown.error());
  };
}

}  // namespace muster
