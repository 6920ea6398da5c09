#include "explain/subject.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/values/shell_quote.h"
#include "base/values/suggest.h"

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

}  // namespace muster
