#include "agent/devices/host_cores.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include <sched.h>

#include "base/values/number_list.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// Reads a number list of the kernel; empty if there is none.
std::vector<std::uint32_t> ListIn(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return ParseNumberList(text).value_or(std::vector<std::uint32_t>());
}

std::map<std::uint32_t, std::uint32_t> NodeOfCores(const std::string& root) {
  std::map<std::uint32_t, std::uint32_t> node_of;
  std::error_code error;
  for (fs::directory_iterator entry(root + "sys/devices/system/node", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with("node")) continue;
    const auto number = ParseNumberList(std::string_view(name).substr(4));
    if (!number || number->size() != 1) continue;
    for (const std::uint32_t core : ListIn(entry->path() / "cpulist")) node_of[core] = number->front();
  }
  return node_of;
}

// The quota in cores, from the two numbers of version 2 or the two files of version 1; nothing if there is no limit.
std::optional<double> QuotaIn(const std::string& folder) {
  double quota = 0;
  double period = 0;
  std::ifstream both(folder + "/cpu.max");
  if (!(both >> quota >> period)) {  // "max 100000" is not a number either
    std::ifstream of_quota(folder + "/cpu.cfs_quota_us");
    std::ifstream of_period(folder + "/cpu.cfs_period_us");
    if (!(of_quota >> quota) || !(of_period >> period)) return std::nullopt;
  }
  return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

// The folder at which a mount shows the group, by /proc/self/mountinfo (proc(5)); `wanted` is the file system in the
// line. Empty if there is no such mount.
std::string MountedAt(const std::string& mountinfo, std::string_view wanted, const std::string& group) {
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream system(line.substr(dash + 3));
    std::string type;
    std::string source;
    std::string options;
    system >> type >> source >> options;
    const bool fits = wanted == "cgroup2"
                          ? type == "cgroup2"
                          : type == "cgroup" && (',' + options + ',').find(",cpu,") != std::string::npos;
    if (!fits) continue;
    std::istringstream fields(line);
    std::string unused;
    std::string shown;
    std::string point;
    fields >> unused >> unused >> unused >> shown >> point;
    if (shown == "/") return point + (group == "/" ? "" : group);
    if (group == shown || group.starts_with(shown + '/')) return point + group.substr(shown.size());
    return point;  // in a container: the mount shows its own group
  }
  return {};
}

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<double> Quota(const std::string& root) {
  const std::string mountinfo = Content(root + "proc/self/mountinfo");
  std::optional<double> least;
  std::istringstream groups(Content(root + "proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {  // "0::/user.slice" or "4:cpu,cpuacct:/docker/…" (cgroups(7))
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && (',' + controllers + ',').find(",cpu,") == std::string::npos) continue;
    std::string folder = MountedAt(mountinfo, unified ? "cgroup2" : "cgroup", line.substr(second + 1));
    while (folder.size() > 1) {
      if (const auto quota = QuotaIn(root + folder.substr(1)); quota && (!least || *quota < *least)) least = quota;
      folder.erase(folder.rfind('/'));
    }
  }
  return least;
}

}  // namespace

std::vector<std::uint32_t> OwnCores() {
  // The kernel refuses a set that is smaller than its own (sched_getaffinity(2)).
  for (int size = 1024; size <= 1 << 18; size *= 2) {
    cpu_set_t* set = CPU_ALLOC(size);
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    std::vector<std::uint32_t> cores;
    const bool known = ::sched_getaffinity(0, bytes, set) == 0;
    for (int core = 0; known && core < size; ++core) {
      if (CPU_ISSET_S(static_cast<std::size_t>(core), bytes, set)) cores.push_back(static_cast<std::uint32_t>(core));
    }
    CPU_FREE(set);
    if (known) return cores;
  }
  return {};
}

HostCores ReadHostCores(const std::vector<std::uint32_t>& usable, const std::string& root) {
  const std::map<std::uint32_t, std::uint32_t> node_of = NodeOfCores(root);
  const std::set<std::uint32_t> ours(usable.begin(), usable.end());
  std::map<std::uint32_t, HostCores::Node> nodes;
  std::set<std::uint32_t> placed;
  for (const std::uint32_t core : ours) {
    if (placed.contains(core)) continue;
    std::vector<std::uint32_t> group;
    for (const std::uint32_t thread :
         ListIn(root + "sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list")) {
      if (ours.contains(thread) && !placed.contains(thread)) group.push_back(thread);
    }
    if (std::find(group.begin(), group.end(), core) == group.end()) group = {core};
    placed.insert(group.begin(), group.end());
    const auto found = node_of.find(core);
    const std::uint32_t id = found == node_of.end() ? 0 : found->second;
    nodes[id].id = id;
    nodes[id].groups.push_back(std::move(group));
  }
  HostCores there;
  for (auto& [id, node] : nodes) there.nodes.push_back(std::move(node));
  there.quota = Quota(root);
  return there;
}

}  // namespace muster
