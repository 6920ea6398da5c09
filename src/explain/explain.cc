#include "explain/explain.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "explain/chain.h"
#include "plan/text/folded_texts.h"
#include "settings/parameters/nudge.h"

namespace muster {
namespace {

// A parameter, or a number of the cluster, that can be overridden.
struct Settable {
  Parameter parameter;
  std::optional<Value> value;
};

std::vector<Settable> Settables(const Evaluation& evaluation) {
  std::vector<Settable> settables;
  std::set<std::string> names;
  for (const ParameterState& state : evaluation.parameters) {
    if (!state.active) continue;  // of a variant that is not selected
    names.insert(state.parameter.name);
    settables.push_back({state.parameter, state.value});
  }
  for (const ClusterNumber& number : evaluation.origins.cluster) {
    if (!names.insert(number.name).second) continue;  // the recipe has a parameter of that name, which hides it
    Parameter parameter;
    parameter.name = number.name;
    parameter.type = ParameterType::kInt;
    parameter.min = number.name == "hosts" ? 1 : 0;
    settables.push_back({std::move(parameter), Value(number.value)});
  }
  std::sort(settables.begin(), settables.end(),
            [](const Settable& a, const Settable& b) { return a.parameter.name < b.parameter.name; });
  return settables;
}

// The reason why a value was refused, with its place.
std::string WhyNot(const Diagnostics& problems) {
  for (const Diagnostic& problem : problems) {
    if (problem.severity != Severity::kError) continue;
    const Place& place = problem.place;
    return (place.file.empty() ? "" : place.file + ":" + std::to_string(place.line) + ": ") + problem.message;
  }
  return {};
}

std::string PlaceOfRefusal(const Diagnostics& problems) {
  for (const Diagnostic& problem : problems) {
    if (problem.severity != Severity::kError) continue;
    const Place& place = problem.place;
    return place.file.empty() ? problem.message : place.file + ":" + std::to_string(place.line);
  }
  return {};
}

class Explainer {
 public:
  Explainer(const ExplainQuestion& question, const Schema* schema, const PlanAgain& plan_again)
      : question_(question), plan_again_(plan_again) {
    api_.schema = schema;
  }

  Result<Explanation> Run() {
    if (auto found = FindSubject(); !found) return Fail(found.error());
    explanation_.values = ValuesOf(*plans_.front(), api_, explanation_.subject, chosen_);
    if (explanation_.values.empty()) return Fail(NoValue());
    if (explanation_.subject.kind == SubjectKind::kParameter || explanation_.subject.kind == SubjectKind::kCluster) {
      ExplainSettable();
    } else {
      ExplainValue();
    }
    explanation_.plans = made_;
    if (machine_failed_) return Fail(*std::move(machine_failed_));
    return std::move(explanation_);
  }

 private:
  Result<Evaluation> Plan(const std::vector<Override>& more, const std::string& process = {}) {
    ++made_;
    auto plan = plan_again_(more, process, depth_);
    // It would look like a value that the recipe refuses.
    const auto of_machine = [](const Diagnostic& problem) { return problem.blame == Blame::kMachine; };
    if (!plan && !machine_failed_ && std::any_of(plan.error().begin(), plan.error().end(), of_machine))
      machine_failed_ = plan.error();
    return plan;
  }

  Result<void> FindSubject() {
    auto plan = Plan({});
    if (!plan) return Fail(plan.error());
    plans_.push_back(std::make_unique<Evaluation>(*std::move(plan)));
    const Evaluation& first = *plans_.front();
    if (const auto release = ParseRelease(first.plan.mindspore); release && api_.schema != nullptr) {
      api_.release = *release;
    } else {
      api_.schema = nullptr;
    }
    auto subjects = FindSubjects(first, api_, question_.name);
    if (!subjects) return Fail(subjects.error());
    explanation_.subject = subjects->front();
    explanation_.also.assign(subjects->begin() + 1, subjects->end());
    auto chosen = ChosenProcesses(first.plan, question_.processes);
    if (!chosen) return Fail(chosen.error());
    chosen_ = *std::move(chosen);
    // Sources are those of the first process of each role, unless a rank was given.
    const Process& asked = first.plan.processes[chosen_.front()];
    if (!question_.processes.rank || asked.index == 0 || explanation_.subject.kind <= SubjectKind::kDerived) return {};
    const std::string& role = first.plan.roles[asked.role].name;
    plan = Plan({}, role + ":" + std::to_string(asked.rank.value_or(asked.index)));
    if (!plan) return Fail(plan.error());
    plans_.front() = std::make_unique<Evaluation>(*std::move(plan));
    return {};
  }

