// The differences between two plans, folded over processes: a change that several processes share is reported once,
// with its cause as far as that is known, as text for users and as JSON. Pure. Time grows with the number of values
// of both plans, not with its square.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The differences between two plans, folded over processes: a change that several processes share is reported once.
// Pure. The causes of changes are added by the caller.
//
// Time grows with the number of values of both plans, not with its square.

struct Plan;

// One text on each side; nothing if missing there. Texts of processes are folded (plan/text/folded_texts.h).
struct ChangedText {
  std::string processes;  // "worker 0-7", ranked as in the first plan; empty: of the plan, or of a role as a whole
  std::vector<std::uint32_t> ids = {};  // the same as indices into the first plan's processes
  std::optional<std::string> before = {};
  std::optional<std::string> after = {};

  bool operator==(const ChangedText&) const = default;
};

struct PlanChange {
  // In causal order, which is also the order of output.
  enum class Kind : std::uint8_t {
    kDerived,
    kPlan,      // a line of the canonical text that is neither about roles nor about processes: `name` is its beginning
    kHosts,     // number of hosts, and devices of each
    kFile,      // `name` is its path; the texts are the first line that differs, `lines` all of them
    kRole,      // a role's own facts; `name` is the beginning of the line, or "processes": their number
    kPlace,     // of processes: "host", "devices", "rank", "stage", …
    kContext,   // of processes, like all below: "set_context.mode"
    kCommand,   // a word ("--layers", "command[2]"), or "command" if the number of words differs
    kFolder,    // cwd
    kVariable,  // an environment variable
  };
  Kind kind = Kind::kPlan;
  std::string role;  // empty for the first four
  std::string name;
  std::vector<ChangedText> texts;
  std::vector<std::string> lines = {};  // of a file that both plans have: its unified diff

  bool operator==(const PlanChange&) const = default;
};

// "derived", "plan", "hosts", "file", "role", "place", "context", "command", "cwd", "variable".
std::string_view PlanChangeName(PlanChange::Kind kind);

// By kind, role (in the first plan's order) and name. Parameters are causes, not changes. Empty if both plans would run
// the same and derive the same values. Plans must be folded. Processes are paired by role and index.
std::vector<PlanChange> DiffPlans(const Plan& a, const Plan& b);

// The same for plans read from their texts (plan/text/plan_text.h): `rest_…` are the lines that the plans do not hold.
std::vector<PlanChange> DiffPlans(const Plan& a, std::string_view rest_a, const Plan& b, std::string_view rest_b);

// The same for two processes of one plan: kinds kPlace to kVariable, without `processes`.
std::vector<PlanChange> DiffProcesses(const Plan& plan, std::uint32_t a, std::uint32_t b);

// Groups the changes between two plans by cause, as far as the effect of each single cause is known. Pure: the caller
// has made the plans and knows their inputs.

// An input that differs: a parameter, the cluster, the text of the recipe, or another part of the call.
struct PlanCause {
  std::string kind;  // "parameter", "cluster", "recipe", "call"
  std::string name;
  std::optional<std::string> before;
  std::optional<std::string> after;
  std::string source;                // origin of the new value: "command line", "recipes/gpt.lua:12"; may be empty
  std::vector<std::string> details;  // further lines for users, such as the recipe's changed lines
  // The changes that it produces alone, if known; else `why_not` has the reason in one line, empty if it was not tried.
  std::optional<std::vector<PlanChange>> alone;
  std::string why_not;
};

// Changes with the same causes. No causes: unknown, or no cause that was tried alone produces them.
struct CausedChanges {
  std::vector<std::size_t> causes;   // indices, ascending
  std::vector<std::size_t> changes;  // indices, ascending
  bool together = false;             // none of the causes produces the changes alone

  bool operator==(const CausedChanges&) const = default;
};

// Every change is in one group, every cause in at least one; groups of single causes come first, in their order.
// Changes that no cause produces alone are attributed to the causes that could not be tried alone, or else to all of
// them together. A single cause gets all changes, tried or not.
std::vector<CausedChanges> GroupByCause(const std::vector<PlanChange>& changes, const std::vector<PlanCause>& causes);

// The difference of two plans as text for users and as JSON.

struct DiffedSide {
  std::string name;     // as the user named it: "recipes/gpt.lua lr=0.2", "gpt~1"
  std::string plan_id;  // the full id
};

// A final metric of the two, if they are runs.
struct DiffedMetric {
  std::string name;  // "worker.loss"
  std::optional<std::string> before = {};
  std::optional<std::string> after = {};
};

struct PlanDifference {
  DiffedSide a;
  DiffedSide b;
  std::vector<PlanCause> causes;
  std::vector<PlanChange> changes;
  std::vector<std::string> notes;  // one line each: questions that could not be answered
  bool of_processes = false;       // compares two processes of one plan
  std::vector<DiffedMetric> metrics = {};
};

// Whether both plans would run the same.
bool IsSamePlan(const PlanDifference& diff);

// "1 parameter differs, hence 2 derived values, hence 3 variables of 8 processes".
std::string DiffSummary(const PlanDifference& diff);

// A summary, then each cause with the changes that follow from it. Safe for a terminal.
std::string DiffText(const PlanDifference& diff);

// A line for each of the first changes: "command --seed: 17 → 42 (worker 0-7)"; a last line counts the others. Safe for
// a terminal.
std::vector<std::string> ChangeLines(const std::vector<PlanChange>& changes, std::size_t most);

// {"format": 1, "same_plan": …, …}: docs/explain.md.
std::string DiffJson(const PlanDifference& diff);
// Its schema (wire/archive/json_schema.h).
std::string DiffSchema();

}  // namespace muster
