#include "explain/subject.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "plan/environment/environment.h"
#include "plan/text/folded_texts.h"

namespace muster {
namespace {

constexpr std::array<std::string_view, 6> kKindNames = {"parameter", "cluster",  "derived",
                                                        "attribute", "variable", "command"};

struct Known {
  std::vector<Subject> subjects;
  std::set<std::string> seen;

  void Add(SubjectKind kind, std::string name) {
    Subject subject{kind, std::move(name)};
    if (seen.insert(SubjectText(subject)).second) subjects.push_back(std::move(subject));
  }
};

void AddAttributes(const Plan& plan, const ContextApi& api, Known& known) {
  const auto add = [&](const ContextValues& context) {
    for (const auto& [key, unused] : context) known.Add(SubjectKind::kAttribute, key);
  };
  for (const Role& role : plan.roles) add(role.context);
  for (const Process& process : plan.processes) add(process.context);
  if (api.schema == nullptr) return;
  for (const std::string& function : api.schema->Functions()) {
    for (const std::string& name : api.schema->Names(function, api.release)) {
      known.Add(SubjectKind::kAttribute, function + "." + name);
    }
  }
}

void AddVariables(const Plan& plan, Known& known) {
  std::set<std::string_view> names;
  for (const Role& role : plan.roles) {
    for (const auto& [name, unused] : role.env) names.insert(name);
    for (const std::string& name : role.unset) names.insert(name);
  }
  for (const Process& process : plan.processes) {
    for (const auto& [name, unused] : process.env) names.insert(name);
  }
  for (const auto& [name, unused] : plan.site_environment.set) names.insert(name);
  for (const std::string& name : plan.site_environment.unset) names.insert(name);
  for (const std::string_view name : names) known.Add(SubjectKind::kVariable, std::string(name));
}

void AddCommands(const Plan& plan, Known& known) {
  known.Add(SubjectKind::kCommand, "command");
  std::set<std::string_view> words;
  const auto add = [&](const std::vector<Text>& command) {
    for (const Text& word : command) words.insert(word.marked);
  };
  for (const Role& role : plan.roles) add(role.command);
  for (const Process& process : plan.processes) {
    if (process.command) add(*process.command);
  }
  for (const std::string_view word : words) known.Add(SubjectKind::kCommand, std::string(word));
}

Known EverythingNamed(const Evaluation& evaluation, const ContextApi& api) {
  Known known;
  for (const ParameterState& state : evaluation.parameters) known.Add(SubjectKind::kParameter, state.parameter.name);
  for (const ClusterNumber& number : evaluation.origins.cluster) known.Add(SubjectKind::kCluster, number.name);
  known.Add(SubjectKind::kCluster, "devices");
  for (const auto& [name, unused] : evaluation.origins.derived) known.Add(SubjectKind::kDerived, name);
  AddAttributes(evaluation.plan, api, known);
  // A value that muster derives is an attribute's, or has a name of its own.
  const auto is_attribute = [&](const std::string& name) {
    return std::any_of(known.subjects.begin(), known.subjects.end(), [&](const Subject& subject) {
      return subject.kind == SubjectKind::kAttribute && subject.name.ends_with("." + name);
    });
  };
  for (const auto& [name, unused] : evaluation.plan.derived) {
    if (!is_attribute(name)) known.Add(SubjectKind::kDerived, name);
  }
  AddVariables(evaluation.plan, known);
  AddCommands(evaluation.plan, known);
  std::stable_sort(known.subjects.begin(), known.subjects.end(),
                   [](const Subject& a, const Subject& b) { return a.kind < b.kind; });
  return known;
}

// Attributes are also found by their own names, numbers of the cluster also by "cluster.hosts".
bool IsCalled(const Subject& subject, std::string_view name) {
  if (subject.name == name) return true;
  if (subject.kind == SubjectKind::kCluster) return name == "cluster." + subject.name;
  if (subject.kind != SubjectKind::kAttribute) return false;
  const std::size_t dot = subject.name.find('.');
  return dot != std::string::npos && std::string_view(subject.name).substr(dot + 1) == name;
}

}  // namespace

std::string_view SubjectKindName(SubjectKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::string SubjectText(const Subject& subject) {
  return std::string(SubjectKindName(subject.kind)) + ":" + subject.name;
}

Result<std::vector<Subject>> FindSubjects(const Evaluation& evaluation, const ContextApi& api,
                                          const std::string& name) {
  const Known known = EverythingNamed(evaluation, api);
  std::string_view wanted = name;
  std::optional<SubjectKind> of_kind;
  if (const std::size_t colon = name.find(':'); colon != std::string::npos) {
    const auto kind = std::find(kKindNames.begin(), kKindNames.end(), name.substr(0, colon));
    if (kind != kKindNames.end()) {
      of_kind = static_cast<SubjectKind>(kind - kKindNames.begin());
      wanted.remove_prefix(colon + 1);
    }
  }
  std::vector<Subject> found;
  for (const Subject& subject : known.subjects) {
    if ((!of_kind || subject.kind == *of_kind) && IsCalled(subject, wanted)) found.push_back(subject);
  }
  if (found.empty()) {
    std::vector<std::string> names;
    for (const Subject& subject : known.subjects) {
      if (of_kind && subject.kind != *of_kind) continue;
      names.push_back(subject.name);
      const std::size_t dot = subject.kind == SubjectKind::kAttribute ? subject.name.find('.') : std::string::npos;
      if (dot != std::string::npos) names.push_back(subject.name.substr(dot + 1));
    }
    return Fail(Error("unknown_name", {},
                      "the plan of " + evaluation.name + " has nothing called " + Quoted(std::string(wanted)),
                      DidYouMean(wanted, names)));
  }
  std::vector<std::string> same;
  for (const Subject& subject : found) {
    if (subject.kind == found.front().kind) same.push_back(SubjectText(subject));
  }
  if (same.size() > 1) {
    std::string all;
    for (const std::string& text : same) all += (all.empty() ? "" : ", ") + text;
    return Fail(Error("ambiguous_name", {}, Quoted(name) + " means " + std::to_string(same.size()) + " things",
                      "name one of them: " + all));
  }
  return found;
}

namespace {

std::int64_t AllDevices(const Plan& plan) {
  std::int64_t devices = 0;
  for (const PlanHost& host : plan.hosts) devices += host.devices;
  return devices;
}

template <class Map>
const typename Map::mapped_type* Find(const Map& own, const Map& common, const std::string& name) {
  if (const auto found = own.find(name); found != own.end()) return &found->second;
  const auto found = common.find(name);
  return found == common.end() ? nullptr : &found->second;
}

// The value of an attribute that the plan does not set.
std::optional<std::string> DefaultText(const Plan& plan, const ContextApi& api, const std::string& key) {
  if (api.schema == nullptr) return std::nullopt;
  const std::size_t dot = key.find('.');
  const Attribute* attribute = api.schema->Find(key.substr(0, dot), key.substr(dot + 1), api.release);
  if (attribute == nullptr) return std::nullopt;
  if (!attribute->default_text.empty()) return attribute->default_text;
  for (const Role& role : plan.roles) {
    const auto target = role.context.find("set_context.device_target");
    if (target == role.context.end() || target->second.AsString() == nullptr) continue;
    const auto found = attribute->default_on.find(*target->second.AsString());
    if (found != attribute->default_on.end()) return ToText(found->second);
  }
  return ToText(attribute->default_value);
}

// The word, and the word after a flag.
std::optional<std::string> WordText(const std::vector<Text>& command, const std::string& word) {
  if (word == "command") {
    std::string text;
    for (const Text& one : command) text += (text.empty() ? "" : " ") + ShellQuoted(one.marked);
    return text;
  }
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i].marked != word) continue;
    const bool has_value = word.starts_with("-") && i + 1 < command.size() && !command[i + 1].marked.starts_with("-");
    return ShellQuoted(word) + (has_value ? " " + ShellQuoted(command[i + 1].marked) : "");
  }
  return std::nullopt;
}

