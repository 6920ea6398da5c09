// Sends the notifications of a run or sweep: starts their commands, and curl for webhooks, from the loop.
//
// Nothing here delays or fails the run. A notification gets one event at a time; a command that hangs holds up the next
// event only for a moment, and is killed after its time. Events that repeat are sent at most once in an interval: the
// latest replaces one that waits. So queues, processes and time are bounded. What became of each is a line of
// notifications.jsonl in the run's or sweep's directory; a failure is also a warning.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "muster/notification.h"
#include "muster/plan.h"
#include "run/notify/notice.h"
#include "spawn/start/launcher.h"
#include "spawn/start/limited_command.h"

namespace muster {

struct NotifierTimes {
  std::chrono::milliseconds most = std::chrono::seconds(30);     // of a command
  std::chrono::milliseconds hold = std::chrono::seconds(2);      // of the next event by a command
  std::chrono::milliseconds interval = std::chrono::minutes(1);  // of an event that repeats
  std::chrono::milliseconds end = std::chrono::seconds(10);      // for which the end of a run waits
};

struct NotifierSetting {
  std::vector<Notification> notifications;
  std::vector<std::string> environment = {};  // "NAME=value": what commands inherit, …
  std::vector<std::string> sources = {};      // … and where secrets are taken from
  std::string cwd = {};
  std::vector<std::string> search_dirs = {};  // as RunRequest::search_dirs
  int folder = -1;                            // of the run or sweep
  std::function<void(const std::string& text)> warn = {};
  NotifierTimes times = {};
};

class Notifier {
 public:
  static constexpr std::size_t kMaxAtOnce = 8;  // commands of all notifications

  // `io` must outlive it. Warns of notifications that cannot be sent: of a missing secret or program.
  Notifier(boost::asio::io_context& io, NotifierSetting setting);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Whether any notification is about the event.
  bool Wants(NotifyEvent event) const;
  // Starts nothing before the loop continues.
  void Send(const Notice& notice);
  // After the last event: calls `done` from the loop when all have been sent, after the time for the end at the latest.
  void Finish(std::function<void()> done);
  // Kills the commands that are running, and sends nothing more; Finish() is done then.
  void GiveUp();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer =
      boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, boost::asio::io_context::executor_type>;
  struct Delivery;
  struct Target;

  void Settle(Target& target);
  Result<std::string> SecretOf(const Target& target, const std::string& text);
  void Advance();
  bool AdvanceOne(Target& target, Clock::time_point& next);
  void Start(Target& target, Notice notice);
  void OnEnd(Target& target, const Delivery& delivery, const LimitedCommand::End& end);
  void Note(const Target& target, const Notice& notice, std::string_view outcome, const std::string& why,
            std::uint64_t ms);
  void CheckDone();
  // Runs the method from the loop, unless this is destroyed by then.
  void Later(void (Notifier::*method)());

  boost::asio::io_context& io_;
  const NotifierSetting setting_;
  Launcher launcher_;
  std::list<Target> targets_;
  std::size_t running_ = 0;
  bool advance_due_ = false;
  bool ended_ = false;  // the last event has happened: what waits is due
  bool over_ = false;   // gave up
  Timer next_;
  Timer end_;
  std::function<void()> done_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster
