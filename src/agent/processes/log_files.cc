#include "agent/processes/log_files.h"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

#include "base/system/group_access.h"
#include "base/values/shell_quote.h"

namespace muster {
namespace {

// Restores the group permission, independent of the umask. An agent of root in another user's folder (root@host, where
// the head is not root) gives its files to that user, who could not read them otherwise.
void ShareAsFolder(int created, const FileBelow& file) {
  struct stat folder {};
  const std::size_t slash = file.path.rfind('/');
  const std::string path = slash == std::string::npos ? "." : file.path.substr(0, slash);
  if (::fstatat(file.directory, path.c_str(), &folder, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (::geteuid() == 0 && folder.st_uid != 0 && ::fchown(created, folder.st_uid, folder.st_gid) != 0) return;
  if (IsForGroup(folder.st_mode)) static_cast<void>(::fchmod(created, 0640));
}

}  // namespace

UniqueFd CreateNewFile(const FileBelow& file, int access) {
  UniqueFd created = OpenBelow(file.directory, file.path, access | O_CREAT | O_EXCL | O_NOCTTY, 0600);
  if (created) ShareAsFolder(created.get(), file);
  return created;
}

tl::expected<UniqueFd, SpawnError> CreateLogFile(const FileBelow& file, int access) {
  // O_APPEND, so that processes sharing the descriptor cannot overwrite each other's lines.
  UniqueFd log = CreateNewFile(file, access | O_APPEND);
  if (log) return log;
  return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kLog, errno, Quoted(file.path)});
}

}  // namespace muster
