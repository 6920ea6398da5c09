// What a name means in a plan: a parameter, a number of the cluster, a derived value, an attribute of the context, a
// variable, a word of a command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "muster/schema.h"

namespace muster {

// In this order: of kinds that share a name, the first is meant.
enum class SubjectKind : std::uint8_t { kParameter, kCluster, kDerived, kAttribute, kVariable, kCommand };

struct Subject {
  SubjectKind kind = SubjectKind::kParameter;
  std::string name;  // "lr"; "hosts"; "set_context.mode"; "MS_ROLE"; "--layers", or "command" for a whole one

  bool operator==(const Subject&) const = default;
};

// "parameter", "cluster", "derived", "attribute", "variable", "command".
std::string_view SubjectKindName(SubjectKind kind);
// "variable:MS_ROLE": a spelling that means nothing else.
std::string SubjectText(const Subject& subject);

// The release whose context API the plan is checked against, with the schema; without one, there are no attributes.
struct ContextApi {
  const Schema* schema = nullptr;
  Release release;
};

// All that the name means, the one that is meant first. `name` may be spelled as SubjectText does it. Kind
// "unknown_name" if it means nothing (with the nearest names), "ambiguous_name" if one kind has it more than once.
Result<std::vector<Subject>> FindSubjects(const Evaluation& evaluation, const ContextApi& api, const std::string& name);

}  // namespace muster
