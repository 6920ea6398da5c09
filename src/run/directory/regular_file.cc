#include "run/directory/regular_file.h"

#include <errno.h>
#include <fcntl.h>

#include "base/values/shell_quote.h"

namespace muster {

Result<UniqueFd> OpenRegular(int at, const std::string& path, struct stat& status, int flags) {
  const auto refused = [&](int error) { return Fail(SystemError("file", "cannot read " + Quoted(path), error)); };
  int fd = -1;
  do {
    fd = ::openat(at, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
  } while (fd < 0 && errno == EINTR);
  UniqueFd file(fd);
  if (!file || ::fstat(file.get(), &status) != 0) return refused(errno);
  if (!S_ISREG(status.st_mode)) return refused(S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
  return file;
}

}  // namespace muster
