#include "agent/devices/host_cores.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sched.h>

#include "base/system/kernel_file.h"
#include "base/values/number_text.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

using Group = std::vector<std::uint32_t>;

std::size_t CoresOf(const HostCores::Node& node) {
  std::size_t count = 0;
  for (const Group& group : node.groups) count += group.size();
  return count;
}

std::size_t CoresOf(const std::vector<HostCores::Node>& nodes) {
  std::size_t count = 0;
  for (const HostCores::Node& node : nodes) count += CoresOf(node);
  return count;
}

std::vector<std::uint32_t> Flat(const std::vector<Group>& groups) {
  std::vector<std::uint32_t> cores;
  for (const Group& group : groups) cores.insert(cores.end(), group.begin(), group.end());
  return cores;
}

std::vector<std::uint32_t> AllOf(const std::vector<HostCores::Node>& nodes) {
  std::vector<std::uint32_t> cores;
  for (const HostCores::Node& node : nodes) {
    const std::vector<std::uint32_t> of_node = Flat(node.groups);
    cores.insert(cores.end(), of_node.begin(), of_node.end());
  }
  return cores;
}

std::string ListText(std::vector<std::uint32_t> cores) {
  std::sort(cores.begin(), cores.end());
  return NumberListText(cores);
}

// The nodes without these cores; empty groups and nodes are omitted.
std::vector<HostCores::Node> WithoutCores(const std::vector<HostCores::Node>& nodes,
                                          const std::set<std::uint32_t>& cores) {
  std::vector<HostCores::Node> left;
  for (const HostCores::Node& node : nodes) {
    HostCores::Node kept{node.id, {}};
    for (const Group& group : node.groups) {
      Group rest;
      std::copy_if(group.begin(), group.end(), std::back_inserter(rest),
                   [&](auto core) { return !cores.contains(core); });
      if (!rest.empty()) kept.groups.push_back(std::move(rest));
    }
    if (!kept.groups.empty()) left.push_back(std::move(kept));
  }
  return left;
}

class Sharing {
 public:
  Sharing(const HostCores& host, const std::vector<CoreRequest>& requests,
          std::vector<std::optional<std::uint32_t>> nodes)
      : host_(host), requests_(requests), node_of_(std::move(nodes)), pool_(host.nodes) {
    node_of_.resize(requests.size());
    shares_.of.resize(requests.size());
  }

  tl::expected<CoreShares, std::string> Run() {
    if (std::string why = Lists(); !why.empty()) return tl::unexpected(std::move(why));
    if (std::string why = Counts(); !why.empty()) return tl::unexpected(std::move(why));
    EqualShares();
    for (std::vector<std::uint32_t>& cores : shares_.of) std::sort(cores.begin(), cores.end());
    return std::move(shares_);
  }

