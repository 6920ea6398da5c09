// The environment of this process, for a child that inherits it.
#pragma once

#include <vector>

#include <unistd.h>

namespace muster {

inline std::vector<const char*> OwnEnvironment() {
  std::vector<const char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  return variables;
}

}  // namespace muster
