// The entries of PYTHONPATH by which a launched Python finds muster's Python side, and so whether it gets its context
// automatically; also reads this from a plan (docs/python.md).
//
// Handles paths below the run directory and the form of commands; opens nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "muster/plan.h"

namespace muster {

// The folder below the run directory that holds muster_context/ and site/.
inline constexpr std::string_view kPythonFolder = "python";

enum class PythonUse : std::uint8_t {
  kNone,
  kOffered,  // a script can import muster_context
  kApplied   // … and the context is applied as soon as it imports mindspore
};

// The beginning of PYTHONPATH that has this effect; empty for kNone. It has no empty entry.
Text PythonPath(PythonUse use);

// The use that the environment of a process in a plan implies.
PythonUse PythonUseOf(const Variables& env);
// Whether any process of the plan needs the folder.
bool WantsPython(const Plan& plan);

// Whether the command itself names a Python interpreter or script. Programs that a shell or another program runs are
// not considered.
bool RunsPython(const std::vector<Text>& command);
// Whether any word names one, or a launcher of Python scripts such as torchrun; also within a shell text: "cd src &&
// python3 train.py". Offering muster's packages to such a command is harmless.
bool MentionsPython(const std::vector<Text>& command);

}  // namespace muster
