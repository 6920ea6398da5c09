// Where a value of a plan comes from: who gave it, what it was made of, which parameters it depends on, and which of
// them have no effect. Found by planning again with one parameter after the other changed a little
// (settings/parameters/nudge.h), so it holds for recipes that nobody annotated, and for what a change of one parameter
// shows.
//
// Knows no command line; plans are made by who asks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/subject_value.h"
#include "plan/text/plan_diff.h"

namespace muster {

struct ExplainQuestion {
  std::string name;
  ProcessFilter processes;
};

// The plan with these overrides besides those of the command line, the last ones winning; `process` as in
// EvaluationRequest::explain.
using PlanAgain = std::function<Result<Evaluation>(const std::vector<Override>& more, const std::string& process,
                                                   EvaluationDepth depth)>;

// A value that another one was made of.
struct ChainLink {
  std::uint32_t depth = 0;
  std::string name;
  std::string value;
  std::string source;  // "default", "command line", "derived", …; may be empty
  Place place;
  std::string formula;  // "devices 8 / (pipeline_stages 2 × tensor_parallel_size 2)"; may be empty

  bool operator==(const ChainLink&) const = default;
};

// What changing one parameter (or number of the cluster) showed.
struct Dependence {
  enum class Kind : std::uint8_t {
    kChanges,    // the value
    kProcesses,  // which processes there are to have it, and not the value of those that stay
    kNone,
    kUntried,  // no other value leads to a plan
  };
  std::string name;
  Kind kind = Kind::kNone;
  std::string why;  // kUntried: what stands against it

  bool operator==(const Dependence&) const = default;
};

// A place that refuses values, and how many.
struct Refusal {
  std::string what;  // "recipes/pipeline.lua:28", or a message that has no place
  std::size_t count = 0;

  bool operator==(const Refusal&) const = default;
};

// Which whole numbers a parameter could have, others staying as they are.
struct Possible {
  std::vector<std::int64_t> numbers;
  std::size_t tried = 0;
  std::string told;  // which were tried
  std::vector<Refusal> refusals;

  bool operator==(const Possible&) const = default;
};

struct Explanation {
  Subject subject;
  std::vector<ToldValue> values;
  std::string formula;                  // of a derived value: the division that gave it; may be empty
  std::string allowed;                  // of a parameter: "int >= 1"
  std::string doc;                      // of a parameter
  std::vector<ChainLink> chain;         // what the value was made of, the nearest first
  std::vector<Dependence> dependences;  // by name; none for parameters
  std::vector<PlanChange> leads_to;     // of parameters: what changed with them
  Dependence own;                       // of parameters: whether anything did
  std::optional<Possible> possible;     // of parameters of type int and the cluster's
  std::vector<Subject> also;            // what else the name means
  std::size_t plans = 0;                // how many were made
};

// Fails as the recipe's own plan does, and with the kinds of FindSubjects and ChosenProcesses. `schema` may be null.
Result<Explanation> Explain(const ExplainQuestion& question, const Schema* schema, const PlanAgain& plan_again);

// For people; safe for a terminal.
std::string ExplanationText(const Explanation& explanation);
// {"format": 1, …}: docs/explain.md.
std::string ExplanationJson(const Explanation& explanation);

}  // namespace muster
