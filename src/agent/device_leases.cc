#include "agent/device_leases.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "base/shell_quote.h"

namespace muster {
namespace {

constexpr std::size_t kMaxHolder = 300;

std::string Failure(const std::string& what, int error) { return fmt::format("{}: {}", what, std::strerror(error)); }

// A file of the folder that everybody may lock and write, and that is no trap: a plain file with one name.
UniqueFd OpenShared(int folder, const std::string& name) {
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  for (int tries = 0; tries < 16; ++tries) {
    // Without O_CREAT first: of somebody else's file in a folder with the sticky bit it would be refused
    // (fs.protected_regular, proc_sys_fs(5)).
    UniqueFd file(::openat(folder, name.c_str(), O_RDWR | kFlags));
    // Made by a user with a stricter mind: it can be locked all the same, and does not tell who we are.
    if (!file && errno == EACCES) file.reset(::openat(folder, name.c_str(), O_RDONLY | kFlags));
    if (!file && errno == ENOENT) {
      file.reset(::openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | kFlags, 0666));
      if (file) ::fchmod(file.get(), 0666);  // whatever the umask
      if (!file && errno == EEXIST) continue;
    }
    if (!file) return file;
    struct stat status = {};
    if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1) return file;
    if (!S_ISREG(status.st_mode) || status.st_nlink > 1) {
      errno = EINVAL;
      return UniqueFd();
    }
  }
  return UniqueFd();
}

// Whether the name still leads to the file: a lock on one that was removed would be worth nothing.
bool StillThere(int folder, const std::string& name, int file) {
  struct stat by_name = {};
  struct stat by_file = {};
  return ::fstatat(folder, name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(file, &by_file) == 0 &&
         by_name.st_dev == by_file.st_dev && by_name.st_ino == by_file.st_ino;
}

// Interrupts a system call that waits, for as long as it lives; flock(2) knows no time limit of its own.
class Patience {
 public:
  explicit Patience(std::uint32_t ms) {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, &before_);
    itimerval timer = {};
    timer.it_value = {ms / 1000, static_cast<suseconds_t>(ms % 1000) * 1000};
    timer.it_interval = {0, 50'000};  // again, should the first come between two calls
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

std::string HolderIn(int file) {
  std::array<char, kMaxHolder> text = {};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  const std::string_view line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::string holder = Printable(line.substr(0, line.find('\n')));
  return holder.empty() ? "somebody who does not say who it is" : holder;
}

void WriteHolder(int file, const std::string& whose) {
  const std::string line = whose.substr(0, kMaxHolder - 1) + '\n';
  const bool written = ::ftruncate(file, 0) == 0 && ::pwrite(file, line.data(), line.size(), 0) > 0;
  static_cast<void>(written);  // best effort: the lock is what counts
}

std::string FileOf(const std::string& device) { return "device-" + device; }

}  // namespace

std::string LeaseFolder(std::string_view given) {
  if (!given.empty()) return std::string(given);
  struct stat status = {};
  constexpr mode_t kForAll = S_ISVTX | S_IWOTH | S_IXOTH;
  const bool lock =
      ::stat("/run/lock", &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & kForAll) == kForAll;
  return lock ? "/run/lock/muster-leases" : "/tmp/muster-leases";
}

tl::expected<void, std::string> DeviceLeases::OpenFolder() {
  if (open_folder_) return {};
  const std::string what = "the folder of device leases " + Quoted(folder_);
  const bool made = ::mkdir(folder_.c_str(), 01777) == 0;
  if (made) ::chmod(folder_.c_str(), 01777);  // whatever the umask
  open_folder_.reset(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!open_folder_) return tl::unexpected(Failure(what, errno));
  // A folder that somebody has locked is left alone by those who tidy up (systemd-tmpfiles(8)).
  static_cast<void>(::flock(open_folder_.get(), LOCK_SH | LOCK_NB));
  return {};
}

tl::expected<std::vector<std::size_t>, std::string> DeviceLeases::Take(const Wish& wish, std::uint32_t patience_ms) {
  if (auto open = OpenFolder(); !open) return tl::unexpected(std::move(open.error()));
  const int folder = open_folder_.get();
  const UniqueFd choosing = OpenShared(folder, "choosing");
  if (!choosing) return tl::unexpected(Failure("the folder of device leases " + Quoted(folder_), errno));
  {
    const Patience patience(patience_ms);
    if (::flock(choosing.get(), LOCK_EX) != 0) {
      return tl::unexpected("somebody has been choosing devices for too long: " + Quoted(folder_ + "/choosing") +
                            " is locked");
    }
  }

  std::vector<std::size_t> taken;
  std::vector<UniqueFd> locks;
  std::vector<std::pair<std::string, std::string>> holders;  // and what each holds
  for (std::size_t i = 0; i < wish.candidates.size() && taken.size() < wish.count; ++i) {
    const std::string name = FileOf(wish.candidates[i]);
    UniqueFd file;
    bool locked = false;
    do {
      file = OpenShared(folder, name);
      if (!file) return tl::unexpected(Failure("the lease of device " + wish.candidates[i], errno));
      locked = ::flock(file.get(), (wish.shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0;
    } while (!StillThere(folder, name, file.get()));
    if (locked) {
      taken.push_back(i);
      locks.push_back(std::move(file));
    } else {
      const std::string holder = HolderIn(file.get());
      if (holders.empty() || holders.back().first != holder) holders.emplace_back(holder, std::string());
      std::string& held = holders.back().second;
      held += (held.empty() ? "" : ",") + wish.candidates[i];
    }
  }
  if (taken.size() < wish.count) {
    std::string why;
    for (const auto& [holder, held] : holders) {
      why += fmt::format("{}{} {} held by {}", why.empty() ? "" : "; ",
                         held.find(',') == std::string::npos ? "device" : "devices",
                         held + (held.find(',') == std::string::npos ? " is" : " are"), holder);
    }
    return tl::unexpected(std::move(why));
  }
  for (UniqueFd& lock : locks) {
    WriteHolder(lock.get(), wish.whose);
    held_.push_back(std::move(lock));
  }
  return taken;
}

void DeviceLeases::GiveUp() {
  held_.clear();
  open_folder_.reset();
}

}  // namespace muster
