// Texts that pass between the agent and a process by a descriptor: held in memory, in no file and in no environment.
//
// Knows memory files; what the texts are is the head's affair.
#pragma once

#include <cstddef>
#include <string>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"

namespace muster {

// A descriptor from which `content` can be read, and which nobody can write to. Spawn stage "descriptors" if the
// kernel refuses it.
tl::expected<UniqueFd, SpawnError> HoldText(const std::string& content);

// What a process has written to the memory file, from its beginning: `most` bytes at most, fewer if it cannot be read.
std::string ReadText(int fd, std::size_t most);

}  // namespace muster