  Diagnostic NoValue() const {
    const Subject& subject = explanation_.subject;
    std::string message = std::string(SubjectKindName(subject.kind)) + " " + subject.name;
    if (question_.processes.rank || question_.processes.role) {
      return Error("unknown_name", {}, message + ": the chosen processes have none", "leave --rank and --role out");
    }
    for (const ParameterState& state : plans_.front()->parameters) {
      if (state.active || state.parameter.name != subject.name || state.parameter.when.empty()) continue;
      const auto& [chooser, choice] = *state.parameter.when.begin();
      return Error("variant", state.parameter.place,
                   message + " belongs to " + chooser + " = " + choice + ", which is not chosen: it has no value",
                   chooser + "=" + choice + " chooses it");
    }
    return Error("unknown_name", {}, message + ": it has no value", "");
  }

  // The chosen processes by role and index, in another plan.
  std::vector<std::uint32_t> ChosenIn(const Evaluation& other) const {
    std::set<std::pair<std::string_view, std::uint32_t>> wanted;
    const auto key = [](const muster::Plan& plan, const Process& process) {
      return std::pair<std::string_view, std::uint32_t>(plan.roles[process.role].name, process.index);
    };
    const bool all = !question_.processes.role && !question_.processes.rank;
    if (!all) {
      for (const std::uint32_t process : chosen_) {
        wanted.insert(key(plans_.front()->plan, plans_.front()->plan.processes[process]));
      }
    }
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t i = 0; i < other.plan.processes.size(); ++i) {
      if (all || wanted.contains(key(other.plan, other.plan.processes[i]))) chosen.push_back(i);
    }
    return chosen;
  }

  // Makes plans with other values of one parameter, until `shows` returns true or three have been made.
  template <class Shows>
  Dependence Try(const Settable& settable, Shows shows) {
    constexpr int kMostPlans = 3;
    constexpr int kMostFailures = 8;
    Dependence result;
    result.name = settable.parameter.name;
    if (settable.parameter.type == ParameterType::kSecret || !settable.value) {
      result.kind = Dependence::Kind::kUntried;
      result.why = settable.value ? "a secret has no other value to try" : "it has no value";
      return result;
    }
    int made = 0;
    int failures = 0;
    for (Value& value : Nudges(settable.parameter, *settable.value)) {
      if (made == kMostPlans || failures == kMostFailures) break;
      auto plan = Plan({ValueOverride(settable.parameter.name, std::move(value))});
      if (!plan) {
        if (result.why.empty()) result.why = WhyNot(plan.error());
        ++failures;
        continue;
      }
      ++made;
      plans_.push_back(std::make_unique<Evaluation>(*std::move(plan)));
      changed_.push_back(settable.parameter.name);
      const Dependence::Kind kind = shows(*plans_.back());
      if (kind != Dependence::Kind::kNone) result.kind = kind;
      if (kind == Dependence::Kind::kChanges) break;
    }
    if (made > 0) {
      result.why.clear();
      return result;
    }
    result.kind = Dependence::Kind::kUntried;
    if (result.why.empty()) result.why = "it may have no other value";
    return result;
  }

