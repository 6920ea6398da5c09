#include "agent/processes/passed_text.h"

#include <cerrno>
#include <cstddef>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/write_all.h"

namespace muster {
namespace {

tl::unexpected<SpawnError> Refused(int error) {
  return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, error, "a text held in memory"});
}

}  // namespace

tl::expected<UniqueFd, SpawnError> HoldText(const std::string& content) {
  UniqueFd file(::memfd_create("muster-passed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return Refused(errno);
  if (const int error = WriteForReader(file.get(), content); error != 0) return Refused(error);
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return Refused(errno);
  }
  return file;
}

std::string ReadText(int fd, std::size_t most) {
  std::string text(most, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::pread(fd, text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace muster
