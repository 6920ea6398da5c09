#include "agent/host/disk_filler.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/system/fillable_disk.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

constexpr std::chrono::milliseconds kLook{20};

// A file without a name.
UniqueFd NamelessFile(const std::string& directory) {
  UniqueFd file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = directory + "/.muster-fill-XXXXXX";  // where the file system cannot do that
  file = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
  if (file) ::unlink(name.c_str());
  return file;
}

}  // namespace

DiskFilled DiskFiller::Do(const FillDisk& command, const std::string& run_dir) {
  next_.cancel();
  file_.reset();
  bytes_ = 0;
  const std::array needed = {run_dir};
  if (std::string why = WhyNotFilled(command.directory, needed); !why.empty()) return {0, std::move(why)};
  file_ = NamelessFile(command.directory);
  const int failed = file_ ? Take() : errno;
  if (failed != 0) {
    file_.reset();
    return {0, fmt::format("{} cannot be filled: {}", Quoted(command.directory), std::strerror(failed))};
  }
  end_ = Clock::now() + std::chrono::milliseconds(command.lasts_ms);
  Keep();
  return {bytes_, {}};
}

int DiskFiller::Take() {
  struct statvfs space = {};
  if (::fstatvfs(file_.get(), &space) != 0) return errno;
  const std::uint64_t block = std::max<std::uint64_t>(space.f_frsize, 1);
  // Some blocks may be needed to describe the others.
  for (std::uint64_t blocks = std::max<std::uint64_t>(space.f_bavail, 1); blocks > 0;) {
    if (::fallocate(file_.get(), 0, static_cast<off_t>(bytes_), static_cast<off_t>(blocks * block)) == 0) {
      bytes_ += blocks * block;
    } else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
      blocks /= 2;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void DiskFiller::Keep() {
  next_.expires_at(std::min(end_, Clock::now() + kLook));
  next_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    if (Clock::now() >= end_) return file_.reset();
    Take();
    Keep();
  });
}

}  // namespace muster
