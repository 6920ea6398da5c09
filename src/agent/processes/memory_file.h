// Output of a child process for the agent: a file in memory that the child writes and the agent reads after its exit.
//
// Independent of the content. The bytes are untrusted.
#pragma once

#include <cstddef>
#include <string>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"

namespace muster {

// A file with a maximum size of `most` bytes, which the writer cannot exceed. Spawn stage "descriptors" if the kernel
// refuses it.
tl::expected<UniqueFd, SpawnError> CreateMemoryFile(const char* name, std::size_t most);

// The content from the beginning up to the current position, which is shared with the writer.
std::string ReadMemoryFile(int fd, std::size_t most);

}  // namespace muster