  void ExplainValue() {
    const Subject& subject = explanation_.subject;
    // Values that the plan function derives need no processes. Computing them costs a whole plan, so they are only used
    // when needed.
    const bool by_recipe = plans_.front()->origins.derived.contains(subject.name);
    if (subject.kind == SubjectKind::kDerived && by_recipe) depth_ = EvaluationDepth::kJob;
    const SubjectValue reading = ValueOf(*plans_.front(), api_, subject, chosen_);
    std::vector<std::string> depends_on;
    for (const Settable& settable : Settables(*plans_.front())) {
      explanation_.dependences.push_back(Try(settable, [&](const Evaluation& other) {
        const SubjectValue now = ValueOf(other, api_, subject, ChosenIn(other));
        bool same_processes = reading.of.size() == now.of.size();
        if (reading.whole != now.whole) return Dependence::Kind::kChanges;
        for (const auto& [process, text] : reading.of) {
          const auto found = now.of.find(process);
          if (found == now.of.end()) {
            same_processes = false;
          } else if (found->second != text) {
            return Dependence::Kind::kChanges;
          }
        }
        return same_processes ? Dependence::Kind::kNone : Dependence::Kind::kProcesses;
      }));
      const Dependence& last = explanation_.dependences.back();
      if (last.kind == Dependence::Kind::kChanges) depends_on.push_back(last.name);
    }
    AddChain(depends_on);
  }

  void AddChain(const std::vector<std::string>& depends_on) {
    std::vector<const Evaluation*> plans;
    std::vector<std::optional<std::string>> reported;
    for (const auto& plan : plans_) {
      plans.push_back(plan.get());
      reported.push_back(OneText(*plan));
    }
    Chain chain = ChainBelow(plans, explanation_.subject, reported);
    explanation_.formula = std::move(chain.formula);
    explanation_.chain = std::move(chain.links);
    if (explanation_.subject.kind > SubjectKind::kDerived && explanation_.chain.empty()) AddParts(plans, depends_on);
    for (const std::string& name : depends_on) {
      const auto is_reported = [&](const ChainLink& link) {
        return link.name == name || link.name.ends_with(" = " + name) || IsCluster(name, link);
      };
      if (std::none_of(explanation_.chain.begin(), explanation_.chain.end(), is_reported)) {
        explanation_.chain.push_back(LinkTo(*plans_.front(), name));
      }
    }
  }

  // Derived values that the subject may be computed from: they depend on nothing that the subject does not depend on.
  void AddParts(std::span<const Evaluation* const> plans, const std::vector<std::string>& depends_on) {
    for (const auto& [name, place] : plans_.front()->origins.derived) {
      const Subject derived{SubjectKind::kDerived, name};
      bool varies = false;
      bool fits = true;
      for (std::size_t i = 1; i < plans_.size(); ++i) {
        if (WholeValue(*plans_[i], derived) == WholeValue(*plans_.front(), derived)) continue;
        varies = true;
        fits = fits && std::find(depends_on.begin(), depends_on.end(), changed_[i]) != depends_on.end();
      }
      if (!varies || !fits || !CanBePart(derived)) continue;
      for (ChainLink& link : ChainFrom(plans, name)) {
        if (std::find(explanation_.chain.begin(), explanation_.chain.end(), link) == explanation_.chain.end()) {
          explanation_.chain.push_back(std::move(link));
        }
      }
    }
  }

  // A number may be part of any text; a text must occur in it.
  bool CanBePart(const Subject& derived) const {
    return std::all_of(plans_.begin(), plans_.end(), [&](const auto& plan) {
      const auto value = WholeValue(*plan, derived);
      if (!value || value->AsString() == nullptr) return true;
      const auto reported = OneText(*plan);
      return reported && reported->find(*value->AsString()) != std::string::npos;
    });
  }

  // "devices" is covered by hosts and devices_per_host.
  static bool IsCluster(const std::string& name, const ChainLink& link) {
    return !link.formula.empty() && link.formula.starts_with("hosts ") &&
           (name == "hosts" || name == "devices_per_host");
  }

