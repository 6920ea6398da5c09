// In what two plans differ, folded over processes: a change that several share is reported once. Pure. What caused the
// changes is caused_changes.h.
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

// One text on either side; nothing where there is none. Of processes: folded (plan/text/folded_texts.h).
struct ChangedText {
  std::string processes;  // "worker 0-7", as the first plan ranks them; empty: of the plan, or of a role as a whole
  std::vector<std::uint32_t> ids = {};  // the same as indices into the first plan's processes
  std::optional<std::string> before = {};
  std::optional<std::string> after = {};

  bool operator==(const ChangedText&) const = default;
};

struct PlanChange {
  // In the order in which one follows from the other, and in which they are told.
  enum class Kind : std::uint8_t {
    kDerived,
    kPlan,      // a line of the canonical text that is about neither roles nor processes: `name` is its beginning
    kHosts,     // how many there are, and the devices of each
    kFile,      // `name` is its path; the texts are the first line that differs, `lines` all of them
    kRole,      // a role's own facts; `name` is the beginning of the line, or "processes": how many there are
    kPlace,     // of processes: "host", "devices", "rank", "stage", …
    kContext,   // of processes, as the rest: "set_context.mode"
    kCommand,   // a word ("--layers", "command[2]"), or "command" if there are more or fewer of them
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
// the same and derive the same. Plans are folded. Processes are compared by role and index.
std::vector<PlanChange> DiffPlans(const Plan& a, const Plan& b);

// The same of plans that are known from their texts (plan_text_read.h): `rest_…` are the lines that they do not hold.
std::vector<PlanChange> DiffPlans(const Plan& a, std::string_view rest_a, const Plan& b, std::string_view rest_b);

// The same of two processes of one plan: kinds kPlace to kVariable, without `processes`.
std::vector<PlanChange> DiffProcesses(const Plan& plan, std::uint32_t a, std::uint32_t b);

}  // namespace muster
