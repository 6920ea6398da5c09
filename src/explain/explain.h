// Explains a value of a plan: its source, what it was computed from, which parameters it depends on, and which of
// them have no effect. It plans again with one parameter after the other changed slightly
// (settings/values/parameter.h), so it works without annotations in the recipe, and sees effects of changing a single
// parameter.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/subject.h"
#include "plan/text/plan_diff.h"

namespace muster {

// Explains a value of a plan: its source, what it was computed from, which parameters it depends on, and which of
// them have no effect. It plans again with one parameter after the other changed slightly
// (settings/values/parameter.h), so it works without annotations in the recipe, and sees effects of changing a single
// parameter.
//
// Independent of the command line; the caller makes the plans.

struct ExplainQuestion {
  std::string name;
  ProcessFilter processes;
};

// Makes the plan with these overrides besides those of the command line, the last ones winning; `process` as in
// EvaluationRequest::explain.
using PlanAgain = std::function<Result<Evaluation>(const std::vector<Override>& more, const std::string& process,
                                                   EvaluationDepth depth)>;

// A value from which another one was computed.
struct ChainLink {
  std::uint32_t depth = 0;
  std::string name;
  std::string value;
  std::string source;  // "default", "command line", "derived", …; may be empty
  Place place;
  std::string formula;  // "devices 8 / (pipeline_stages 2 × tensor_parallel_size 2)"; may be empty

  bool operator==(const ChainLink&) const = default;
};

// The effect of changing one parameter (or number of the cluster).
struct Dependence {
  enum class Kind : std::uint8_t {
    kChanges,    // the value
    kProcesses,  // which processes have it, but not the value of those that stay
    kNone,
    kUntried,  // no other value gives a plan
  };
  std::string name;
  Kind kind = Kind::kNone;
  std::string why;  // kUntried: the refusal

  bool operator==(const Dependence&) const = default;
};

// A place that refuses values, and their number.
struct Refusal {
  std::string what;  // "recipes/pipeline.lua:28", or a message without a place
  std::size_t count = 0;

  bool operator==(const Refusal&) const = default;
};

// Which whole numbers a parameter could have, with all others unchanged.
struct Possible {
  std::vector<std::int64_t> numbers;
  std::size_t tried = 0;
  std::string description;  // the values that were tried
  std::vector<Refusal> refusals;

  bool operator==(const Possible&) const = default;
};

struct Explanation {
  Subject subject;
  std::vector<SourcedValue> values;
  std::string formula;                  // of a derived value: its division; may be empty
  std::string allowed;                  // of a parameter: "int >= 1"
  std::string doc;                      // of a parameter
  std::vector<ChainLink> chain;         // what the value was computed from, the nearest first
  std::vector<Dependence> dependences;  // by name; none for parameters
  std::vector<PlanChange> leads_to;     // of parameters: what changed with them
  Dependence own;                       // of parameters: whether anything changed
  std::optional<Possible> possible;     // of parameters of type int and the cluster's
  std::vector<Subject> also;            // other meanings of the name
  std::size_t plans = 0;                // number of plans made
};

// Fails as the recipe's own plan does, and with the kinds of FindSubjects and ChosenProcesses. `schema` may be null.
Result<Explanation> Explain(const ExplainQuestion& question, const Schema* schema, const PlanAgain& plan_again);

// For people; safe for a terminal.
std::string ExplanationText(const Explanation& explanation);
// {"format": 1, …}: docs/explain.md.
std::string ExplanationJson(const Explanation& explanation);
// Its schema (wire/archive/json_schema.h).
std::string ExplanationSchema();

}  // namespace muster
