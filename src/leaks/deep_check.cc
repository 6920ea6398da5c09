#include "leaks/deep_check.h"

#include <chrono>
#include <thread>
#include <utility>

#include "base/system/clock.h"
#include "evaluator/influence.h"
#include "leaks/circumstances.h"
#include "leaks/nondeterminism.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

// The order of four keys is the same in all of them by chance only once in many thousand times.
constexpr int kInterpreters = 6;
constexpr std::uint64_t kLaterNs = 1'100'000'000;  // a clock with a resolution of one second has advanced

// Equal if and only if the plans are, derived values included.
std::string TextOf(const Result<Evaluation>& evaluation) {
  if (evaluation) return PlanId(evaluation->plan) + ToText(Value(Value::Map(evaluation->plan.derived)));
  std::string text;
  for (const Diagnostic& problem : evaluation.error()) text += problem.kind + ": " + problem.message + "\n";
  return text;
}

Diagnostic UnsteadyLeak(NondeterminismCause what, const std::string& recipe_file) {
  const Place place{recipe_file, 0};
  switch (what) {
    case NondeterminismCause::kState:
      return Error("leak", place,
                   "the plan function keeps something from one call to the next: its second plan differs",
                   "create its state in each call: local variables inside the function");
    case NondeterminismCause::kSeed:
      return Error("leak", place,
                   "the plan is another one in each interpreter: it depends on the order of a table's keys, or on an "
                   "address",
                   "pairs of a recipe goes in the order of the keys; something goes around it");
    default:
      return Error("leak", place, "the plan is another one each time it is made: it depends on the time, or on chance",
                   "a recipe knows no clock; something lets one in");
  }
}

class Repeats {
 public:
  explicit Repeats(const EvaluationOptions& options) : options_(options), began_ns_(MonotonicNowNs()) {
    for (int i = 0; i < kInterpreters; ++i) {
      Evaluator other;
      Evaluator& evaluator = i == 0 ? first_ : other;
      auto first = evaluator.Evaluate(options_);
      auto again = evaluator.Evaluate(options_, i > 0);
      plans_.push_back({TextOf(first), TextOf(again)});
      Keep(std::move(first));
      Keep(std::move(again));
    }
  }

  // Waits until enough time has passed.
  void PlanLater() {
    const std::uint64_t now = MonotonicNowNs();
    if (now < began_ns_ + kLaterNs) std::this_thread::sleep_for(std::chrono::nanoseconds(began_ns_ + kLaterNs - now));
    auto late = EvaluateRecipe(options_);
    auto again = first_.Evaluate(options_, true);
    late_ = {.first = TextOf(again), .other = TextOf(late)};
    Keep(std::move(late));
    Keep(std::move(again));
  }

  Diagnostics Leaks() const {
    const NondeterminismCause what = JudgeRepeats(plans_, late_);
    if (what == NondeterminismCause::kNo) return {};
    Diagnostic leak = UnsteadyLeak(what, options_.recipe_file);
    if (one_ && other_) leak.notes = NotesOfChanges(one_->plan, other_->plan);
    for (const Diagnostic& problem : problems_) {
      if (problem.severity == Severity::kError) leak.notes.push_back({"once: " + problem.message, problem.place});
    }
    return {leak};
  }

  std::size_t evaluations() const { return 2 * kInterpreters + 2; }

 private:
  // Keeps the first plan, the first that differs, and the first failure.
  void Keep(Result<Evaluation> evaluation) {
    if (!evaluation) {
      if (problems_.empty()) problems_ = std::move(evaluation.error());
    } else if (!one_) {
      one_ = *std::move(evaluation);
    } else if (!other_ && TextOf(evaluation) != TextOf(*one_)) {
      other_ = *std::move(evaluation);
    }
  }

  const EvaluationOptions& options_;
  std::uint64_t began_ns_;
  Evaluator first_;
  std::vector<RepeatedPlan> plans_;
  LatePlans late_;
  std::optional<Evaluation> one_;
  std::optional<Evaluation> other_;
  Diagnostics problems_;
};

std::vector<CheckedProfile> CheckProfiles(const EvaluationOptions& options, const Evaluation& as_it_is) {
  std::vector<CheckedProfile> profiles;
  Evaluator evaluator;
  for (const ProfileFacts& facts : as_it_is.profiles) {
    EvaluationOptions other = options;
    other.profiles = {facts.name};
    auto evaluation = evaluator.Evaluate(other);
    CheckedProfile& profile = profiles.emplace_back(CheckedProfile{facts.name, facts.place, {}, {}});
    profile.problems = evaluation ? std::move(evaluation->warnings) : std::move(evaluation.error());
    if (evaluation) profile.plan_id = PlanId(evaluation->plan);
  }
  return profiles;
}

}  // namespace

DeepCheck CheckDeeply(const EvaluationOptions& given, const Evaluation& as_it_is,
                      const std::function<void(const std::string& step)>& on_step) {
  EvaluationOptions options = given;
  options.on_print = nullptr;  // print only once
  options.on_wait = nullptr;
  DeepCheck check;
  const auto add = [&](Found found) {
    check.evaluations += found.evaluations;
    for (Diagnostic& leak : found.leaks) check.leaks.push_back(std::move(leak));
  };
  on_step("other interpreters");
  Repeats repeats(options);
  on_step("other locales");
  check.locales = OtherLocales();
  add(UnderOtherLocales(options, as_it_is, check.locales));
  on_step("other variables and machines");
  add(UnderOtherVariables(options, as_it_is));
  add(OnOtherMachines(options, as_it_is));
  add(OwnNamesIn(options, as_it_is));
  on_step("profiles");
  check.profiles = CheckProfiles(options, as_it_is);
  on_step("parameters");
  Evaluator evaluator;
  check.without_effect = ParametersWithoutEffect(evaluator, options, as_it_is);
  on_step("a second later");
  repeats.PlanLater();
  check.evaluations += repeats.evaluations();
  const Diagnostics unsteady = repeats.Leaks();
  // A plan that always differs also differs under other conditions, so other findings are meaningless.
  if (!unsteady.empty()) check.leaks = unsteady;
  return check;
}

}  // namespace muster