const std::string* Covering(const std::vector<std::string>& patterns, const std::string& variable) {
  const auto found = std::find_if(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return pattern == variable || Matches(pattern, variable);
  });
  return found == patterns.end() ? nullptr : &*found;
}

// The pattern by which the role removes the inherited variable.
const std::string* Removing(const Role& role, const std::string& variable) { return Covering(role.unset, variable); }

// The process's value; nothing if it has none.
std::optional<std::string> ProcessValue(const Plan& plan, const Process& process, const Subject& subject) {
  const Role& role = plan.roles[process.role];
  switch (subject.kind) {
    case SubjectKind::kAttribute: {
      const Value* value = Find(process.context, role.context, subject.name);
      return value == nullptr ? std::nullopt : std::optional(ToText(*value));
    }
    case SubjectKind::kVariable: {
      const Text* text = Find(process.env, role.env, subject.name);
      if (text != nullptr) return text->marked;
      if (Removing(role, subject.name) != nullptr) return std::nullopt;
      const auto of_site = plan.site_environment.set.find(subject.name);
      return of_site == plan.site_environment.set.end() ? std::nullopt : std::optional(of_site->second);
    }
    case SubjectKind::kCommand:
      return WordText(EffectiveCommand(plan, process), subject.name);
    default:
      return std::nullopt;
  }
}

class ValueCollector {
 public:
  ValueCollector(const Evaluation& evaluation, const ContextApi& api, const Subject& subject)
      : evaluation_(evaluation), plan_(evaluation.plan), api_(api), subject_(subject) {}

