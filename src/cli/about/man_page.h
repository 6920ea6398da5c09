// muster(1): what the commands say of themselves, in a frame of what holds for all of them.
#pragma once

#include <span>
#include <string>

#include "cli/command/command.h"

namespace muster {

// In the macros of man(7), ASCII only.
std::string ManPage(std::span<const Command> commands);

}  // namespace muster
