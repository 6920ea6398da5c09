// Child processes of the agent: their environment, the texts that they get and the output that they return in memory,
// and their start, watching, signalling and reaping. Handles processes and the clock; independent of policy. Each
// process leads a group of its own, and a session of its own if it gets a controlling terminal. A pid is used only
// between a start and its reaping.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "muster/event.h"
#include "spawn/start/launcher.h"
#include "spawn/start/watched_child.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Environments as defined by the head: blocks shared by many processes, and variables of single processes.

using EnvironmentBlock = std::map<std::string, std::string>;  // NAME to "NAME=value"

// Empty if each text is "NAME=value" without zero bytes, as an environment requires; else an error that names the text.
std::string VariableError(const std::vector<std::string>& variables);

// Of several variables with one name the last one is used.
EnvironmentBlock ByName(std::vector<std::string> variables);

// Adds the variables of this process's environment that are selected, unless the block has them.
void AddHostVariables(const HostVariables& selected, EnvironmentBlock& block);

// Both combined; `own` takes precedence. The strings remain theirs.
std::vector<const char*> Overlaid(const EnvironmentBlock& block, const EnvironmentBlock& own);

// Texts passed between the agent and a process by a descriptor: held in memory, in no file and in no environment.
//
// Independent of what the texts are.

// A descriptor from which `content` can be read, and to which no process can write. Spawn stage "descriptors" if the
// kernel refuses it.
tl::expected<UniqueFd, SpawnError> HoldText(const std::string& content);

// Output of a child process for the agent: a file in memory that the child writes and the agent reads after its exit.
//
// Independent of the content. The bytes are untrusted.

// A file with a maximum size of `most` bytes, which the writer cannot exceed. Spawn stage "descriptors" if the kernel
// refuses it.
tl::expected<UniqueFd, SpawnError> CreateMemoryFile(const char* name, std::size_t most);

// The content from the beginning up to the current position, which is shared with the writer.
std::string ReadMemoryFile(int fd, std::size_t most);

// The processes of the plan that run on this host: started, watched, signalled and reaped.
//
// Handles processes and the clock; independent of protocol frames and policy. Each process leads a group of its own,
// and a session of its own if it gets a controlling terminal. A process's pid is used only between its start and its
// reaping, both of which happen here, so that no process that reuses the pid can be signalled.
class ChildSet {
 public:
  struct Observer {
    std::function<void(const ProcessExited&)> exited;  // the process has been reaped, its group killed
    std::function<void(const SignalSent&)> signalled;
  };

  // Both must outlive this object, and the loop must not run after its destruction.
  ChildSet(boost::asio::io_context& io, Launcher& launcher, Observer observer);
  ~ChildSet();
  ChildSet(const ChildSet&) = delete;
  ChildSet& operator=(const ChildSet&) = delete;

  // Starts the process as leader of its own group, to be killed if this thread exits. `spec.grouping` and
  // `spec.parent_death_signal` are set here. The pair must not be running already.
  tl::expected<ProcessStarted, SpawnError> Start(ProcessId process, std::uint32_t attempt, SpawnSpec spec);

  bool Runs(ProcessId process, std::uint32_t attempt) const { return children_.contains({process, attempt}); }

  // Sends `signal` and then SIGCONT to the group, and SIGKILL when `grace` has elapsed; without grace SIGKILL at once.
  // Another call sends the signal again, and can only shorten the time to SIGKILL. Does nothing, and reports nothing,
  // if the process is not running. The SIGCONT is not reported.
  void Stop(ProcessId process, std::uint32_t attempt, int signal, std::chrono::milliseconds grace);

  // Sends `signal` to the group, and reports nothing. Does nothing if the process is not running.
  void Disturb(ProcessId process, std::uint32_t attempt, int signal);

  // Sends SIGKILL to every group, now.
  void KillAll();

  // Whether `pid` is an unreaped child of this set: then no other code may wait for it.
  bool Owns(pid_t pid) const { return by_pid_.contains(pid); }

  // A child has exited, according to waitid(2). True if it is one of this set that is not watched by a pidfd; it is
  // then handled now.
  bool Ended(pid_t pid);

  bool empty() const { return children_.empty(); }
  std::size_t size() const { return children_.size(); }

  // Forgets all processes without signalling them: for when they have been reaped by other means.
  void Abandon();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;
  using Key = std::pair<ProcessId, std::uint32_t>;

  struct Child {
    LaunchedProcess launched;
    std::optional<Clock::time_point> kill_at;
  };

  void AwaitEnd(const Key& key);
  void OnEnd(const Key& key);
  void Signal(const Key& key, Child& child, int signal);
  void SetAlarm(Clock::time_point at);
  void OnAlarm();

  boost::asio::io_context& io_;
  BoostLauncher launch_;
  Observer observer_;
  std::map<Key, Child> children_;
  std::unordered_map<pid_t, Key> by_pid_;
  Timer timer_;
  std::optional<Clock::time_point> alarm_;  // expiry of timer_: the earliest kill_at
};

}  // namespace muster
