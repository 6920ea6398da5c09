// muster simulate: lives of a recipe's job against failures, for intervals between checkpoints, numbers of spares and
// restart policies, with the decisions of a run. How often hosts fail is given, remembered, or in a trace.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/system/own_environment.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "cli/command/command.h"
#include "cli/command/command_line.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/current_site.h"
#include "cli/options/recipe_options.h"
#include "cli/plan/failure_trace.h"
#include "run/hosts/host_history.h"
#include "run/journal/journal.h"
#include "run/simulate/job_simulation.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

struct SimulateOptions {
  RecipeOptions recipe;
  std::string failures;  // a trace
  std::string between;   // mean time between failures of a host
  bool history = false;  // … that of the remembered hosts
  double shape = 1;
  std::string down = "1h";
  std::string time = "30d";
  std::vector<std::string> intervals;  // empty: 30m, or with --sweep those about the best
  std::string save = "1m";
  std::string start = "5m";
  std::string queue = "0s";
  std::vector<std::uint32_t> spare_hosts;  // empty: 0, or with --sweep kSweptSpares
  std::vector<std::string> policies;       // empty: recipe, or with --sweep kSweptPolicies
  bool sweep = false;
  std::uint32_t lives = 20;
  std::uint64_t seed = 1;
  std::string rules;
  bool json = false;
};

