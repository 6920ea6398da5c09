// The environment of this process.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace muster {

// "NAME=value" each; valid until the environment is changed.
inline std::vector<const char*> OwnEnvironment() {
  std::vector<const char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  return variables;
}

// The same as copies.
inline std::vector<std::string> OwnVariables() {
  const std::vector<const char*> variables = OwnEnvironment();
  return {variables.begin(), variables.end()};
}

// The same with changes: "NAME=value" sets a variable, "NAME" removes it.
inline std::vector<std::string> ChangedEnvironment(const std::vector<std::string>& changes) {
  std::vector<std::string> variables;
  for (const std::string_view variable : OwnEnvironment()) {
    const std::string_view name = variable.substr(0, variable.find('='));
    const bool changed = std::any_of(changes.begin(), changes.end(), [name](std::string_view change) {
      return change.substr(0, change.find('=')) == name;
    });
    if (!changed) variables.emplace_back(variable);
  }
  for (const std::string& change : changes) {
    if (change.find('=') != std::string::npos) variables.push_back(change);
  }
  return variables;
}

}  // namespace muster
