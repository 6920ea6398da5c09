#include "spawn/guard/pid_namespace.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/values/parse_number.h"
#include "spawn/guard/child_guard.h"

namespace muster {
namespace {

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// False with errno set.
bool WriteTo(const char* path, const std::string& text) {
  const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

NamespaceError Failed(const char* stage) { return {stage, errno}; }

// Without privilege: maps only this user and group, to themselves.
tl::expected<void, NamespaceError> UnshareAsUser() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0) return tl::unexpected(Failed("unshare"));
  // Required before mapping the group (user_namespaces(7)); kernels before 3.19 have no such file.
  if (!WriteTo("/proc/self/setgroups", "deny") && errno != ENOENT) return tl::unexpected(Failed("map"));
  if (!WriteTo("/proc/self/uid_map", fmt::format("{0} {0} 1", user)) ||
      !WriteTo("/proc/self/gid_map", fmt::format("{0} {0} 1", group))) {
    return tl::unexpected(Failed("map"));
  }
  return {};
}

tl::expected<void, NamespaceError> Unshare() {
  if (::unshare(CLONE_NEWPID | CLONE_NEWNS) == 0) return {};
  if (errno != EPERM) return tl::unexpected(Failed("unshare"));
  return UnshareAsUser();
}

// Closes everything but `kept`: an open connection would look like a running process to its peer.
void CloseAllBut(int kept) {
  std::vector<int> open;
  {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), ::closedir);
    while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
      if (const auto number = ParseNumber<int>(entry->d_name)) open.push_back(*number);
    }
  }
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int number : open) {
    if (number <= STDERR_FILENO) {
      if (null >= 0) ::dup2(null, number);
    } else if (number != null && number != kept) {
      ::close(number);
    }
  }
}

// The caller keeps `alive` open for its lifetime.
[[noreturn]] void Guard(pid_t init, int alive) {
  CloseAllBut(alive);
  EndAs(GuardChild(init, [] { return std::uint64_t{0}; }));
}

// The guard may have exited before PR_SET_PDEATHSIG took effect.
bool GuardLives(int alive) {
  pollfd end = {alive, POLLIN, 0};
  return ::poll(&end, 1, 0) == 0;
}

tl::expected<void, NamespaceError> MountOwnProc() {
  // Mounts made outside still appear here; mounts made here appear nowhere else.
  if (::mount(nullptr, "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0) return tl::unexpected(Failed("mount"));
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return tl::unexpected(Failed("proc"));
  }
  return {};
}

}  // namespace

std::string NamespaceErrorText(const NamespaceError& error) {
  std::string text = fmt::format("a PID namespace cannot be created: {}: {}", error.stage, std::strerror(error.error));
  if (error.stage != "unshare" && error.stage != "map") return text;
  for (const char* limit :
       {"/proc/sys/user/max_user_namespaces", "/proc/sys/user/max_pid_namespaces",
        "/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"}) {
    std::string value = Content(limit);
    while (value.ends_with('\n')) value.pop_back();
    if (value.empty()) continue;
    std::string name = limit + std::strlen("/proc/sys/");
    name[name.find('/')] = '.';
    text += fmt::format("; {} is {}", name, value);
  }
  return text;
}

PidNamespace::PidNamespace(UniqueFd outside)
    : outside_(std::move(outside)), proc_(fmt::format("/proc/self/fd/{}", outside_.get())) {}

tl::expected<PidNamespace, NamespaceError> PidNamespace::Enter() {
  UniqueFd outside(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::array<int, 2> ends = {-1, -1};
  if (!outside || ::pipe2(ends.data(), O_CLOEXEC) != 0) return tl::unexpected(Failed("fork"));
  UniqueFd alive(ends[0]);
  UniqueFd guarding(ends[1]);
  int parent_death_signal = 0;
  ::prctl(PR_GET_PDEATHSIG, &parent_death_signal);
  if (auto made = Unshare(); !made) return tl::unexpected(std::move(made.error()));
  // A change of credentials may have cleared it.
  ::prctl(PR_SET_PDEATHSIG, parent_death_signal);

  const pid_t init = ::fork();
  if (init < 0) return tl::unexpected(Failed("fork"));
  if (init > 0) {
    Guard(init, guarding.get());
  }
  guarding.reset();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!GuardLives(alive.get())) ::_exit(1);
  if (auto mounted = MountOwnProc(); !mounted) return tl::unexpected(std::move(mounted.error()));
  PidNamespace space(std::move(outside));
  // Without the outer /proc the pids of processes could not be reported to the head.
  const std::string own = fmt::format("{}/{}", space.proc(), space.OwnPid());
  const bool lists = ::access(fmt::format("{}/task/{}/children", own, space.OwnPid()).c_str(), R_OK) == 0;
  if (!lists || !InnermostPid(Content(own + "/status"))) return tl::unexpected(NamespaceError{"pids", ENOSYS});
  return space;
}

pid_t PidNamespace::OwnPid() const {
  std::array<char, 32> target = {};
  const ssize_t size = ::readlinkat(outside_.get(), "self", target.data(), target.size());
  if (size <= 0) return 0;
  return ParseNumber<pid_t>({target.data(), static_cast<std::size_t>(size)}).value_or(0);
}

pid_t PidNamespace::PidOf(pid_t inside) const {
  const std::string own = std::to_string(OwnPid());
  const std::string children = Content(fmt::format("{}/{}/task/{}/children", proc_, own, own));
  // The youngest child is the last one.
  std::size_t end = children.find_last_not_of(' ');
  while (end != std::string::npos) {
    const std::size_t blank = children.rfind(' ', end);
    const std::size_t begin = blank == std::string::npos ? 0 : blank + 1;
    const std::string pid = children.substr(begin, end + 1 - begin);
    if (InnermostPid(Content(fmt::format("{}/{}/status", proc_, pid))) == inside) return std::stoi(pid);
    end = begin == 0 ? std::string::npos : children.find_last_not_of(' ', begin - 1);
  }
  return 0;
}

std::map<pid_t, pid_t> PidNamespace::Pids() const {
  std::map<pid_t, pid_t> pids;
  std::vector<pid_t> open = {OwnPid()};  // whose children are still to be listed
  while (!open.empty()) {
    const std::string process = fmt::format("{}/{}", proc_, open.back());
    const pid_t outside = open.back();
    open.pop_back();
    // A process that has exited in the meantime has no such line.
    if (const std::optional<pid_t> inside = InnermostPid(Content(process + "/status"))) pids[*inside] = outside;
    const std::string tasks = process + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> threads(::opendir(tasks.c_str()), ::closedir);
    while (const dirent* thread = threads ? ::readdir(threads.get()) : nullptr) {
      if (thread->d_name[0] == '.') continue;
      std::istringstream children(Content(fmt::format("{}/{}/children", tasks, thread->d_name)));
      for (pid_t child = 0; children >> child;) open.push_back(child);
    }
  }
  return pids;
}

std::optional<pid_t> InnermostPid(std::string_view status) {
  constexpr std::string_view kName = "\nNSpid:";
  const std::size_t line = status.find(kName);
  if (line == std::string_view::npos) return std::nullopt;
  const std::string_view rest = status.substr(line + kName.size());
  const std::string_view numbers = rest.substr(0, rest.find('\n'));
  return ParseNumber<pid_t>(numbers.substr(numbers.find_last_of("\t ") + 1));
}

}  // namespace muster
