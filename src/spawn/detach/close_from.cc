#include "spawn/detach/close_from.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

namespace muster {

void CloseFrom(int first) {
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  // Kernels before 5.9. The directory's own descriptor is closed by then; closing it again is harmless.
  std::vector<int> open;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end; it.increment(error)) {
    open.push_back(std::stoi(it->path().filename().string()));
  }
  for (const int fd : open) {
    if (fd >= first) ::close(fd);
  }
}

}  // namespace muster
