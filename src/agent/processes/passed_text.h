// Texts passed between the agent and a process by a descriptor: held in memory, in no file and in no environment.
//
// Independent of what the texts are.
#pragma once

#include <cstddef>
#include <string>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"

namespace muster {

// A descriptor from which `content` can be read, and to which no process can write. Spawn stage "descriptors" if the
// kernel refuses it.
tl::expected<UniqueFd, SpawnError> HoldText(const std::string& content);

// The text that a process has written to the memory file, from its beginning: at most `most` bytes, fewer on errors.
std::string ReadText(int fd, std::size_t most);

}  // namespace muster
