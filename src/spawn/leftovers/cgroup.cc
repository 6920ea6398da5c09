#include "spawn/leftovers/cgroup.h"

#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {
namespace {

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A single write(2): the kernel treats each write as a separate command.
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
  const std::string above = CgroupFolder(Content("/proc/self/cgroup"), Content("/proc/self/mountinfo"));
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

}  // namespace muster
