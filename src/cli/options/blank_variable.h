// What muster was given in its own environment, out of sight: /proc/PID/environ shows it to every process of the
// user for as long as muster lives, and muster's agent would inherit it.
#pragma once

#include <string>

namespace muster {

// Overwrites the variable's value with nothing where it stands; copies made before are left alone. Does nothing for
// a variable that is not set, and for an empty name.
void BlankVariable(const std::string& name);

}  // namespace muster
