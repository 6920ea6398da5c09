// The processes of the plan that run on this host: started, watched, signalled and reaped.
//
// Knows processes and the clock; knows no protocol frames and no policy. Each process leads a group of its
// own, and a session of its own if it gets a controlling terminal. A process's pid is used only between its start and
// its reaping, both of which happen here, so that no other process can ever be signalled in its place.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "muster/event.h"
#include "spawn/start/boost_launcher.h"

namespace muster {

class ChildSet {
 public:
  struct Observer {
    std::function<void(const ProcessExited&)> exited;  // the process has been reaped, its group killed
    std::function<void(const SignalSent&)> signalled;
  };

  // Both must outlive it, and the loop must not run any more once it is gone.
  ChildSet(boost::asio::io_context& io, Launcher& launcher, Observer observer);
  ~ChildSet();
  ChildSet(const ChildSet&) = delete;
  ChildSet& operator=(const ChildSet&) = delete;

  // Starts the process as leader of its own group, to be killed if this thread ends. `spec.grouping` and
  // `spec.parent_death_signal` are set here. The pair must not be running already.
  tl::expected<ProcessStarted, SpawnError> Start(ProcessId process, std::uint32_t attempt, SpawnSpec spec);

  bool Runs(ProcessId process, std::uint32_t attempt) const { return children_.contains({process, attempt}); }

  // Sends `signal` and then CONT to the group, and KILL once `grace` is over; with no grace KILL at once.
  // Called again it sends again, and can only bring the KILL forward. Nothing happens, and nothing is
  // reported, if the process is not running. The CONT is not reported.
  void Stop(ProcessId process, std::uint32_t attempt, int signal, std::chrono::milliseconds grace);

  // SIGKILL for every group, now.
  void KillAll();

  // Whether `pid` is one of ours and not reaped yet: then it is not for anybody else to wait for.
  bool Owns(pid_t pid) const { return by_pid_.contains(pid); }

  // A child has ended, as waitid(2) tells. True if it is one of ours that nothing else tells of (there are no pidfds),
  // and is dealt with now.
  bool Ended(pid_t pid);

  bool empty() const { return children_.empty(); }
  std::size_t size() const { return children_.size(); }

  // Forgets all processes without touching them: for when they have been reaped by other means.
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
  std::optional<Clock::time_point> alarm_;  // what timer_ is set to: the earliest kill_at
};

}  // namespace muster
