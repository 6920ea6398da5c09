// Validates plans: everything that a plan decoded from untrusted bytes must satisfy before it may run, also after
// words such as a debugger were put before its commands. A plan that muster made itself always passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/plan.h"

namespace muster {

// Validates plans: everything that a plan decoded from untrusted bytes must satisfy before it may run. A plan that
// muster made itself always passes.

inline constexpr std::size_t kMaxPlanBytes = 64U << 20;

// Errors of kind "plan_invalid", at most 20 of them:
// - at most kMaxProcesses processes and kMaxPlanBytes of text; every text is UTF-8 without NUL;
// - the plan's name, if any, is a valid run name (base/values/quoting.h); names and labels of hosts are
//   valid host names;
// - role, port and secret names are unique, 1 to 128 of [A-Za-z0-9_.-] and neither "." nor ".."; paths
//   of files begin with files/, without empty, "." or ".." parts; host labels are unique and not empty;
// - roles, processes, hosts, devices and ports refer to existing items; processes are sorted by role,
//   then index; no device is used twice; ranks of a world are 0 … world_size - 1, each once;
// - every process has a command (exactly one text if its role uses a shell); variable names are valid in
//   an environment; stop signals are known; numbers are finite, and values are not nested deeper than
//   32;
// - placeholders are well-formed and name existing ports, secrets and hosts; a secret is a whole
//   variable, file or context value, and occurs nowhere else; its source is named.
Diagnostics ValidatePlan(const Plan& plan);

// [A-Za-z0-9_.-]{1,128}, neither "." nor "..": names that can be part of a path and of a placeholder.
bool IsPlanName(std::string_view name);

// Wrapping: words put before the command of processes, such as a debugger or a profiler. Ranks, environment and context
// of the plan remain unchanged.

struct Wrapping {
  std::string role;
  std::optional<std::uint32_t> index;  // within the role; empty: all of its processes
  std::vector<std::string> words;      // placeholders are filled as in any command

  bool operator==(const Wrapping&) const = default;
};

// Parses "worker:3=gdb --args" or "worker=nsys profile": the words are split by ShellWords. Kind "wrap".
Result<Wrapping> ParseWrapping(std::string_view text);

// Puts the words before the selected commands of a plan in canonical form; "python3 -m pdb" takes the place of a
// command's own Python, since such modules take a script. Already wrapped commands are wrapped once
// more. Kind "wrap" if there is no such role or process, else the errors of ValidatePlan for the words.
Result<void> Wrap(Plan& plan, const Wrapping& wrapping);

}  // namespace muster