  std::vector<SourcedValue> Whole() const {
    const auto value = WholeValue(evaluation_, subject_);
    if (!value) return {};
    const auto [source, place] = WholeSource();
    return {{"", ToText(*value), false, source, place}};
  }

  std::vector<SourcedValue> OfProcesses(const std::vector<std::uint32_t>& processes) const {
    std::vector<SourcedValue> reported;
    for (std::size_t begin = 0; begin < processes.size();) {
      const std::uint32_t role = plan_.processes[processes[begin]].role;
      std::size_t end = begin;
      while (end < processes.size() && plan_.processes[processes[end]].role == role) ++end;
      AddRole(reported, plan_.roles[role],
              std::vector<std::uint32_t>(processes.begin() + static_cast<std::ptrdiff_t>(begin),
                                         processes.begin() + static_cast<std::ptrdiff_t>(end)));
      begin = end;
    }
    return reported;
  }

  // For an attribute that is not set for these processes.
  std::vector<SourcedValue> Unset(const std::vector<std::uint32_t>& processes) const {
    const std::string& name = subject_.name;
    if (name == "set_auto_parallel_context.device_num") {
      if (const auto derived = plan_.derived.find("device_num"); derived != plan_.derived.end()) {
        return {{"", ToText(derived->second), false, "not set; derived: the number of workers, not passed on", {}}};
      }
    }
    if (name == "set_auto_parallel_context.global_rank") {
      std::vector<ProcessText> ranks;
      for (const std::uint32_t process : processes) {
        const Process& one = plan_.processes[process];
        if (plan_.roles[one.role].plays == "worker") {
          ranks.push_back({process, std::to_string(one.rank.value_or(one.index))});
        }
      }
      std::vector<SourcedValue> reported;
      for (FoldedText& folded : FoldTexts(plan_, ranks)) {
        reported.push_back({ProcessesText(plan_, folded.processes),
                            std::move(folded.text),
                            folded.rule,
                            "not set; derived: the process's rank, not passed on",
                            {}});
      }
      return reported;
    }
    const auto text = DefaultText(plan_, api_, name);
    if (!text) return {};
    return {{"", *text, false, "not set; default of MindSpore " + ReleaseText(api_.release), {}}};
  }

 private:
  std::pair<std::string, Place> WholeSource() const {
    if (subject_.kind == SubjectKind::kParameter) {
      for (const ParameterState& state : evaluation_.parameters) {
        if (state.active && state.parameter.name == subject_.name) return SourceOf(state);
      }
    }
    if (subject_.kind == SubjectKind::kCluster) {
      for (const ClusterNumber& number : evaluation_.origins.cluster) {
        if (number.name == subject_.name) return SourceOf(number);
      }
      return {"of all hosts", {}};
    }
    const auto derived = evaluation_.origins.derived.find(subject_.name);
    if (derived == evaluation_.origins.derived.end()) return {"derived by muster", {}};
    return {"derived", derived->second};
  }

  std::pair<std::string, Place> ProcessSource(const Role& role) const {
    const Origins& origins = evaluation_.origins;
    const auto of_role = [&]() -> Place {
      const auto found = origins.roles.find(role.name);
      return found == origins.roles.end() ? Place{} : found->second;
    };
    switch (subject_.kind) {
      case SubjectKind::kVariable: {
        const auto sources = evaluation_.provenance.find(role.name);
        if (sources == evaluation_.provenance.end()) return {};
        const auto source = sources->second.find(subject_.name);
        if (source == sources->second.end()) return {std::string(LayerName(Layer::kMuster)), {}};
        return {LayerText(source->second.layer), source->second.place};
      }
      case SubjectKind::kAttribute: {
        if (const auto each = origins.each_context.find(role.name); each != origins.each_context.end()) {
          if (const auto found = each->second.find(subject_.name); found != each->second.end()) {
            return {"set by each", found->second.place};
          }
        }
        const auto found = origins.context.find(subject_.name);
        if (found == origins.context.end()) return {"set", {}};
        return {"set for the job", found->second.place};
      }
      default: {
        const auto each = origins.commands.find(role.name);
        if (each != origins.commands.end()) return {"set by each", each->second};
        return {"role " + role.name, of_role()};
      }
    }
  }

  std::string LayerText(Layer layer) const {
    return std::string(LayerName(layer)) + (layer == Layer::kContract ? " " + plan_.framework : "");
  }

