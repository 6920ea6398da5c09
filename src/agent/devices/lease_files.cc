#include "agent/devices/lease_files.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

namespace muster {
namespace {

constexpr std::size_t kMostRead = 64U << 10;
constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

UniqueFd OnlyPlain(UniqueFd file) {
  struct stat status = {};
  if (!file) return file;
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1) return file;
  errno = EINVAL;
  return UniqueFd();
}

// Interrupts a blocking system call after a time, during its lifetime: flock(2) has no timeout.
class Patience {
 public:
  explicit Patience(std::uint32_t ms) {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, &before_);
    itimerval timer = {};
    timer.it_value = {ms / 1000, static_cast<suseconds_t>(ms % 1000) * 1000};
    timer.it_interval = {0, 50'000};  // repeated in case the first signal comes between two calls
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
  ~Patience() {
    const itimerval none = {};
    ::setitimer(ITIMER_REAL, &none, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  struct sigaction before_ = {};
};

}  // namespace

UniqueFd OpenLeaseFile(int folder, const std::string& name) {
  for (int tries = 0; tries < 16; ++tries) {
    // First without O_CREAT: in a folder with the sticky bit it would be refused for another user's file
    // (fs.protected_regular, proc_sys_fs(5)).
    UniqueFd file(::openat(folder, name.c_str(), O_RDWR | kFlags));
    // Created by a user with a stricter umask: can be locked, but this process cannot write its description.
    if (!file && errno == EACCES) file.reset(::openat(folder, name.c_str(), O_RDONLY | kFlags));
    if (!file && errno == ENOENT) {
      file.reset(::openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | kFlags, 0666));
      if (file) ::fchmod(file.get(), 0666);  // independent of the umask
      if (!file && errno == EEXIST) continue;
    }
    if (!file) return file;
    struct stat status = {};
    // Its owner has removed it in the meantime, so it has no name.
    if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0) continue;
    return OnlyPlain(std::move(file));
  }
  return UniqueFd();
}

UniqueFd InspectLeaseFile(int folder, const std::string& name) {
  return OnlyPlain(UniqueFd(::openat(folder, name.c_str(), O_RDONLY | kFlags)));
}

bool IsStillThere(int folder, const std::string& name, int file) {
  struct stat by_name = {};
  struct stat by_file = {};
  return ::fstatat(folder, name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(file, &by_file) == 0 &&
         by_name.st_dev == by_file.st_dev && by_name.st_ino == by_file.st_ino;
}

bool LockWithin(int file, std::uint32_t patience_ms) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
  const Patience patience(patience_ms);
  return ::flock(file, LOCK_EX) == 0;
}

std::string ReadLeaseFile(int file) {
  std::string text(kMostRead, '\0');
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

void WriteLeaseFile(int file, const std::string& text) {
  const bool written = ::ftruncate(file, 0) == 0 && ::pwrite(file, text.data(), text.size(), 0) > 0;
  static_cast<void>(written);
}

}  // namespace muster
