#include "agent/processes/environment_block.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

bool IsVariable(const std::string& text) {
  const std::size_t equals = text.find('=');
  return equals != std::string::npos && equals > 0 && text.find('\0') == std::string::npos;
}

// Patterns: NAME or PREFIX*.
bool MatchesOne(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
  });
}

}  // namespace

void AddHostVariables(const HostVariables& selected, EnvironmentBlock& block) {
  if (selected.take.empty()) return;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!IsVariable(*variable)) continue;
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with("MUSTER_") || !MatchesOne(selected.take, name) || MatchesOne(selected.leave, name)) continue;
    block.try_emplace(std::string(name), text);
  }
}

std::string VariableError(const std::vector<std::string>& variables) {
  for (const std::string& variable : variables) {
    if (!IsVariable(variable)) return "not an environment variable: " + Quoted(variable);
  }
  return {};
}

EnvironmentBlock ByName(std::vector<std::string> variables) {
  EnvironmentBlock block;
  for (std::string& variable : variables) {
    std::string name = variable.substr(0, variable.find('='));
    block.insert_or_assign(std::move(name), std::move(variable));
  }
  return block;
}

std::vector<const char*> Overlaid(const EnvironmentBlock& block, const EnvironmentBlock& own) {
  std::vector<const char*> variables;
  variables.reserve(block.size() + own.size());
  for (const auto& [name, variable] : block) {
    if (!own.contains(name)) variables.push_back(variable.c_str());
  }
  for (const auto& [name, variable] : own) variables.push_back(variable.c_str());
  return variables;
}

}  // namespace muster