  void AddRole(std::vector<SourcedValue>& reported, const Role& role,
               const std::vector<std::uint32_t>& processes) const {
    std::vector<ProcessText> texts;
    for (const std::uint32_t process : processes) {
      if (auto value = ProcessValue(plan_, plan_.processes[process], subject_)) {
        texts.push_back({process, *std::move(value)});
      }
    }
    const auto [source, place] = ProcessSource(role);
    for (FoldedText& folded : FoldTexts(plan_, texts)) {
      reported.push_back({ProcessesText(plan_, folded.processes), std::move(folded.text), folded.rule, source, place});
    }
    if (!texts.empty() || subject_.kind != SubjectKind::kVariable) return;
    const std::string* pattern = Removing(role, subject_.name);
    if (pattern == nullptr) pattern = Covering(plan_.site_environment.unset, subject_.name);
    if (pattern == nullptr) return;
    SourcedValue removed{ProcessesText(plan_, processes), "removed from what is inherited", false, "", {}, true};
    const auto sources = evaluation_.provenance.find(role.name);
    if (sources != evaluation_.provenance.end()) {
      if (const auto decided = sources->second.find(*pattern); decided != sources->second.end()) {
        removed.source = LayerText(decided->second.layer);
        removed.place = decided->second.place;
      }
    }
    if (*pattern != subject_.name) removed.source += ", which removes " + *pattern;
    reported.push_back(std::move(removed));
  }

  const Evaluation& evaluation_;
  const Plan& plan_;
  const ContextApi& api_;
  const Subject& subject_;
};

}  // namespace

Result<std::vector<std::uint32_t>> ChosenProcesses(const Plan& plan, const ProcessFilter& filter) {
  std::vector<std::uint32_t> by_rank;
  std::vector<std::uint32_t> by_number;
  bool known_role = !filter.role;
  for (std::uint32_t i = 0; i < plan.processes.size(); ++i) {
    const Process& process = plan.processes[i];
    if (filter.role && plan.roles[process.role].name != *filter.role) continue;
    known_role = true;
    if (!filter.rank || process.rank == filter.rank) by_rank.push_back(i);
    if (!process.rank && process.index == filter.rank) by_number.push_back(i);
  }
  if (!by_rank.empty()) return by_rank;
  if (!by_number.empty()) return by_number;
  std::vector<std::string> roles;
  for (const Role& role : plan.roles) roles.push_back(role.name);
  if (!known_role) {
    return Fail(
        Error("no_process", {}, "the plan has no role " + Quoted(*filter.role), DidYouMean(*filter.role, roles)));
  }
  return Fail(Error("no_process", {},
                    "the plan has no process of that rank: " + std::to_string(filter.rank.value_or(0)),
                    "muster plan shows the ranks of each role"));
}

std::pair<std::string, Place> SourceOf(const ParameterState& state) {
  std::string source(ParameterOriginText(state.origin));
  if (state.origin == ParameterOrigin::kEnvironment) source = "variable " + state.parameter.from_env;
  if (!state.profile.empty()) source += " " + state.profile;
  return {std::move(source), state.origin == ParameterOrigin::kDefault ? state.parameter.place : state.place};
}

std::pair<std::string, Place> SourceOf(const ClusterNumber& number) { return {number.origin, {}}; }

std::optional<Value> WholeValue(const Evaluation& evaluation, const Subject& subject) {
  const Plan& plan = evaluation.plan;
  const auto of = [&](const std::map<std::string, Value>& values) {
    const auto found = values.find(subject.name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  switch (subject.kind) {
    case SubjectKind::kParameter:
      return of(plan.params);
    case SubjectKind::kDerived:
      return of(plan.derived);
    case SubjectKind::kCluster:
      if (subject.name == "devices") return Value(AllDevices(plan));
      for (const ClusterNumber& number : evaluation.origins.cluster) {
        if (number.name == subject.name) return Value(number.value);
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

SubjectValue ValueOf(const Evaluation& evaluation, const ContextApi& api, const Subject& subject,
                     const std::vector<std::uint32_t>& processes) {
  const Plan& plan = evaluation.plan;
  SubjectValue value;
  if (const auto whole = WholeValue(evaluation, subject)) {
    value.whole = ToText(*whole);
    return value;
  }
  for (const std::uint32_t i : processes) {
    const Process& process = plan.processes[i];
    if (auto text = ProcessValue(plan, process, subject)) {
      value.of[{plan.roles[process.role].name, process.index}] = *std::move(text);
    }
  }
  if (!value.of.empty() || subject.kind != SubjectKind::kAttribute) return value;
  for (const SourcedValue& reported : ValueCollector(evaluation, api, subject).Unset(processes))
    value.whole = reported.text;
  return value;
}

std::vector<SourcedValue> ValuesOf(const Evaluation& evaluation, const ContextApi& api, const Subject& subject,
                                   const std::vector<std::uint32_t>& processes) {
  const ValueCollector teller(evaluation, api, subject);
  if (subject.kind <= SubjectKind::kDerived) return teller.Whole();
  std::vector<SourcedValue> reported = teller.OfProcesses(processes);
  if (reported.empty() && subject.kind == SubjectKind::kAttribute) reported = teller.Unset(processes);
  return reported;
}

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

}  // namespace muster
