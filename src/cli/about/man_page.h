// The manual page muster(1): generated descriptions of the commands, between general sections.
#pragma once

#include <span>
#include <string>

#include "cli/command/command.h"

namespace muster {

// In the macros of man(7), ASCII only.
std::string ManPage(std::span<const Command> commands);

}  // namespace muster
