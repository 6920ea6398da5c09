// Environments as defined by the head: blocks shared by many processes, and variables of single processes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "wire/protocol/start_messages.h"

namespace muster {

using EnvironmentBlock = std::map<std::string, std::string>;  // NAME to "NAME=value"

// Empty if each text is "NAME=value" without zero bytes, as an environment requires; else an error that names the text.
std::string VariableError(const std::vector<std::string>& variables);

// Of several variables with one name the last one is used.
EnvironmentBlock ByName(std::vector<std::string> variables);

// Adds the variables of this process's environment that are selected, unless the block has them.
void AddHostVariables(const HostVariables& selected, EnvironmentBlock& block);

// Both combined; `own` takes precedence. The strings remain theirs.
std::vector<const char*> Overlaid(const EnvironmentBlock& block, const EnvironmentBlock& own);

}  // namespace muster
