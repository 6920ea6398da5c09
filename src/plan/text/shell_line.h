// One process of a plan as text for a POSIX shell: what one pastes to run it by hand, with the environment that it
// would get. Pure: opens and asks nothing.
#pragma once

#include <map>
#include <string>

#include "muster/binding.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

struct ShellBinding {
  const Binding* binding = nullptr;  // fills the holes; null: a shell variable stands for each, and must be set
  // The path by which the command's first word is to be called instead, where it is known.
  std::string program;
};

// Comments first: which process it is, and what has to be set before. Then one command in a subshell, which leaves the
// shell that it is pasted into as it was. What the process inherits is what that shell has, less what the plan removes.
// A secret is read where its value is taken from and exported by the subshell: it stands nowhere, and is an argument of
// nothing. What the site says of the environment lies beneath what the role says; where the plan has an activation,
// which comes between the two, comments tell of it. The attempt is the first. Kind "binding" if the binding lacks what
// a hole names, or a shell can not export a variable that holds a secret.
Result<std::string> ShellLine(const Plan& plan, const Process& process, const ShellBinding& bound);

}  // namespace muster
