// Looks out for what makes processes ready: a port that somebody listens on, a file, a line in a log, a command
// that succeeds. What the kernel tells (files, logs: inotify(7)) is waited for; that a port is listened on it does
// not tell, so /proc/net/tcp is read, at longer and longer intervals, as long as a process is waited for.
//
// Knows the file system and /proc/net, no process: who runs commands for it says so by OnProbeEnded.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/start/watched_fd.h"
#include "wire/protocol/start_messages.h"

namespace muster {

class ReadyWatch {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  struct Observer {
    std::function<void(const Key&)> ready;  // once for a watched attempt; it is not watched any more then
    std::function<void(const Key&)> probe;  // the attempt's command is to be started
    // Somebody listens on the port that the attempt waits for: whether it may count. Asked again if not.
    std::function<bool(const Key&, std::uint16_t)> listens;
  };

  ReadyWatch(boost::asio::io_context& io, Observer observer);
  ReadyWatch(const ReadyWatch&) = delete;
  ReadyWatch& operator=(const ReadyWatch&) = delete;

  // `file` is absolute: the file that is to appear, or the log that is to hold a line (which must exist). The
  // observer may be called before this returns.
  void Watch(const Key& key, const ReadyWhen& when, const std::string& file);
  // The attempt has ended: a last look at its file or log, then it is not watched any more.
  void End(const Key& key);
  // Another file has taken the place of the process's log.
  void Replaced(const Key& key);
  // Its command ended. If it did not succeed, the next one is due after the pause.
  void OnProbeEnded(const Key& key, bool succeeded);

  bool Watches(const Key& key) const { return watched_.contains(key); }
  // Nothing is watched any more.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  struct Watched {
    ReadyWhen when;
    std::string file;
    int watch = -1;          // of inotify
    std::uint64_t read = 0;  // where the bytes of the log begin that were not searched yet
    std::string carry;       // their last ones, in which the text may begin
    std::optional<Clock::time_point> probe_at;
  };

  // What has to be looked at anew.
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
  std::optional<Clock::time_point> alarm_;  // what timer_ is set to
};

}  // namespace muster
