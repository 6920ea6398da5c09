#include "explain/explain.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>

#include "base/values/text_parts.h"
#include "plan/text/folded_texts.h"
#include "settings/values/parameter.h"

namespace muster {
namespace {

// Reconstructs what a value was computed from by comparing plans: quantities with the same value in every plan, and at
// least two different values, are considered the same.

struct Chain {
  std::string formula;  // of a derived value: its division; may be empty
  std::vector<ChainLink> links;
};

// The link for a parameter or a number of the cluster.
ChainLink LinkTo(const Evaluation& evaluation, const std::string& name);

// The value in each of the plans; nothing where there is none.
using Row = std::vector<std::optional<std::string>>;

bool Varies(const Row& row) {
  return std::any_of(row.begin(), row.end(), [&](const auto& value) { return value != row.front(); });
}

struct Quantity {
  Subject subject;
  Row row;
};

// An exact division, the same one in each plan.
struct DividedRow {
  const Division* first = nullptr;  // of the plan to be explained
  Row quotient;
  Row number;
  std::map<std::string, Row> by;
};

// All sequences of digits, in order.
std::vector<std::string> NumbersIn(const std::string& text) {
  std::vector<std::string> numbers;
  bool inside = false;
  for (const char c : text) {
    const bool digit = IsDigit(c);
    if (digit && !inside) numbers.emplace_back();
    if (digit) numbers.back() += c;
    inside = digit;
  }
  return numbers;
}

class Tracer {
 public:
  explicit Tracer(std::span<const Evaluation* const> plans) : plans_(plans) {
    const Evaluation& explained = *plans.front();
    for (const ParameterState& state : explained.parameters)
      AddQuantity({SubjectKind::kParameter, state.parameter.name});
    for (const ClusterNumber& number : explained.origins.cluster) AddQuantity({SubjectKind::kCluster, number.name});
    AddQuantity({SubjectKind::kCluster, "devices"});
    for (const auto& [name, unused] : explained.origins.derived) AddQuantity({SubjectKind::kDerived, name});
    AddDivisions();
  }

  // For a derived value: its division, or the equal quantity.
  void BelowDerived(const Subject& subject, std::uint32_t depth) {
    if (depth > kMaxDepth) return;
    const auto found = std::find_if(quantities_.begin(), quantities_.end(),
                                    [&](const Quantity& quantity) { return quantity.subject == subject; });
    if (found == quantities_.end()) return;
    if (const DividedRow* division = DivisionOf(found->row)) {
      BelowDivision(*division, depth);
    } else if (const Quantity* same = QuantityOf("", found->row, &found->subject)) {
      AddLink(*same, same->subject.name, depth);
    }
  }

  void From(const Subject& subject) {
    const auto found = std::find_if(quantities_.begin(), quantities_.end(),
                                    [&](const Quantity& quantity) { return quantity.subject == subject; });
    if (found != quantities_.end()) AddLink(*found, subject.name, 0);
  }

  // For a text: the numbers in it, and the text itself.
  void BelowText(std::span<const std::optional<std::string>> reported) {
    const Row whole(reported.begin(), reported.end());
    std::vector<std::vector<std::string>> numbers;
    for (const auto& text : whole) numbers.push_back(text ? NumbersIn(*text) : std::vector<std::string>());
    bool found = AddEqual(whole);
    // The word after a flag.
    if (!found) {
      Row rest = whole;
      for (auto& text : rest) {
        if (text && text->starts_with("-")) text = text->substr(std::min(text->find(' ') + 1, text->size()));
      }
      if (rest != whole) found = AddEqual(rest);
    }
    for (std::size_t i = 0; !found && i < numbers.front().size(); ++i) {
      Row slot;
      for (const auto& of_plan : numbers) {
        slot.push_back(of_plan.size() == numbers.front().size() ? std::optional(of_plan[i]) : std::nullopt);
      }
      AddEqual(slot);
    }
  }

