// Where a launched Python finds muster's own Python side, and so whether it gets its context without asking:
// what muster writes into PYTHONPATH, and what a plan says by it (docs/python.md).
//
// Knows paths below the run directory and the looks of a command; opens nothing.
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

// What the environment of a process says, in a plan.
PythonUse PythonUseOf(const Variables& env);
// Whether any process of the plan wants the folder.
bool WantsPython(const Plan& plan);

// Whether the command itself names a Python or a script of it. What a shell or another program runs in turn is
// not looked at.
bool RunsPython(const std::vector<Text>& command);
// Whether any of its words does, in a text for a shell too: "cd src && python3 train.py". It can do no harm to offer
// muster_context to such a command.
bool MentionsPython(const std::vector<Text>& command);

}  // namespace muster
