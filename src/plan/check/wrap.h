// Wrapping: words put before the command of processes, such as a debugger or a profiler. Ranks, environment and context
// of the plan remain unchanged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/plan.h"

namespace muster {

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
