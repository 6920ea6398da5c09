#include "agent/log_files.h"

#include <cerrno>

#include "base/group_access.h"
#include "base/shell_quote.h"

namespace muster {

tl::expected<UniqueFd, SpawnError> CreateLogFile(const std::string& path, int access) {
  // Appending, so that processes sharing the descriptor cannot overwrite each other's lines.
  constexpr int kFlags = O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
  int error = EINVAL;
  if (path.starts_with('/') && path.find('\0') == std::string::npos) {
    UniqueFd file(::open(path.c_str(), access | kFlags, 0600));
    if (file) {
      ShareWithGroup(file.get(), path);
      return file;
    }
    error = errno;
  }
  return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kLog, error, Quoted(path)});
}

}  // namespace muster
