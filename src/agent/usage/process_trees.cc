#include "agent/usage/process_trees.h"

#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include <dirent.h>

#include "agent/dump/kernel_state.h"
#include "base/values/parse_number.h"

namespace muster {
namespace {

// The nearest root above a process; 0 if there is none. Remembers what it finds in `known`.
pid_t RootAbove(pid_t pid, const std::unordered_map<pid_t, pid_t>& parents, std::unordered_map<pid_t, pid_t>& known) {
  std::vector<pid_t> path;
  pid_t root = 0;
  // The table is no snapshot: with reused pids its parents could form a cycle.
  while (path.size() <= parents.size()) {
    const auto found = known.find(pid);
    if (found != known.end()) {
      root = found->second;
      break;
    }
    path.push_back(pid);
    const auto parent = parents.find(pid);
    if (parent == parents.end() || parent->second == 0) break;
    pid = parent->second;
  }
  for (const pid_t below : path) known.emplace(below, root);
  return root;
}

}  // namespace

std::vector<KernelUsage> ReadKernelUsage() {
  std::vector<KernelUsage> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), ::closedir);
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    const auto pid = ParseNumber<pid_t>(entry->d_name);
    const auto stat = pid ? ReadStat(*pid) : std::nullopt;
    if (!stat) continue;
    processes.push_back({*pid, stat->parent, stat->group, stat->cpu_ticks + stat->children_ticks, stat->rss_pages});
  }
  return processes;
}

std::map<pid_t, TreeUsage> UsageOfTrees(const std::vector<KernelUsage>& processes, const std::vector<pid_t>& roots) {
  std::unordered_map<pid_t, pid_t> parents;
  for (const KernelUsage& process : processes) parents.emplace(process.pid, process.parent);
  std::unordered_map<pid_t, pid_t> known;
  const std::set<pid_t> wanted(roots.begin(), roots.end());
  for (const pid_t root : wanted) known.emplace(root, root);
  std::map<pid_t, TreeUsage> usage;
  for (const KernelUsage& process : processes) {
    pid_t root = RootAbove(process.pid, parents, known);
    if (root == 0 && wanted.contains(process.group)) root = process.group;
    if (root == 0) continue;
    TreeUsage& of = usage[root];
    of.cpu_ticks += process.cpu_ticks;
    of.rss_pages += process.rss_pages;
  }
  std::erase_if(usage, [&](const auto& one) { return !parents.contains(one.first); });
  return usage;
}

}  // namespace muster
