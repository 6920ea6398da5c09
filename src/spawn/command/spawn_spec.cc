#include "spawn/command/spawn_spec.h"

#include <cstring>

#include <fmt/format.h>

namespace muster {

std::vector<const char*> EnvPointers(const std::vector<std::string>& variables) {
  std::vector<const char*> pointers;
  pointers.reserve(variables.size());
  for (const std::string& variable : variables) pointers.push_back(variable.c_str());
  return pointers;
}

std::string SpawnErrorText(const SpawnError& error) {
  std::string text = fmt::format("{}: {}", SpawnStageName(error.stage), std::strerror(error.error));
  if (!error.detail.empty()) text += ": " + error.detail;
  return text;
}

}  // namespace muster
