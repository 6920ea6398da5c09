// Environments as the head defines them: blocks that many processes share, and what one process has of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace muster {

using EnvironmentBlock = std::map<std::string, std::string>;  // name -> "name=value"

// Empty if each is "NAME=value" without zero bytes, which is what can be part of an environment; else which is not.
std::string VariableError(const std::vector<std::string>& variables);

// Of two with one name the later one counts.
EnvironmentBlock ByName(std::vector<std::string> variables);

// Both, `own` winning. The strings stay theirs.
std::vector<const char*> Overlaid(const EnvironmentBlock& block, const EnvironmentBlock& own);

}  // namespace muster
