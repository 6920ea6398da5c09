#include "agent/processes/child_set.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/system/file_access.h"
#include "base/system/own_environment.h"
#include "base/values/quoting.h"
#include "spawn/leftovers/leftovers.h"

namespace muster {
namespace {

bool IsVariable(std::string_view text) {
  const std::size_t equals = text.find('=');
  return equals != std::string::npos && equals > 0 && text.find('\0') == std::string::npos;
}

// Patterns: NAME or PREFIX*.
bool MatchesOne(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
  });
}

}  // namespace

void AddHostVariables(const HostVariables& selected, EnvironmentBlock& block) {
  if (selected.take.empty()) return;
  for (const std::string_view text : OwnEnvironment()) {
    if (!IsVariable(text)) continue;
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with("MUSTER_") || !MatchesOne(selected.take, name) || MatchesOne(selected.leave, name)) continue;
    block.try_emplace(std::string(name), text);
  }
}

std::string VariableError(const std::vector<std::string>& variables) {
  for (const std::string& variable : variables) {
    if (!IsVariable(variable)) return "not an environment variable: " + Quoted(variable);
  }
  return {};
}

EnvironmentBlock ByName(std::vector<std::string> variables) {
  EnvironmentBlock block;
  for (std::string& variable : variables) {
    std::string name = variable.substr(0, variable.find('='));
    block.insert_or_assign(std::move(name), std::move(variable));
  }
  return block;
}

std::vector<const char*> Overlaid(const EnvironmentBlock& block, const EnvironmentBlock& own) {
  std::vector<const char*> variables;
  variables.reserve(block.size() + own.size());
  for (const auto& [name, variable] : block) {
    if (!own.contains(name)) variables.push_back(variable.c_str());
  }
  for (const auto& [name, variable] : own) variables.push_back(variable.c_str());
  return variables;
}

namespace {

tl::unexpected<SpawnError> Refused(int error) {
  return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, error, "a text held in memory"});
}

}  // namespace

tl::expected<UniqueFd, SpawnError> HoldText(const std::string& content) {
  UniqueFd file(::memfd_create("muster-passed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return Refused(errno);
  if (const int error = WriteForReader(file.get(), content); error != 0) return Refused(error);
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return Refused(errno);
  }
  return file;
}

tl::expected<UniqueFd, SpawnError> CreateMemoryFile(const char* name, std::size_t most) {
  UniqueFd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file && ::ftruncate(file.get(), static_cast<off_t>(most)) == 0 &&
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
    return file;
  }
  return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, errno, "a text held in memory"});
}

std::string ReadMemoryFile(int fd, std::size_t most) {
  const off_t end = ::lseek(fd, 0, SEEK_CUR);
  return end <= 0 ? std::string() : BytesAt(fd, 0, std::min(static_cast<std::size_t>(end), most));
}

ChildSet::ChildSet(boost::asio::io_context& io, Launcher& launcher, Observer observer)
    : io_(io), launch_(launcher), observer_(std::move(observer)), timer_(io.get_executor()) {}

ChildSet::~ChildSet() { Abandon(); }

tl::expected<ProcessStarted, SpawnError> ChildSet::Start(ProcessId process, std::uint32_t attempt, SpawnSpec spec) {
  spec.grouping = spec.controlling_terminal ? Grouping::kOwnSession : Grouping::kOwnGroup;
  spec.parent_death_signal = SIGKILL;
  const std::uint64_t ticks = StartTicksNow();
  auto launched = launch_(io_.get_executor(), spec);
  if (!launched) return tl::unexpected<SpawnError>(std::move(launched.error()));

  // Its destructor kills and reaps the process.
  if (FailsHere(Fault::kAgentAfterClone)) {
    return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, EMFILE, "a fault hook"});
  }

  ProcessStarted started;
  started.process = process;
  started.attempt = attempt;
  started.pid = launched->pid();
  started.at = MonotonicNowNs();
  // Reading /proc is the dearest of the agent's system calls for a process; most start within one tick.
  if (StartTicksNow() == ticks) {
    started.start_ticks = ticks;
  } else if (const auto identity = Identify(started.pid)) {
    started.start_ticks = identity->start_ticks;
  }

  const Key key(process, attempt);
  children_.emplace(key, Child{std::move(*launched), std::nullopt});
  by_pid_.emplace(started.pid, key);
  AwaitEnd(key);
  return started;
}

