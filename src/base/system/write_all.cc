#include "base/system/write_all.h"

#include <cerrno>

#include <unistd.h>

namespace muster {

int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

int WriteForReader(int fd, std::string_view bytes) {
  const int error = WriteAll(fd, bytes);
  if (error != 0) return error;
  return ::lseek(fd, 0, SEEK_SET) == 0 ? 0 : errno;
}

}  // namespace muster
