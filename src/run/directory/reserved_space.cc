#include "run/directory/reserved_space.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {

int ReservedSpace::Keep(int file, std::uint64_t written) {
  if (ahead_ == 0 || kept_ >= written + ahead_ / 2) return 0;
  int result = 0;
  do result = ::fallocate(file, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(written), static_cast<off_t>(ahead_));
  while (result != 0 && errno == EINTR);
  if (result != 0 && (errno == ENOSPC || errno == EDQUOT)) return errno;
  if (result != 0) ahead_ = 0;  // not supported
  kept_ = written + ahead_;
  return 0;
}

void ReservedSpace::Release(int file) {
  struct stat status {};
  if (kept_ == 0 || ::fstat(file, &status) != 0) return;
  kept_ = 0;
  ahead_ = 0;
  // Truncating to the current length frees the blocks behind it. If it fails, only space is lost.
  if (::ftruncate(file, status.st_size) != 0) return;
}

}  // namespace muster