  const DividedRow* DivisionOf(const Row& row) const {
    const DividedRow* found = nullptr;
    for (const DividedRow& division : divisions_) {
      if (division.quotient != row) continue;
      if (Varies(row)) return &division;
      if (found != nullptr) return nullptr;  // ambiguous
      found = &division;
    }
    return found;
  }

  std::vector<ChainLink> Take() { return std::move(links_); }
  static std::string Formula(const DividedRow& division) {
    std::string text = division.first->name + " " + std::to_string(division.first->number) + " / ";
    std::string product;
    for (const auto& [name, number] : division.first->by) {
      product += (product.empty() ? "" : " × ") + name + " " + std::to_string(number);
    }
    return text + (division.first->by.size() > 1 ? "(" + product + ")" : product);
  }

 private:
  static constexpr std::uint32_t kMaxDepth = 8;

  void AddQuantity(Subject subject) {
    Quantity& quantity = quantities_.emplace_back(Quantity{std::move(subject), {}});
    for (const Evaluation* plan : plans_) {
      const auto value = WholeValue(*plan, quantity.subject);
      quantity.row.push_back(value ? std::optional(TextOf(*value)) : std::nullopt);
    }
  }

  // Texts without quotes, as in variables and commands.
  static std::string TextOf(const Value& value) {
    return value.AsString() != nullptr ? *value.AsString() : ToText(value);
  }

  void AddDivisions() {
    // The n-th one at its line: a loop may divide at one line many times.
    const auto keys = [](const Evaluation& plan) {
      std::map<std::tuple<std::string, std::uint32_t, std::string>, std::uint32_t> seen;
      std::vector<std::tuple<std::string, std::uint32_t, std::string, std::uint32_t>> all;
      for (const Division& division : plan.origins.divisions) {
        const std::uint32_t nth = seen[{division.place.file, division.place.line, division.name}]++;
        all.emplace_back(division.place.file, division.place.line, division.name, nth);
      }
      return all;
    };
    using Key = std::tuple<std::string, std::uint32_t, std::string, std::uint32_t>;
    std::vector<std::map<Key, const Division*>> by_key;
    for (const Evaluation* plan : plans_) {
      auto& divisions = by_key.emplace_back();
      const auto all = keys(*plan);
      for (std::size_t i = 0; i < all.size(); ++i) divisions[all[i]] = &plan->origins.divisions[i];
    }
    const auto first_keys = keys(*plans_.front());
    for (std::size_t i = 0; i < first_keys.size(); ++i) {
      DividedRow& row = divisions_.emplace_back();
      row.first = &plans_.front()->origins.divisions[i];
      for (const auto& divisions : by_key) {
        const auto found = divisions.find(first_keys[i]);
        const bool there = found != divisions.end();
        const auto text = [&](std::int64_t number) {
          return there ? std::optional(std::to_string(number)) : std::nullopt;
        };
        row.quotient.push_back(text(there ? found->second->quotient : 0));
        row.number.push_back(text(there ? found->second->number : 0));
        for (const auto& [name, unused] : row.first->by) {
          const auto divisor = there ? found->second->by.find(name) : row.first->by.end();
          const bool has = there && divisor != found->second->by.end();
          row.by[name].push_back(has ? std::optional(std::to_string(divisor->second)) : std::nullopt);
        }
      }
    }
  }

  // The quantity with these values; one of the same name is accepted without proof, others only if the values differ
  // between plans. Causes come before their consequences.
  const Quantity* QuantityOf(const std::string& name, const Row& row, const Subject* but = nullptr) const {
    const Quantity* found = nullptr;
    for (const Quantity& quantity : quantities_) {
      if (quantity.row != row || (but != nullptr && quantity.subject == *but)) continue;
      if (!name.empty() && quantity.subject.name == name) return &quantity;
      if (found == nullptr && Varies(row)) found = &quantity;
    }
    return found;
  }

  bool AddEqual(const Row& row) {
    if (!Varies(row) || std::any_of(row.begin(), row.end(), [](const auto& value) { return !value; })) return false;
    const Quantity* quantity = QuantityOf("", row);
    if (quantity != nullptr) AddLink(*quantity, quantity->subject.name, 0);
    return quantity != nullptr;
  }

