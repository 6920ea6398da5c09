// The differences between two plans, folded over processes: a change that several processes share is reported once.
// Pure. The causes of changes are in caused_changes.h.
//
// Time grows with the number of values of both plans, not with its square.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

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

// The same for plans read from their texts (plan_text_read.h): `rest_…` are the lines that the plans do not hold.
std::vector<PlanChange> DiffPlans(const Plan& a, std::string_view rest_a, const Plan& b, std::string_view rest_b);

// The same for two processes of one plan: kinds kPlace to kVariable, without `processes`.
std::vector<PlanChange> DiffProcesses(const Plan& plan, std::uint32_t a, std::uint32_t b);

}  // namespace muster
