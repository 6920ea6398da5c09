// The files that processes write their output to. Knows how a log file is created; does not know what is in
// one, since the processes write it themselves.
#pragma once

#include <string>

#include <fcntl.h>
#include <tl/expected.hpp>

#include "spawn/spawn.h"

namespace muster {

// Creates the file for the stdout and stderr of one attempt: new (nothing that is there is opened, links
// included), mode 0600, appending; `access` is O_WRONLY or O_RDWR. Fails with stage kLog.
tl::expected<UniqueFd, SpawnError> CreateLogFile(const std::string& path, int access = O_WRONLY);

}  // namespace muster