  void BelowDivision(const DividedRow& division, std::uint32_t depth) {
    AddOperand(division.first->name, division.number, depth);
    for (const auto& [name, row] : division.by) AddOperand(name, row, depth);
  }

  void AddOperand(const std::string& name, const Row& row, std::uint32_t depth) {
    if (const Quantity* quantity = QuantityOf(name, row)) {
      AddLink(*quantity, name, depth);
    } else {
      links_.push_back({depth, name, row.front().value_or(""), "", {}, ""});
    }
  }

  void AddLink(const Quantity& quantity, const std::string& name, std::uint32_t depth) {
    ChainLink link = LinkTo(*plans_.front(), quantity.subject.name);
    link.depth = depth;
    if (quantity.subject.kind == SubjectKind::kDerived) {
      link.name = quantity.subject.name;
      link.value = quantity.row.front().value_or("");
      link.source = "derived";
      link.place = plans_.front()->origins.derived.at(quantity.subject.name);
      if (const DividedRow* division = DivisionOf(quantity.row)) link.formula = Formula(*division);
    }
    if (name != link.name && !name.empty()) link.name = name + " = " + link.name;
    const bool is_new = reported_.insert(SubjectText(quantity.subject)).second;
    links_.push_back(std::move(link));
    if (is_new && quantity.subject.kind == SubjectKind::kDerived) BelowDerived(quantity.subject, depth + 1);
  }

  std::span<const Evaluation* const> plans_;
  std::vector<Quantity> quantities_;  // parameters, the cluster, derived values
  std::vector<DividedRow> divisions_;
  std::vector<ChainLink> links_;
  std::set<std::string> reported_;
};

// The links below the subject: through exact divisions to parameters and the cluster. `plans` are the plan to be
// explained and those made to explain it; `reported` is the subject's value in each, as one text, or nothing if it has
// several.
Chain ChainBelow(std::span<const Evaluation* const> plans, const Subject& subject,
                 std::span<const std::optional<std::string>> reported) {
  Tracer tracer(plans);
  Chain chain;
  if (subject.kind == SubjectKind::kCluster) {
    chain.formula = LinkTo(*plans.front(), subject.name).formula;
  } else if (subject.kind == SubjectKind::kDerived) {
    if (const DividedRow* division = tracer.DivisionOf(Row(reported.begin(), reported.end()))) {
      chain.formula = Tracer::Formula(*division);
    }
    tracer.BelowDerived(subject, 0);
  } else {
    tracer.BelowText(reported);
  }
  chain.links = tracer.Take();
  return chain;
}

// The links of a derived value and below, for a subject that may be computed from it.
std::vector<ChainLink> ChainFrom(std::span<const Evaluation* const> plans, const std::string& derived) {
  Tracer tracer(plans);
  tracer.From({SubjectKind::kDerived, derived});
  return tracer.Take();
}

ChainLink LinkTo(const Evaluation& evaluation, const std::string& name) {
  for (const ParameterState& state : evaluation.parameters) {
    if (state.parameter.name != name || !state.active) continue;
    const auto [source, place] = SourceOf(state);
    return {0, name, state.value ? ToText(*state.value) : "", source, place, ""};
  }
  std::string product;
  for (const ClusterNumber& number : evaluation.origins.cluster) {
    const auto [source, place] = SourceOf(number);
    if (number.name == name) return {0, name, std::to_string(number.value), source, place, ""};
    product += (product.empty() ? "" : " × ") + number.name + " " + std::to_string(number.value) + " (" + source + ")";
  }
  const auto devices = WholeValue(evaluation, {SubjectKind::kCluster, "devices"});
  if (name == "devices" && devices) return {0, name, ToText(*devices), "", {}, product};
  return {0, name, "", "", {}, ""};
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
    constexpr int kMaxPlans = 3;
    constexpr int kMaxFailures = 8;
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
      if (made == kMaxPlans || failures == kMaxFailures) break;
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
