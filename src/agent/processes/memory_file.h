// What a command tells the agent: a file in memory that it writes and the agent reads once it has ended.
//
// Knows memory files, not what is told. The bytes are untrusted.
#pragma once

#include <cstddef>
#include <string>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"

namespace muster {

// A file that can hold so many bytes and no more, however much is written. Spawn stage "descriptors" if the kernel
// refuses it.
tl::expected<UniqueFd, SpawnError> CreateMemoryFile(const char* name, std::size_t most);

// What has been written from the beginning on: the command writes at the position that is ours, too.
std::string ReadMemoryFile(int fd, std::size_t most);

}  // namespace muster
