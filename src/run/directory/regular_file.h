// Opens regular files that another program may have replaced with something else.
#pragma once

#include <string>

#include <sys/stat.h>

#include "base/system/unique_fd.h"
#include "muster/result.h"

namespace muster {

// For reading; a FIFO does not block and is refused. `path` is relative to `at`; O_NOFOLLOW in `flags` refuses a link
// in the last part of the path. Kind "file".
Result<UniqueFd> OpenRegular(int at, const std::string& path, struct stat& status, int flags = 0);

}  // namespace muster
