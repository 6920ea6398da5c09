#include "run/start/host_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/write_all.h"
#include "base/values/shell_quote.h"
#include "run/directory/private_files.h"

namespace muster {

Result<void> KeepFileBytes(int folder, const FileBytes& bytes) {
  Result<UniqueFd> file = OpenOrCreateFile(folder, bytes.path);
  if (!file) return Fail(std::move(file.error()));
  const auto refused = [&](int error) {
    return Fail(SystemError("file", fmt::format("cannot write {}", Quoted(bytes.path)), error));
  };
  struct stat status = {};
  if (::fstat(file->get(), &status) != 0) return refused(errno);
  const auto there = static_cast<std::uint64_t>(status.st_size);
  std::string gap;
  if (bytes.offset > there) gap = fmt::format("\n[muster: {} bytes are not here yet]\n", bytes.offset - there);
  const std::uint64_t offset = std::min(bytes.offset, there);
  if (::lseek(file->get(), static_cast<off_t>(offset), SEEK_SET) < 0) return refused(errno);
  if (const int error = WriteAll(file->get(), gap)) return refused(error);
  if (const int error = WriteAll(file->get(), bytes.content)) return refused(error);
  const std::uint64_t end = offset + gap.size() + bytes.content.size();
  if (bytes.last && ::ftruncate(file->get(), static_cast<off_t>(end)) != 0) return refused(errno);
  return {};
}

}  // namespace muster