  // The subject's value as one text, if it has a single one; strings without quotes.
  std::optional<std::string> OneText(const Evaluation& evaluation) const {
    if (const auto value = WholeValue(evaluation, explanation_.subject)) {
      return value->AsString() != nullptr ? *value->AsString() : ToText(*value);
    }
    const std::vector<SourcedValue> values = ValuesOf(evaluation, api_, explanation_.subject, ChosenIn(evaluation));
    if (values.empty()) return std::nullopt;
    for (const SourcedValue& value : values) {
      if (value.text != values.front().text) return std::nullopt;
    }
    return values.front().text;
  }

  void ExplainSettable() {
    const std::string& name = explanation_.subject.name;
    const std::vector<Settable> settables = Settables(*plans_.front());
    const auto found = std::find_if(settables.begin(), settables.end(),
                                    [&](const Settable& settable) { return settable.parameter.name == name; });
    if (found == settables.end()) {  // devices: the product of hosts and devices_per_host
      ExplainValue();
      return;
    }
    const Settable& settable = *found;
    explanation_.allowed = ParameterRangeText(settable.parameter);
    explanation_.doc = settable.parameter.doc;
    std::map<std::tuple<PlanChange::Kind, std::string, std::string>, PlanChange> changes;
    explanation_.own = Try(settable, [&](const Evaluation& other) {
      const std::size_t before = changes.size();
      for (PlanChange& change : DiffPlans(plans_.front()->plan, other.plan)) {
        std::tuple key(change.kind, change.role, change.name);
        changes.try_emplace(std::move(key), std::move(change));
      }
      // Another plan may show more, so continue up to three.
      return changes.size() > before ? Dependence::Kind::kProcesses : Dependence::Kind::kNone;
    });
    if (!changes.empty()) explanation_.own.kind = Dependence::Kind::kChanges;
    for (auto& [unused, change] : changes) explanation_.leads_to.push_back(std::move(change));
    if (settable.parameter.type == ParameterType::kInt && settable.value && settable.value->AsInt() != nullptr) {
      FindPossible(settable, settables);
    }
  }

  void FindPossible(const Settable& settable, const std::vector<Settable>& all) {
    const std::int64_t value = *settable.value->AsInt();
    std::vector<std::int64_t> related;
    const auto relate = [&](const std::optional<Value>& other) {
      if (other && other->AsInt() != nullptr) related.push_back(*other->AsInt());
    };
    for (const Settable& other : all) relate(other.value);
    relate(WholeValue(*plans_.front(), {SubjectKind::kCluster, "devices"}));
    for (const auto& [name, derived] : plans_.front()->plan.derived) relate(derived);
    const WholeNumbers numbers = PossibleNumbers(settable.parameter, value, related);
    Possible possible;
    possible.tried = numbers.numbers.size();
    possible.description = numbers.description;
    for (const std::int64_t number : numbers.numbers) {
      if (number == value) {
        possible.numbers.push_back(number);
        continue;
      }
      const auto plan = Plan({ValueOverride(settable.parameter.name, Value(number))});
      if (plan) {
        possible.numbers.push_back(number);
        continue;
      }
      const std::string what = PlaceOfRefusal(plan.error());
      const auto known = std::find_if(possible.refusals.begin(), possible.refusals.end(),
                                      [&](const Refusal& refusal) { return refusal.what == what; });
      if (known != possible.refusals.end()) {
        ++known->count;
      } else {
        possible.refusals.push_back({what, 1});
      }
    }
    explanation_.possible = std::move(possible);
  }

  const ExplainQuestion& question_;
  const PlanAgain& plan_again_;
  ContextApi api_;
  std::vector<std::unique_ptr<Evaluation>> plans_;  // that of the command line first
  std::vector<std::string> changed_ = {""};         // for each plan, the parameter that was changed
  std::vector<std::uint32_t> chosen_;
  Explanation explanation_;
  EvaluationDepth depth_ = EvaluationDepth::kPlan;
  std::size_t made_ = 0;
  std::optional<Diagnostics> machine_failed_;  // what no value of a parameter is to blame for
};

}  // namespace

Result<Explanation> Explain(const ExplainQuestion& question, const Schema* schema, const PlanAgain& plan_again) {
  return Explainer(question, schema, plan_again).Run();
}

}  // namespace muster
