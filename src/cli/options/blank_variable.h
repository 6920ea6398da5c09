// Hides a variable of muster's own environment: /proc/PID/environ shows it to every process of the user while muster
// runs, and muster's agent would inherit it.
#pragma once

#include <string>

namespace muster {

// Overwrites the variable's value in place; copies made before are unaffected. Does nothing for a variable that is not
// set, and for an empty name.
void BlankVariable(const std::string& name);

}  // namespace muster
