// Makes the kernel keep the exit statuses of this process's children until they are waited for.
#pragma once

namespace muster {

// The caller of this program may have set SIGCHLD to be ignored, which is inherited.
void KeepExitStatuses();

}  // namespace muster
