#include "spawn/leftovers/confinement.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/kernel_file.h"
#include "base/system/own_process.h"
#include "base/values/number_text.h"

namespace muster {
namespace {

// A single write(2): the kernel treats each write as a separate command. False with errno set.
bool Order(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

constexpr std::string_view kThisProcess = "0";

}  // namespace

std::string CgroupFolder(std::string_view cgroup, std::string_view mountinfo) {
  std::string group;
  bool found = false;
  std::istringstream groups{std::string(cgroup)};
  for (std::string line; !found && std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    group = line.substr(3);
    found = true;
  }
  if (!found) return {};
  if (group == "/") group.clear();
  // 25 30 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw (proc(5))
  std::istringstream mounts{std::string(mountinfo)};
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    std::istringstream fields(line);
    std::string unused;
    std::string root;
    std::string point;
    fields >> unused >> unused >> unused >> root >> point;
    if (root == "/") return point + group;
    if (group == root || group.starts_with(root + "/")) return point + group.substr(root.size());
  }
  return {};
}

std::optional<Cgroup> Cgroup::MakeBelowOwn(const std::string& name) {
  const std::string above = CgroupFolder(KernelText("/proc/self/cgroup"), KernelText("/proc/self/mountinfo"));
  if (above.empty()) return std::nullopt;
  std::string path = above + "/" + name;
  if (::mkdir(path.c_str(), 0755) != 0) return std::nullopt;
  Cgroup made(std::move(path), above);
  // Joining and leaving the group need write access to the parent group, too.
  for (const std::string& file : {made.path_ + "/cgroup.kill", made.path_ + "/cgroup.procs", above + "/cgroup.procs"}) {
    if (::access(file.c_str(), W_OK) != 0) return std::nullopt;
  }
  return made;
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      above_(std::move(other.above_)),
      inside_(std::exchange(other.inside_, false)) {}

Cgroup::~Cgroup() {
  if (path_.empty()) return;
  if (inside_) Order(above_ + "/cgroup.procs", kThisProcess);
  RemoveCgroup(path_);
}

UniqueFd Cgroup::Open() const { return UniqueFd(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)); }

bool Cgroup::Enter() { return inside_ = Order(path_ + "/cgroup.procs", kThisProcess); }

bool Cgroup::Kill() {
  if (inside_) {
    if (!Order(above_ + "/cgroup.procs", kThisProcess)) return false;  // otherwise cgroup.kill would kill this process
    inside_ = false;
  }
  return !CgroupMembers(path_).empty() && KillCgroup(path_);
}

std::vector<pid_t> CgroupMembers(const std::string& path) {
  std::vector<pid_t> members;
  std::ifstream file(path + "/cgroup.procs");
  for (pid_t pid = 0; file >> pid;) members.push_back(pid);
  return members;
}

bool KillCgroup(const std::string& path) { return Order(path + "/cgroup.kill", "1"); }

bool RemoveCgroup(const std::string& path) { return ::rmdir(path.c_str()) == 0; }

namespace {

// A deadline that is noticed this late shows that the guard was stopped.
constexpr std::uint64_t kLateNs = 500'000'000;

std::uint64_t After(std::uint64_t ms) { return MonotonicNowNs() + ms * 1'000'000; }

// Returns the signal, or 0 at the deadline.
int NextSignal(const sigset_t& watched, std::optional<std::uint64_t> until) {
  if (!until) return ::sigwaitinfo(&watched, nullptr);
  const std::uint64_t now = MonotonicNowNs();
  const std::uint64_t left = *until - std::min(now, *until);
  const timespec time = {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  const int signal = ::sigtimedwait(&watched, nullptr, &time);
  return signal < 0 && MonotonicNowNs() >= *until ? 0 : signal;
}

}  // namespace

EndedProcess GuardChild(pid_t child, const std::function<std::uint64_t()>& most_stopped_ms, std::uint64_t patience_ms,
                        const std::function<bool()>& goes_on) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  // Sent at the end of the parent (kGuardDeathSignal), and by any process that continues this one.
  const pid_t parent = ::getppid();
  sigset_t continued;
  sigemptyset(&continued);
  sigaddset(&continued, kGuardDeathSignal);
  ::sigprocmask(SIG_BLOCK, &continued, nullptr);
  sigaddset(&watched, kGuardDeathSignal);
  bool forwarded = false;  // SIGTERM was forwarded
  std::optional<std::uint64_t> kill_at;
  std::uint64_t allowed_ms = 0;  // from which kill_at follows
  for (;;) {
    if (const auto ended = Reap(ChildRef{child, -1})) return *ended;
    siginfo_t change = {};
    while (::waitid(P_PID, static_cast<id_t>(child), &change, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
           change.si_pid != 0) {
      const std::uint64_t most_ms = change.si_code == CLD_STOPPED ? most_stopped_ms() : 0;
      if (!forwarded) kill_at = most_ms > 0 ? std::optional(After(most_ms)) : std::nullopt;
      if (!forwarded) allowed_ms = most_ms;
      change = {};
    }
    const int signal = NextSignal(watched, kill_at);
    if (signal == SIGTERM || (signal == kGuardDeathSignal && ::getppid() != parent)) {
      ::kill(child, SIGTERM);
      if (!std::exchange(forwarded, true)) {
        kill_at = std::min(kill_at.value_or(UINT64_MAX), After(patience_ms));
        allowed_ms = patience_ms;
      }
    } else if (signal == 0 && MonotonicNowNs() > *kill_at + kLateNs) {
      kill_at = After(allowed_ms);  // both were stopped
    } else if (signal == 0 && forwarded && goes_on && goes_on()) {
      forwarded = false;
      kill_at.reset();
    } else if (signal == 0) {
      ::kill(child, SIGKILL);
      kill_at.reset();
    }
  }
}

void EndAs(const EndedProcess& ended) {
  if (!ended.signalled) ::_exit(ended.code);
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(ended.code, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_UNBLOCK, &all, nullptr);
  ::raise(ended.code);
  ::_exit(128 + ended.code);
}

void WriteKilledCount(int pipe, std::uint32_t killed) {
  // Errors are ignored: if the head is gone, the number is not needed.
  static_cast<void>(!::write(pipe, &killed, sizeof killed));
}

std::uint32_t ReadKilledCount(int pipe) {
  std::uint32_t killed = 0;
  ::fcntl(pipe, F_SETFL, O_NONBLOCK);
  return ::read(pipe, &killed, sizeof killed) == static_cast<ssize_t>(sizeof killed) ? killed : 0;
}

namespace {

NamespaceError Failed(const char* stage) { return {stage, errno}; }

// Without privilege: maps only this user and group, to themselves.
tl::expected<void, NamespaceError> UnshareAsUser() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0) return tl::unexpected(Failed("unshare"));
  // Required before mapping the group (user_namespaces(7)); kernels before 3.19 have no such file.
  if (!Order("/proc/self/setgroups", "deny") && errno != ENOENT) return tl::unexpected(Failed("map"));
  if (!Order("/proc/self/uid_map", fmt::format("{0} {0} 1", user)) ||
      !Order("/proc/self/gid_map", fmt::format("{0} {0} 1", group))) {
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
  const int null = OpenNull();
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
    std::string value = KernelText(limit);
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
  if (!lists || !InnermostPid(KernelText(own + "/status"))) return tl::unexpected(NamespaceError{"pids", ENOSYS});
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
  const std::string children = KernelText(fmt::format("{}/{}/task/{}/children", proc_, own, own));
  // The youngest child is the last one.
  std::size_t end = children.find_last_not_of(' ');
  while (end != std::string::npos) {
    const std::size_t blank = children.rfind(' ', end);
    const std::size_t begin = blank == std::string::npos ? 0 : blank + 1;
    const std::string pid = children.substr(begin, end + 1 - begin);
    if (InnermostPid(KernelText(fmt::format("{}/{}/status", proc_, pid))) == inside) return std::stoi(pid);
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
    if (const std::optional<pid_t> inside = InnermostPid(KernelText(process + "/status"))) pids[*inside] = outside;
    const std::string tasks = process + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> threads(::opendir(tasks.c_str()), ::closedir);
    while (const dirent* thread = threads ? ::readdir(threads.get()) : nullptr) {
      if (thread->d_name[0] == '.') continue;
      std::istringstream children(KernelText(fmt::format("{}/{}/children", tasks, thread->d_name)));
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