constexpr std::uint32_t kMaxLives = 10'000;
constexpr std::size_t kMaxRows = 10'000;
constexpr int kBarWidth = 40;
// What --sweep tries, of the best interval, and where no list is given.
constexpr std::array<double, 5> kSweptParts = {0.25, 0.5, 1, 2, 4};
constexpr std::array<std::uint32_t, 4> kSweptSpares = {0, 1, 2, 4};
constexpr std::array<const char*, 2> kSweptPolicies = {"recipe", "verdict"};

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
    return Fail(Error("usage", {}, fmt::format("--policy {}: this is no restart policy", Quoted(policy)),
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

// What is kept of a host's time, spares counted: spares are worth their hosts only if this grows.
double KeptPerHost(const SimulatedOutcome& outcome, double hosts) {
  return outcome.shares[0].middle * hosts / (hosts + outcome.setting.spares);
}

// What is printed as JSON. Times in seconds.
struct PrintedQuartiles {
  Quartiles of;
};
template <class V>
void Parts(V& v, const PrintedQuartiles& printed) {
  v("low", printed.of.low), v("median", printed.of.middle), v("high", printed.of.high);
}
struct PrintedSetting {
  double checkpoint_s = 0;
  std::uint32_t spares = 0;
  std::string policy;
  double kept_per_host = 0;
  InOrder<PrintedQuartiles> rows;
  PrintedQuartiles failures;
  PrintedQuartiles runs;
};
template <class V>
void Parts(V& v, const PrintedSetting& printed) {
  v("checkpoint_s", printed.checkpoint_s), v("spares", printed.spares), v("policy", printed.policy);
  v("rows", printed.rows), v("kept_per_host", printed.kept_per_host), v("failures", printed.failures);
  v("runs", printed.runs);
}
struct PrintedRate {
  double between_s = 0;
  double shape = 1;
  double down_s = 0;
};
template <class V>
void Parts(V& v, const PrintedRate& printed) {
  v("between_s", printed.between_s), v("shape", printed.shape), v("down_s", printed.down_s);
}
struct PrintedSimulation {
  std::string recipe;
  std::size_t hosts = 0;
  double time_s = 0;
  std::size_t lives = 0;
  std::optional<PrintedRate> rate;        // of one host; without it, the failures are those of a trace
  std::optional<double> best_interval_s;  // by Young and Daly
  std::vector<PrintedSetting> settings;   // in the order of the lists
  std::size_t most_kept = 0;              // indices of settings
  std::size_t most_kept_per_host = 0;
};
template <class V>
void Parts(V& v, const PrintedSimulation& printed) {
  v("format", 1), v("recipe", printed.recipe), v("hosts", printed.hosts), v("time_s", printed.time_s);
  v("lives", printed.lives), v("rate", printed.rate), v("best_interval_s", printed.best_interval_s);
  v("settings", printed.settings), v("most_kept", printed.most_kept);
  v("most_kept_per_host", printed.most_kept_per_host);
}

std::string PercentText(double share) { return fmt::format("{:.1f}", 100 * share); }

// A row for each setting: medians, and the quartiles of what is kept.
std::string TableText(const std::vector<SimulatedOutcome>& outcomes, double hosts) {
  std::string text =
      fmt::format("{:>10} {:>6} {:>8} {:>6} {:>13} {:>8} {:>6} {:>6} {:>6} {:>8} {:>8} {:>5}\n", "checkpoint", "spares",
                  "policy", "kept %", "quartiles", "per host", "lost", "saves", "start", "waiting", "failures", "runs");
  for (const SimulatedOutcome& each : outcomes) {
    const auto share = [&](SimulatedRow row) { return each.shares[static_cast<std::size_t>(row)]; };
    const Quartiles kept = share(SimulatedRow::kKept);
    text += fmt::format("{:>10} {:>6} {:>8} {:>6} {:>13} {:>8} {:>6} {:>6} {:>6} {:>8} {:>8.0f} {:>5.0f}\n",
                        DurationText(each.setting.interval_s), each.setting.spares, each.setting.policy,
                        PercentText(kept.middle), PercentText(kept.low) + " - " + PercentText(kept.high),
                        PercentText(KeptPerHost(each, hosts)), PercentText(share(SimulatedRow::kLost).middle),
                        PercentText(share(SimulatedRow::kCheckpoint).middle),
                        PercentText(share(SimulatedRow::kStart).middle),
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
      return Fail(Error("usage", {}, fmt::format("{} has no processes to simulate", Quoted(plan.name))));
    if (Result<void> known = KnowFailures(plan); !known) return Fail(known.error());
    if (Result<void> listed = ListSettings(); !listed) return Fail(listed.error());
    if (!options_.failures.empty()) {
      const auto machines = plan.hosts.size() + *std::max_element(spares_.begin(), spares_.end());
      const auto left_out = LeaveOutOtherHosts(trace_, machines, options_.failures);
      if (!left_out) return Fail(left_out.error());
      PrintDiagnostics(*left_out);
    }
    const auto outcomes = SimulateAll(plan);
    if (!outcomes) return Fail(outcomes.error());
    const std::string text = options_.json ? JsonText(plan, *outcomes) : Text(plan, *outcomes);
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
      const Result<double> seconds = DurationOption(target.first, *text, target.second != &terms_.horizon_s);
      if (!seconds) return Fail(seconds.error());
      *target.second = *seconds;
    }
    for (const std::string& text : options_.intervals) {
      const Result<double> seconds = DurationOption("--interval", text);
      if (!seconds) return Fail(seconds.error());
      intervals_.push_back(*seconds);
    }
    const Result<double> down = DurationOption("--down", options_.down, true);
    if (!down) return Fail(down.error());
    down_s_ = *down;
    if (!options_.failures.empty() + !options_.between.empty() + options_.history != 1) {
      return Fail(Error("usage", {}, "one of --between TIME, --history and --failures FILE says when hosts fail",
                        "for example --between 1000d: a host fails once in 1,000 days"));
    }
    if (Result<void> sound = CheckFailureShape(options_.shape); !sound) return sound;
    if (!options_.between.empty()) {
      const Result<double> mean = DurationOption("--between", options_.between);
      if (!mean) return Fail(mean.error());
      rate_ = FailureRate{*mean, options_.shape, down_s_};
    } else if (!options_.history) {
      auto trace = ReadFailureTrace(options_.failures, down_s_);
      if (!trace) return Fail(std::move(trace.error()));
      trace_ = *std::move(trace);
    }
    if (options_.lives < 1 || options_.lives > kMaxLives)
      return Fail(Error("usage", {}, fmt::format("--lives must be from 1 to {}, got {}", kMaxLives, options_.lives)));
    for (const std::uint32_t spares : options_.spare_hosts) {
      if (spares > kMaxSpares)
        return Fail(Error("usage", {}, fmt::format("--spare-hosts must be at most {}, got {}", kMaxSpares, spares)));
    }
    spares_ = options_.spare_hosts;
    policies_ = options_.policies;
    const auto site = GetSite();
    if (!site) return Fail(site.error());
    auto rules = ReadVerdictRules(site->facts, options_.rules);
    if (!rules) return Fail(std::move(rules.error()));
    rules_ = *std::move(rules);
    return {};
  }

  // How often a host fails, and the job: from the remembered hosts, or as the trace has it.
  Result<void> KnowFailures(const Plan& plan) {
    const auto hosts = static_cast<double>(plan.hosts.size());
    if (options_.history) {
      const std::vector<HostHistory> history = ReadHostHistory(HostHistoryFile(OwnVariables()));
      std::set<std::string> names;
      for (const PlanHost& host : plan.hosts) names.insert(host.name);
      remembered_ = FailuresOf(history, names);
      own_hosts_ = remembered_.hosts > 0;
      if (!own_hosts_) remembered_ = FailuresOf(history, {});
      if (remembered_.failures < 1) {
        return Fail(Error("usage", {},
                          fmt::format("--history: no failure of a host is remembered, in {} on {}",
                                      DurationText(remembered_.seconds), Counted(remembered_.hosts, "host")),
                          "--between TIME says how often a host fails; muster hosts shows what is remembered"));
      }
      rate_ = FailureRate{remembered_.seconds / remembered_.failures, options_.shape, down_s_};
    }
    if (rate_) {
      between_failures_s_ = (rate_->mean_s + rate_->down_s) / hosts;
      return {};
    }
    const auto of_job = std::count_if(trace_.begin(), trace_.end(), [&](const SimulatedFailure& failure) {
      return failure.machine < plan.hosts.size() && failure.at < terms_.horizon_s;
    });
    if (of_job > 0) between_failures_s_ = terms_.horizon_s / static_cast<double>(of_job);
    return {};
  }

  // Which intervals, spares and policies are compared.
  Result<void> ListSettings() {
    if (intervals_.empty() && options_.sweep) {
      if (terms_.save_s <= 0 || !between_failures_s_) {
        return Fail(Error("usage", {},
                          "--sweep cannot choose intervals between checkpoints: they cost nothing, or no host fails",
                          "--interval 10m,30m,1h gives them"));
      }
      const double best = BestInterval(terms_.save_s, *between_failures_s_);
      for (const double part : kSweptParts) intervals_.push_back(std::max(1.0, std::round(best * part)));
    }
    if (intervals_.empty()) intervals_ = {30 * 60};
    if (spares_.empty() && options_.sweep) spares_.assign(kSweptSpares.begin(), kSweptSpares.end());
    if (spares_.empty()) spares_ = {0};
    if (policies_.empty() && options_.sweep) policies_.assign(kSweptPolicies.begin(), kSweptPolicies.end());
    if (policies_.empty()) policies_ = {"recipe"};
    if (intervals_.size() * spares_.size() * policies_.size() > kMaxRows)
      return Fail(Error("usage", {}, fmt::format("these are more than {} settings", kMaxRows)));
    return {};
  }

  Result<std::vector<SimulatedOutcome>> SimulateAll(const Plan& plan) {
    std::vector<Plan> plans;
    for (const std::string& policy : policies_) {
      Result<Plan> with = WithPolicy(plan, policy);
      if (!with) return Fail(with.error());
      plans.push_back(*std::move(with));
    }
    std::vector<SimulatedOutcome> outcomes;
    for (std::size_t policy = 0; policy < plans.size(); ++policy) {
      for (const std::uint32_t spares : spares_) {
        if (Result<void> drawn = Draw(static_cast<std::uint32_t>(plan.hosts.size() + spares)); !drawn)
          return Fail(drawn.error());
        for (const double interval : intervals_)
          outcomes.push_back(Simulate(plans[policy], {interval, spares, policies_[policy]}, outcomes.size()));
      }
    }
    waiting_.Clear();
    return outcomes;
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
    if (expected * options_.lives > static_cast<double>(kMaxSimulatedFailures)) {
      return Fail(Error(
          "usage", {},
          fmt::format("about {:.0f} failures in {} are too many", expected, Counted(options_.lives, "life", "lives")),
          fmt::format("at most {} in all: a shorter --time, or fewer --lives", kMaxSimulatedFailures)));
    }
    for (std::uint32_t life = 0; life < options_.lives; ++life)
      failures_.push_back(DrawFailures(*rate_, machines, terms_.horizon_s, options_.seed + life));
    return {};
  }

  SimulatedOutcome Simulate(const Plan& plan, const Setting& setting, std::size_t number) {
    SimulatedTerms terms = terms_;
    terms.interval_s = setting.interval_s;
    terms.spares = setting.spares;
    std::array<std::vector<double>, kSimulatedRowNames.size()> shares;
    std::vector<double> failed;
    std::vector<double> runs;
    for (const std::vector<SimulatedFailure>& failures : failures_) {
      const auto took = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_);
      if (took.count() > 0) {
        waiting_.Show(
            static_cast<unsigned>(took.count()),
            fmt::format("setting {} of {}, life {} of {}", number + 1,
                        intervals_.size() * spares_.size() * policies_.size(), failed.size() + 1, failures_.size()));
      }
      const SimulatedLife life = SimulateLife(plan, failures, terms, rules_);
      for (std::size_t row = 0; row < shares.size(); ++row) shares[row].push_back(life.seconds[row] / terms.horizon_s);
      failed.push_back(life.failures);
      runs.push_back(life.runs);
    }
    SimulatedOutcome outcome{setting, {}, QuartilesOf(std::move(failed)), QuartilesOf(std::move(runs))};
    for (std::size_t row = 0; row < shares.size(); ++row) outcome.shares[row] = QuartilesOf(std::move(shares[row]));
    return outcome;
  }

  // Where the failures come from.
  std::string Source(double hosts) const {
    if (!rate_) return "failures of " + options_.failures;
    std::string text = fmt::format("a host fails every {}", DurationText(rate_->mean_s));
    if (options_.history) {
      text += fmt::format(" ({} in {} of {})", Counted(static_cast<std::uint64_t>(remembered_.failures), "failure"),
                          DurationText(remembered_.seconds),
                          own_hosts_ ? Counted(remembered_.hosts, "remembered host")
                                     : "all " + Counted(remembered_.hosts, "remembered host"));
    }
    return text + fmt::format(", the job every {}; medians of {}", DurationText(rate_->mean_s / hosts),
                              Counted(options_.lives, "life", "lives"));
  }

  static std::size_t Most(const std::vector<SimulatedOutcome>& outcomes, double hosts, bool per_host) {
    const auto kept = [&](const SimulatedOutcome& each) {
      return per_host ? KeptPerHost(each, hosts) : each.shares[0].middle;
    };
    return static_cast<std::size_t>(
        std::max_element(outcomes.begin(), outcomes.end(),
                         [&](const SimulatedOutcome& a, const SimulatedOutcome& b) { return kept(a) < kept(b); }) -
        outcomes.begin());
  }

  // By Young and Daly.
  std::optional<double> BestByFormula() const {
    if (!rate_ || terms_.save_s <= 0) return std::nullopt;
    return BestInterval(terms_.save_s, *between_failures_s_);
  }

  std::string Text(const Plan& plan, const std::vector<SimulatedOutcome>& outcomes) const {
    const auto hosts = static_cast<double>(plan.hosts.size());
    std::string text = fmt::format("{} on {} for {}; {}\n\n{}\n{}", Printable(plan.name),
                                   Counted(plan.hosts.size(), "host"), DurationText(terms_.horizon_s),
                                   Printable(Source(hosts)), TableText(outcomes, hosts), PlotText(outcomes));
    if (const auto best = BestByFormula())
      text += fmt::format("\nYoung and Daly: a checkpoint every {}\n", DurationText(*best));
    if (outcomes.size() < 2) return text;
    const auto described = [&](const SimulatedOutcome& each) {
      return fmt::format("a checkpoint every {}, {}, policy {}", DurationText(each.setting.interval_s),
                         Counted(each.setting.spares, "spare host"), each.setting.policy);
    };
    const SimulatedOutcome& most = outcomes[Most(outcomes, hosts, false)];
    const SimulatedOutcome& per_host = outcomes[Most(outcomes, hosts, true)];
    text += fmt::format("\nmost is kept, {} %, with {}\n", PercentText(most.shares[0].middle), described(most));
    if (&per_host != &most) {
      text += fmt::format("most per host, spares counted, {} %, with {}\n", PercentText(KeptPerHost(per_host, hosts)),
                          described(per_host));
    }
    return text;
  }

  std::string JsonText(const Plan& plan, const std::vector<SimulatedOutcome>& outcomes) const {
    const auto hosts = static_cast<double>(plan.hosts.size());
    PrintedSimulation printed;
    printed.recipe = plan.name;
    printed.hosts = plan.hosts.size();
    printed.time_s = terms_.horizon_s;
    printed.lives = failures_.size();
    if (rate_) printed.rate = PrintedRate{rate_->mean_s, rate_->shape, rate_->down_s};
    printed.best_interval_s = BestByFormula();
    for (const SimulatedOutcome& each : outcomes) {
      PrintedSetting& setting = printed.settings.emplace_back();
      setting.checkpoint_s = each.setting.interval_s;
      setting.spares = each.setting.spares;
      setting.policy = each.setting.policy;
      setting.kept_per_host = KeptPerHost(each, hosts);
      for (std::size_t row = 0; row < each.shares.size(); ++row)
        setting.rows.members.emplace_back(kSimulatedRowNames[row], PrintedQuartiles{each.shares[row]});
      setting.failures = {each.failures};
      setting.runs = {each.runs};
    }
    printed.most_kept = Most(outcomes, hosts, false);
    printed.most_kept_per_host = Most(outcomes, hosts, true);
    return JsonOf<PartForms>(printed, 2) + "\n";
  }

  const SimulateOptions& options_;
  SimulatedTerms terms_;
  double down_s_ = 0;
  std::vector<double> intervals_;
  std::vector<std::uint32_t> spares_;
  std::vector<std::string> policies_;
  std::optional<FailureRate> rate_;
  HostFailures remembered_;
  bool own_hosts_ = false;                    // the remembered hosts are those of the plan
  std::optional<double> between_failures_s_;  // of the job
  std::vector<SimulatedFailure> trace_;
  std::vector<std::vector<SimulatedFailure>> failures_;
  std::vector<VerdictRule> rules_;
  WaitLine waiting_{"simulating"};
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

std::string SimulationSchema() { return SchemaOf<PartForms>(PrintedSimulation()); }

std::function<int()> SetupSimulate(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<SimulateOptions>();
  AddRecipeOptions(app, options->recipe, invocation);
  auto* const between = app.add_option("--between", options->between, "mean time between failures of one host");
  between->type_name("TIME");
  app.add_flag("--history", options->history,
               "… as that of the hosts that muster hosts shows, of the recipe's if known");
  auto* const shape = app.add_option("--shape", options->shape, "shape of their Weibull distribution (1: exponential)");
  shape->type_name("NUMBER");
  auto* const failures =
      app.add_option("--failures", options->failures, "trace of failures: lines of seconds, host and seconds down");
  failures->type_name("FILE")->excludes(between)->excludes(shape);
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
  app.add_flag("--sweep", options->sweep,
               "compare intervals about the best one, 0 to 4 spare hosts, and verdicts, where no list is given");
  app.add_option("--lives", options->lives, "number of simulated lives (20)")->type_name("N")->excludes(failures);
  app.add_option("--seed", options->seed, "seed of the first life (1)")->type_name("N")->excludes(failures);
  app.add_option("--rules", options->rules, "rules of verdicts, instead of those of the site")->type_name("FILE");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] {
    const Result<int> shown = Simulating(*options).Run();
    return shown ? *shown : Refuse(shown.error(), options->json);
  };
}

}  // namespace muster
