// Determines when processes are ready: watches for a port with a listener, a file or a line in a log, and runs the
// readiness commands that some processes have. Files and logs are watched with inotify(7); the kernel does not report
// listening ports, so /proc/net/tcp is read at growing intervals.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/parts/agent_state.h"
#include "agent/processes/child_set.h"
#include "agent/processes/given_ports.h"
#include "spawn/start/watched_fd.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Watches for the readiness of processes: a port with a listener, a file, a line in a log, a successful command. Files
// and logs are watched with inotify(7); the kernel does not report listening ports, so /proc/net/tcp is read at growing
// intervals while a process is waited for.
//
// Uses the file system and /proc/net; the caller runs readiness commands and reports their exits with OnProbeEnded.
class ReadyWatch {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  struct Observer {
    std::function<void(const Key&)> ready;  // called once per watched attempt, which is then no longer watched
    std::function<void(const Key&)> probe;  // the attempt's command is to be started
    // A process listens on the port that the attempt waits for: returns whether it counts. Called again if not.
    std::function<bool(const Key&, std::uint16_t)> listens;
  };

  ReadyWatch(boost::asio::io_context& io, Observer observer);
  ReadyWatch(const ReadyWatch&) = delete;
  ReadyWatch& operator=(const ReadyWatch&) = delete;

  // `file` is absolute: the file that must appear, or the existing log that must contain a line. The observer may be
  // called before this returns.
  void Watch(const Key& key, const ReadyWhen& when, const std::string& file);
  // The attempt has exited: checks its file or log a last time, then stops watching it.
  void End(const Key& key);
  // Another file has replaced the process's log.
  void Replaced(const Key& key);
  // Its command has exited. If it failed, it is started again after the interval.
  void OnProbeEnded(const Key& key, bool succeeded);

  bool Watches(const Key& key) const { return watched_.contains(key); }
  // Stops watching everything.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  struct Watched {
    ReadyWhen when;
    std::string file;
    int watch = -1;          // number of the inotify watch
    std::uint64_t read = 0;  // log offset up to which the text has been searched
    std::string carry;       // last bytes before it, in which the text may begin
    std::optional<Clock::time_point> probe_at;
  };

  // Whether the condition is fulfilled now.
  bool IsReady(Watched& watched);
  bool HasLine(Watched& watched);
  void WatchFile(Watched& watched);
  void Unwatch(Watched& watched);
  void Done(const Key& key);
  void AwaitChanges();
  void OnChanges();
  void CheckPorts();
  void SetAlarm(Clock::time_point at);
  void OnAlarm();

  boost::asio::io_context& io_;
  Observer observer_;
  std::map<Key, Watched> watched_;
  std::map<int, std::set<Key>> by_watch_;
  WatchedFd changes_;
  Timer timer_;
  std::chrono::milliseconds port_pause_{0};
  std::optional<Clock::time_point> ports_at_;
  std::optional<Clock::time_point> alarm_;  // expiry of timer_
};

// Determines when processes are ready, and runs the readiness commands that some of them have.
//
// Handles conditions and commands of processes; ReadyWatch observes ports, files and logs.
class Readiness : public AgentPart {
 public:
  using Key = ReadyWatch::Key;

  // Both must outlive this object. `ports` knows the owners of ports.
  Readiness(AgentState& state, GivenPorts& ports);

  // The attempt has been started, with this environment block below its own variables.
  void Watch(const StartProcess& command, const EnvironmentBlock& block);
  // Another file has replaced its log.
  void Replaced(const Key& key) { watch_.Replaced(key); }
  // The attempt has exited: checks a last time, then stops watching it.
  void AttemptEnded(const Key& key);

  bool Owns(pid_t pid) const override { return probes_.Owns(pid); }
  bool ChildEnded(pid_t pid) override { return probes_.Ended(pid); }
  bool empty() const override { return probes_.empty(); }
  std::size_t descriptors() const override { return kDescriptorsPerChild * probes_.size(); }
  void Finish() override;
  void Abandon() override;

 private:
  // Values from the start of a process that its readiness command requires.
  struct Probe {
    std::vector<std::string> argv;
    std::vector<std::string> search_dirs;
    std::string cwd;
    std::vector<std::string> env;  // "name=value"
  };

  void OnReady(const Key& key);
  bool MayCount(const Key& key, std::uint16_t port);
  void StartProbe(const Key& key);
  void OnProbeExited(const ProcessExited& event);

  AgentState& state_;
  GivenPorts& ports_;
  ReadyWatch watch_;
  ChildSet probes_;  // readiness commands, by the numbers of their processes
  std::map<Key, Probe> starts_;
};

}  // namespace muster