 private:
  std::string Lists() {
    const std::vector<std::uint32_t> all = AllOf(host_.nodes);
    const std::set<std::uint32_t> usable(all.begin(), all.end());
    std::set<std::uint32_t> listed;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const CoreRequest& request = requests_[i];
      if (request.kind != CoreRequest::Kind::kList) continue;
      std::vector<std::uint32_t> beyond;
      for (const std::uint32_t core : request.list) {
        if (!usable.contains(core)) beyond.push_back(core);
      }
      if (!beyond.empty()) {
        return fmt::format("role {} names the cores {}; muster may use {}", request.role, ListText(beyond),
                           ListText(all));
      }
      shares_.of[i] = request.list;
      listed.insert(request.list.begin(), request.list.end());
    }
    if (std::vector<HostCores::Node> left = WithoutCores(pool_, listed); !left.empty()) pool_ = std::move(left);
    return {};
  }

  std::string Counts() {
    std::uint64_t wanted = 0;
    for (const CoreRequest& request : requests_) {
      if (request.kind == CoreRequest::Kind::kCount) wanted += request.count;
    }
    if (wanted > CoresOf(pool_)) {
      return fmt::format("the processes that request a number of cores need {}, but only {} are available ({})", wanted,
                         CoresOf(pool_), ListText(AllOf(pool_)));
    }
    if (host_.quota && static_cast<double>(wanted) > *host_.quota) {
      shares_.notes.push_back(
          fmt::format("{} cores are allocated, but the quota of the cgroup is {:g} cores", wanted, *host_.quota));
    }
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i].kind != CoreRequest::Kind::kCount) continue;
      shares_.of[i] = TakeOwn(requests_[i].count, node_of_[i]);
      pool_ = WithoutCores(pool_, {shares_.of[i].begin(), shares_.of[i].end()});
    }
    counted_ = wanted;
    return {};
  }

  // From the node of the process's device, else from the node with the most free cores, else from several nodes.
  std::vector<std::uint32_t> TakeOwn(std::size_t count, std::optional<std::uint32_t> near) const {
    const HostCores::Node* from = nullptr;
    for (const HostCores::Node& node : pool_) {
      if (CoresOf(node) < count) continue;
      if (near == node.id) return First(Flat(node.groups), count);
      if (from == nullptr || CoresOf(node) > CoresOf(*from)) from = &node;
    }
    return First(from == nullptr ? AllOf(pool_) : Flat(from->groups), count);
  }

  static std::vector<std::uint32_t> First(std::vector<std::uint32_t> cores, std::size_t count) {
    cores.resize(count);
    return cores;
  }

  void EqualShares() {
    std::vector<std::size_t> equals;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i].kind == CoreRequest::Kind::kAuto) equals.push_back(i);
    }
    if (equals.empty()) return;
    if (pool_.empty()) {
      pool_ = host_.nodes;
      shares_.notes.push_back(
          "all cores are allocated to processes that request a number of them; the other processes share these cores");
    } else {
      KeepWithinQuota();
    }
    const std::vector<std::uint32_t> all = AllOf(pool_);
    if (equals.size() > all.size()) {
      shares_.notes.push_back(
          fmt::format("{} processes share {}: they take turns", equals.size(), Counted(all.size(), "core")));
      for (std::size_t i = 0; i < equals.size(); ++i) shares_.of[equals[i]] = {all[i * all.size() / equals.size()]};
      return;
    }
    const std::vector<std::vector<std::size_t>> on_node = Spread(equals);
    for (std::size_t n = 0; n < pool_.size(); ++n) Split(pool_[n], on_node[n]);
  }

  void KeepWithinQuota() {
    if (!host_.quota) return;
    const double left = *host_.quota - static_cast<double>(counted_);
    const std::size_t most = left < 1 ? 1 : static_cast<std::size_t>(left);
    while (CoresOf(pool_) > most) {
      auto fullest = std::max_element(pool_.begin(), pool_.end(),
                                      [](const auto& a, const auto& b) { return CoresOf(a) < CoresOf(b); });
      Group& last = fullest->groups.back();
      last.pop_back();
      if (last.empty()) fullest->groups.pop_back();
      if (fullest->groups.empty()) pool_.erase(fullest);
    }
  }

  // Assigns processes to nodes: those with a device near a node to that node while it has a core for each; the others
  // so that all nodes are equally full, consecutive processes together.
  std::vector<std::vector<std::size_t>> Spread(const std::vector<std::size_t>& equals) const {
    std::vector<std::vector<std::size_t>> on_node(pool_.size());
    std::vector<std::size_t> free;
    for (const std::size_t i : equals) {
      std::size_t n = 0;
      while (n < pool_.size() && pool_[n].id != node_of_[i]) ++n;
      const bool fits = n < pool_.size() && on_node[n].size() < CoresOf(pool_[n]);
      (fits ? on_node[n] : free).push_back(i);
    }
    std::vector<std::size_t> more(pool_.size());
    for (std::size_t i = 0; i < free.size(); ++i) {
      std::size_t best = 0;
      for (std::size_t n = 1; n < pool_.size(); ++n) {
        const auto fill = [&](std::size_t node) { return on_node[node].size() + more[node] + 1; };
        if (fill(n) * CoresOf(pool_[best]) < fill(best) * CoresOf(pool_[n])) best = n;
      }
      ++more[best];
    }
    auto next = free.begin();
    for (std::size_t n = 0; n < pool_.size(); ++n) {
      for (; more[n] > 0; --more[n]) on_node[n].push_back(*next++);
    }
    return on_node;
  }

  void Split(const HostCores::Node& node, const std::vector<std::size_t>& processes) {
    std::vector<Group> units = node.groups;
    if (processes.size() > units.size()) {
      units.clear();
      for (const std::uint32_t core : Flat(node.groups)) units.push_back({core});
    }
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const auto first = static_cast<std::ptrdiff_t>(i * units.size() / processes.size());
      const auto last = static_cast<std::ptrdiff_t>((i + 1) * units.size() / processes.size());
      shares_.of[processes[i]] = Flat(std::vector<Group>(units.begin() + first, units.begin() + last));
    }
  }

  const HostCores& host_;
  const std::vector<CoreRequest>& requests_;
  std::vector<std::optional<std::uint32_t>> node_of_;  // by request: the node near its devices
  std::vector<HostCores::Node> pool_;                  // cores still available
  std::uint64_t counted_ = 0;                          // cores allocated by count
  CoreShares shares_;
};

}  // namespace

tl::expected<CoreShares, std::string> ShareCores(const HostCores& host, const std::vector<CoreRequest>& requests,
                                                 const std::vector<std::optional<std::uint32_t>>& nodes) {
  return Sharing(host, requests, nodes).Run();
}

namespace {

namespace fs = std::filesystem;

// Reads a number list of the kernel; empty if there is none.
std::vector<std::uint32_t> ListIn(const std::string& path) {
  return ParseNumberList(KernelLine(path)).value_or(std::vector<std::uint32_t>());
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

std::optional<double> Quota(const std::string& root) {
  const std::string mountinfo = KernelText(root + "proc/self/mountinfo");
  std::optional<double> least;
  std::istringstream groups(KernelText(root + "proc/self/cgroup"));
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
