// Wrapping: words put before the command of processes, a debugger or a profiler. Changes a plan that is otherwise
// settled: ranks, environment and context stay what they are.
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
  std::optional<std::uint32_t> index;  // within the role; else all of it
  std::vector<std::string> words;      // holes are filled as in any command

  bool operator==(const Wrapping&) const = default;
};

// "worker:3=gdb --args", "worker=nsys profile": the words are split by ShellWords. Kind "wrap".
Result<Wrapping> ParseWrapping(std::string_view text);

// The plan, in its canonical form, with these words before the commands named; what is wrapped already is wrapped once
// more. Kind "wrap" if there is no such role or process, else what ValidatePlan says of the words.
Result<void> Wrap(Plan& plan, const Wrapping& wrapping);

}  // namespace muster
