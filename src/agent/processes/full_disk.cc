#include "agent/processes/full_disk.h"

#include <cstdint>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

constexpr std::uint64_t kLeastFreeBytes = 64U << 10;

// The resource that the file system has run out of; empty if none, or if unknown.
std::string Missing(const std::string& path) {
  struct statvfs room = {};
  if (path.empty() || ::statvfs(path.c_str(), &room) != 0 || (room.f_flag & ST_RDONLY) != 0) return {};
  const std::uint64_t blocks = ::geteuid() == 0 ? room.f_bfree : room.f_bavail;
  // File systems without a fixed number of blocks or files report 0.
  if (room.f_blocks > 0 && blocks * room.f_frsize < kLeastFreeBytes) return "space";
  if (room.f_files > 0 && room.f_ffree == 0) return "place for another file";
  return {};
}

}  // namespace

std::string FullDiskText(const std::string& log, const std::string& cwd) {
  if (const std::string missing = Missing(log); !missing.empty()) {
    return fmt::format("no {} is left in the file system of its log, {}", missing, Quoted(log));
  }
  if (const std::string missing = Missing(cwd); !missing.empty()) {
    return fmt::format("no {} is left in the file system of the folder it ran in, {}", missing, Quoted(cwd));
  }
  return {};
}

}  // namespace muster
