#include "agent/processes/memory_file.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/processes/passed_text.h"

namespace muster {

tl::expected<UniqueFd, SpawnError> CreateMemoryFile(const char* name, std::size_t most) {
  UniqueFd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file && ::ftruncate(file.get(), static_cast<off_t>(most)) == 0 &&
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
    return file;
  }
  return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, errno, "a text held in memory"});
}

std::string ReadMemoryFile(int fd, std::size_t most) {
  const off_t end = ::lseek(fd, 0, SEEK_CUR);
  return end <= 0 ? std::string() : ReadText(fd, std::min(static_cast<std::size_t>(end), most));
}

}  // namespace muster
