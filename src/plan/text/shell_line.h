// One process of a plan as text for a POSIX shell, to be pasted to run it by hand with the environment that it would
// get. Pure: opens no file.
#pragma once

#include <map>
#include <string>

#include "muster/binding.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

struct ShellBinding {
  const Binding* binding = nullptr;  // fills the placeholders; null: each becomes a shell variable that must be set
  // The path to use for the command's first word, if known.
  std::string program;
};

// Comments first: the process, and the variables that must be set before. Then one command in a subshell, which leaves
// the outer shell unchanged. The process inherits the environment of that shell, except variables that the plan
// removes. A secret is read from its source and exported by the subshell: it is neither in the text nor in an argument.
// The environment of the site is below that of the role; if the plan has an activation, which comes between the two,
// comments state it. The attempt is the first. Kind "binding" if the binding lacks a value for a placeholder, or a
// shell cannot export a variable that holds a secret.
Result<std::string> ShellLine(const Plan& plan, const Process& process, const ShellBinding& bound);

}  // namespace muster
