// Subjects of explanations: resolves names in a plan (a parameter, a number of the cluster, a derived value, an
// attribute of the context, a variable, a word of a command), and finds the subject's value, for each process if they
// differ, and its source.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluator/evaluator.h"
#include "muster/mindspore/schema.h"
#include "muster/result.h"

namespace muster {

// Resolves names in a plan: a parameter, a number of the cluster, a derived value, an attribute of the context, a
// variable, a word of a command.

// Ordered by precedence: of kinds that share a name, the first is meant.
enum class SubjectKind : std::uint8_t { kParameter, kCluster, kDerived, kAttribute, kVariable, kCommand };

struct Subject {
  SubjectKind kind = SubjectKind::kParameter;
  std::string name;  // "lr"; "hosts"; "set_context.mode"; "MS_ROLE"; "--layers", or "command" for a whole one

  bool operator==(const Subject&) const = default;
};

// "parameter", "cluster", "derived", "attribute", "variable", "command".
std::string_view SubjectKindName(SubjectKind kind);
// "variable:MS_ROLE": an unambiguous spelling.
std::string SubjectText(const Subject& subject);

// The release whose context API the plan is checked against, with its schema; null schema: no attributes.
struct ContextApi {
  const Schema* schema = nullptr;
  Release release;
};

// All meanings of the name, by precedence. `name` may be in the form of SubjectText. Kind "unknown_name" if it has no
// meaning (with the nearest names), "ambiguous_name" if one kind has it more than once.
Result<std::vector<Subject>> FindSubjects(const Evaluation& evaluation, const ContextApi& api, const std::string& name);

// The value of a subject in a plan, for each process if they differ, and its source.

// Selects processes; empty: all.
struct ProcessFilter {
  std::optional<std::string> role;
  std::optional<std::uint32_t> rank;  // in roles without ranks, the number
};

// Indices into Plan::processes, ascending. With a rank and no role: processes of that rank, or, if there are none,
// those of that number. Kind "no_process" if there are none.
Result<std::vector<std::uint32_t>> ChosenProcesses(const Plan& plan, const ProcessFilter& filter);

// The value as text: either for the whole job or, by role and index, for processes.
struct SubjectValue {
  std::optional<std::string> whole;
  std::map<std::pair<std::string, std::uint32_t>, std::string> of;

  bool operator==(const SubjectValue&) const = default;
};

SubjectValue ValueOf(const Evaluation& evaluation, const ContextApi& api, const Subject& subject,
                     const std::vector<std::uint32_t>& processes);

// A value with its source, for processes with equal ones.
struct SourcedValue {
  std::string processes;  // "worker 0-7"; empty: the whole job
  std::string text;       // plan/text/folded_texts.h
  bool rule = false;
  std::string source;  // "default", "command line", "contract mindspore", "each", "default of MindSpore 1.6.2"
  Place place;
  bool absent = false;  // there is no value, and `text` says why

  bool operator==(const SourcedValue&) const = default;
};

// Empty for a variable that the chosen processes neither get nor lose. Sources of variables and of settings made by
// `each` are those of the process of its role that the evaluation explains.
std::vector<SourcedValue> ValuesOf(const Evaluation& evaluation, const ContextApi& api, const Subject& subject,
                                   const std::vector<std::uint32_t>& processes);

// The source of a parameter or a number of the cluster.
std::pair<std::string, Place> SourceOf(const ParameterState& state);
std::pair<std::string, Place> SourceOf(const ClusterNumber& number);

// The value for the whole job: of a parameter, a derived value, "hosts" or "devices".
std::optional<Value> WholeValue(const Evaluation& evaluation, const Subject& subject);

// What can be set from outside of a recipe: its parameters, and the numbers of the cluster.

struct Settable {
  Parameter parameter;
  std::optional<Value> value;
};

// By name; without parameters of variants that are not selected.
std::vector<Settable> Settables(const Evaluation& evaluation);

}  // namespace muster
