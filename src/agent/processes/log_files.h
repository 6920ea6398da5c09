// Creates the agent's files in a run directory. Independent of their content: logs are written by the processes
// themselves.
#pragma once

#include <fcntl.h>
#include <tl/expected.hpp>

#include "base/system/open_below.h"
#include "spawn/start/launcher.h"

namespace muster {

// Creates the file: always new (existing files and links are never opened), mode 0600, or 0640 in a folder readable by
// its group (base/system/group_access.h), and owned by the folder's owner if this process is root; `access` is O_WRONLY
// or O_RDWR with further flags. Empty with errno set on failure.
UniqueFd CreateNewFile(const FileBelow& file, int access);

// The same for the stdout and stderr of one attempt: appending. Fails with stage kLog.
tl::expected<UniqueFd, SpawnError> CreateLogFile(const FileBelow& file, int access = O_WRONLY);

}  // namespace muster
