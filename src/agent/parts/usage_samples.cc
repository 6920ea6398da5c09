#include "agent/parts/usage_samples.h"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>

#include <dirent.h>
#include <unistd.h>

#include "agent/dump/kernel_state.h"
#include "base/values/number_text.h"

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

namespace {

constexpr int kSamples = 120;  // the interval is this part of the time, but at most …
constexpr std::chrono::milliseconds kMax = std::chrono::minutes(1);
constexpr std::chrono::milliseconds kMaxToolTime = std::chrono::seconds(10);
constexpr int kMaxFailures = 3;

std::uint64_t MsSince(std::chrono::steady_clock::time_point from) {
  const auto passed = std::chrono::steady_clock::now() - from;
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(passed).count());
}

}  // namespace

std::chrono::milliseconds UsageInterval(std::chrono::milliseconds first, std::chrono::milliseconds elapsed) {
  return std::max(first, std::min(elapsed / kSamples, kMax));
}

UsageSamples::UsageSamples(AgentState& state)
    : state_(state),
      next_(state.io.get_executor()),
      tool_limit_(state.io.get_executor()),
      tools_(state.io, state.process.launcher, notes_,
             {.exited = [this](const ToolProcesses::Exit& exit) { OnToolExited(exit); },
              .idle = [this] { state_.emptied(); }}) {}

void UsageSamples::Begin(std::uint64_t interval_ms, std::string device_kind) {
  constexpr std::uint64_t kMaxMs = 24ULL * 3600 * 1000;
  interval_ = std::chrono::milliseconds(std::min(interval_ms, kMaxMs));
  device_kind_ = std::move(device_kind);
  command_ = DeviceMemoryCommand(device_kind_);
}

void UsageSamples::Started(const ProcessStarted& started, std::vector<std::string> devices,
                           const std::string& search_path) {
  if (interval_.count() == 0) return;
  const bool idle = watched_.empty();
  watched_[{started.process, started.attempt}] = {started.pid, Clock::now(), std::move(devices), search_path};
  if (!began_) began_ = Clock::now();
  if (idle && !asking_) SetTimer();
}

void UsageSamples::Ended(const Key& key) {
  if (watched_.erase(key) > 0 && watched_.empty()) next_.cancel();
}

std::chrono::milliseconds UsageSamples::Interval() const {
  return UsageInterval(interval_, std::chrono::milliseconds(MsSince(*began_)));
}

void UsageSamples::SetTimer() {
  next_.expires_after(Interval());
  next_.async_wait([this](const boost::system::error_code& error) {
    if (!error && state_.serving() && !watched_.empty()) Sample();
  });
}

void UsageSamples::Sample() {
  if (!AskTool()) Send();
}

bool UsageSamples::AskTool() {
  const auto user =
      std::find_if(watched_.begin(), watched_.end(), [](const auto& one) { return !one.second.devices.empty(); });
  if (command_.empty() || user == watched_.end()) return false;
  memory_.clear();
  if (!tools_.empty()) return false;  // one that does not exit although it was killed
  asking_ = tools_.Start(command_, user->second.search_path);
  if (!asking_) {
    command_.clear();
    return false;
  }
  tool_limit_.expires_after(std::min(2 * Interval(), kMaxToolTime));
  tool_limit_.async_wait([this](const boost::system::error_code& error) {
    if (error || !asking_) return;
    tools_.Stop(*std::exchange(asking_, std::nullopt), std::chrono::milliseconds(0));
    if (++failures_ >= kMaxFailures) command_.clear();
    Send();
  });
  return true;
}

void UsageSamples::OnToolExited(const ToolProcesses::Exit& exit) {
  if (asking_ != exit.number) return;
  asking_.reset();
  tool_limit_.cancel();
  if (!exit.signalled && exit.code == 0) memory_ = ParseDeviceMemory(device_kind_, ToolProcesses::OutputOf(exit));
  failures_ = memory_.empty() ? failures_ + 1 : 0;
  if (failures_ >= kMaxFailures) command_.clear();
  Send();
}

void UsageSamples::Send() {
  if (!state_.serving() || watched_.empty()) return;
  static const auto kTicksPerSecond = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  static const auto kPageKib = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
  std::vector<pid_t> roots;
  for (const auto& [key, watched] : watched_) roots.push_back(watched.pid);
  const std::map<pid_t, TreeUsage> trees = UsageOfTrees(ReadKernelUsage(), roots);
  UsageSampled sample;
  for (const auto& [key, watched] : watched_) {
    const auto tree = trees.find(watched.pid);
    if (tree == trees.end()) continue;
    sample.processes.push_back({key.first, key.second, MsSince(watched.started),
                                tree->second.cpu_ticks * 1000 / kTicksPerSecond, tree->second.rss_pages * kPageKib,
                                MemoryOf(watched.devices, memory_)});
  }
  if (!sample.processes.empty()) state_.send(sample);
  SetTimer();
}

void UsageSamples::Finish() {
  next_.cancel();
  tool_limit_.cancel();
  asking_.reset();
  tools_.KillAll();
}

void UsageSamples::Abandon() {
  next_.cancel();
  tool_limit_.cancel();
  asking_.reset();
  tools_.Abandon();
}

}  // namespace muster
