// The files that processes write their output to. Knows how a log file is created; does not know what is in
// one, since the processes write it themselves.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "spawn/spawn.h"

namespace muster {

// Creates the file for the stdout and stderr of one attempt: new (nothing that is there is opened, links
// included), mode 0600, appending. Fails with stage kLog.
tl::expected<UniqueFd, SpawnError> CreateLogFile(const std::string& path);

}  // namespace muster
