// The files that the agent makes in a run directory. Knows how one is created; does not know what is in it: logs are
// written by the processes themselves.
#pragma once

#include <fcntl.h>
#include <tl/expected.hpp>

#include "base/system/open_below.h"
#include "spawn/start/launcher.h"

namespace muster {

// Creates the file: new (nothing that is there is opened, links included), mode 0600, or 0640 in a folder that its
// group reads (base/system/group_access.h); `access` is O_WRONLY or O_RDWR with further flags. Without a file errno
// tells why.
UniqueFd CreateNewFile(const FileBelow& file, int access);

// The same for the stdout and stderr of one attempt: appending. Fails with stage kLog.
tl::expected<UniqueFd, SpawnError> CreateLogFile(const FileBelow& file, int access = O_WRONLY);

}  // namespace muster