void ChildSet::AwaitEnd(const Key& key) {
  LaunchedProcess& launched = children_.at(key).launched;
  if (!launched.watched()) return;  // Ended() is called instead
  launched.AwaitEnd([this, key](const boost::system::error_code& error) {
    if (!error) OnEnd(key);
  });
}

bool ChildSet::Ended(pid_t pid) {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end() || children_.at(found->second).launched.watched()) return false;
  OnEnd(Key(found->second));
  return true;
}

void ChildSet::OnEnd(const Key& key) {
  const auto found = children_.find(key);
  if (found == children_.end()) return;
  LaunchedProcess& launched = found->second.launched;
  if (!HasEnded(launched.ref())) return AwaitEnd(key);

  // The exited leader keeps its pid until it is reaped, so the group is still its own: the remaining processes of the
  // group are killed with it.
  const pid_t pid = launched.pid();
  ::kill(-pid, SIGKILL);
  const bool status_lost = FailsHere(Fault::kAgentBeforeReap);
  EndedProcess ended = Reap(launched.ref()).value_or(EndedProcess{});
  if (status_lost) {
    ended.signalled = false;
    ended.code = -1;
  }

  ProcessExited exited;
  exited.process = key.first;
  exited.attempt = key.second;
  exited.signalled = ended.signalled;
  exited.code = ended.code;
  exited.core_dumped = ended.core_dumped;
  exited.user_us = ended.user_us;
  exited.system_us = ended.system_us;
  exited.max_rss_kib = ended.max_rss_kib;
  exited.at = MonotonicNowNs();

  launched.Detach();
  by_pid_.erase(pid);
  children_.erase(found);
  observer_.exited(exited);
}

void ChildSet::Signal(const Key& key, Child& child, int signal) {
  const pid_t pid = child.launched.pid();
  SignalSent sent;
  sent.process = key.first;
  sent.attempt = key.second;
  sent.signal = signal;
  // An exited process that is not reaped yet accepts any signal, but none of them is the reason of its exit.
  const bool ended = HasEnded(child.launched.ref());
  sent.error = ::kill(-pid, signal) == 0 ? 0 : errno;
  // A process may have moved to another group; it is still an unreaped child, so the pid is still its own.
  if (::getpgid(pid) != pid) sent.error = ::kill(pid, signal) == 0 ? 0 : errno;
  if (ended) sent.error = ESRCH;
  // A stopped process would keep the signal pending for ever.
  if (signal != SIGKILL) ::kill(-pid, SIGCONT);
  sent.at = MonotonicNowNs();
  observer_.signalled(sent);
}

void ChildSet::Stop(ProcessId process, std::uint32_t attempt, int signal, std::chrono::milliseconds grace) {
  const auto found = children_.find({process, attempt});
  if (found == children_.end()) return;
  Child& child = found->second;
  if (grace.count() <= 0) {
    child.kill_at.reset();
    return Signal(found->first, child, SIGKILL);
  }
  Signal(found->first, child, signal);
  const auto kill_at = Clock::now() + grace;
  if (!child.kill_at || kill_at < *child.kill_at) child.kill_at = kill_at;
  if (!alarm_ || *child.kill_at < *alarm_) SetAlarm(*child.kill_at);
}

void ChildSet::Disturb(ProcessId process, std::uint32_t attempt, int signal) {
  const auto found = children_.find({process, attempt});
  if (found == children_.end() || HasEnded(found->second.launched.ref())) return;
  const pid_t pid = found->second.launched.pid();
  ::kill(-pid, signal);
  if (::getpgid(pid) != pid) ::kill(pid, signal);
}

void ChildSet::KillAll() {
  for (auto& [key, child] : children_) {
    child.kill_at.reset();
    Signal(key, child, SIGKILL);
  }
}

void ChildSet::SetAlarm(Clock::time_point at) {
  alarm_ = at;
  timer_.expires_at(at);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) OnAlarm();
  });
}

void ChildSet::OnAlarm() {
  const auto now = Clock::now();
  std::optional<Clock::time_point> next;
  for (auto& [key, child] : children_) {
    if (!child.kill_at) continue;
    if (*child.kill_at > now) {
      if (!next || *child.kill_at < *next) next = child.kill_at;
      continue;
    }
    child.kill_at.reset();
    Signal(key, child, SIGKILL);
  }
  alarm_.reset();
  if (next) SetAlarm(*next);
}

void ChildSet::Abandon() {
  for (auto& [key, child] : children_) child.launched.Detach();
  children_.clear();
  by_pid_.clear();
}

}  // namespace muster
