// Resolves names in a plan: a parameter, a number of the cluster, a derived value, an attribute of the context, a
// variable, a word of a command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evaluator/evaluator.h"
#include "muster/mindspore/schema.h"
#include "muster/result.h"

namespace muster {

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

}  // namespace muster
