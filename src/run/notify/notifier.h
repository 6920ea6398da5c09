// Notifications of a run or sweep: their content, one JSON object about one event (docs/notify.md), and sending them:
// their commands, and curl for webhooks, are started from the loop. Nothing here delays or fails the run. A
// notification gets one event at a time; a command that hangs holds up the next event only for a moment, and is
// killed after its time.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "muster/notification.h"
#include "muster/plan.h"
#include "muster/value.h"
#include "spawn/start/launcher.h"
#include "spawn/start/limited_command.h"
#include "wire/archive/json_fields.h"

namespace muster {

// The content of a notification: one JSON object about one event of a run or sweep (docs/notify.md). Plain data.

struct NoticeRestart {
  std::vector<std::string> processes;  // "worker.2"
  std::uint32_t count = 0;             // restarts of the role within its policy's time
  std::uint32_t max = 0;

  bool operator==(const NoticeRestart&) const = default;
};

struct NoticeTrial {
  std::uint64_t number = 0;
  std::uint32_t attempt = 0;         // from 1
  std::string trial_class;           // "ok", "crash", …
  std::string dir;                   // its run directory
  std::optional<double> value = {};  // of the objective
  std::map<std::string, Value> parameters;

  bool operator==(const NoticeTrial&) const = default;
};

struct NoticeTrials {
  std::uint64_t total = 0;  // possible ones
  std::uint64_t over = 0;
  std::uint64_t failed = 0;
  std::uint64_t running = 0;

  bool operator==(const NoticeTrials&) const = default;
};

struct Notice {
  NotifyEvent event = NotifyEvent::kEnded;
  std::string text;  // set by NoticeLine
  std::string what;  // "failed after 12 s: worker.2 exited with code 1"

  std::string kind;  // "run" or "sweep"
  std::string id;
  std::string name;
  std::string dir;
  std::string host;  // the head's
  std::string job;   // "slurm job 12"; empty outside of allocations
  std::vector<std::string> tags;
  std::string at;       // UTC
  std::string started;  // UTC; of a sweep: this head
  double seconds = 0;   // since then

  std::string outcome;  // "ok", "failed", "stopped" or "lost"; empty while it goes on
  std::optional<std::int32_t> exit_code = {};
  std::string why;  // of a failure, a restart or an end; empty on success
  std::optional<NoticeRestart> restart = {};
  std::map<std::string, Value> metrics;
  std::string metrics_of;  // the role of a run, or "trial 3"
  std::optional<NoticeTrial> trial = {};
  std::string objective;  // the metric of a sweep
  std::optional<NoticeTrial> best = {};
  std::optional<NoticeTrials> trials = {};

  std::uint32_t omitted = 0;  // earlier ones of the same event that were not sent

  bool operator==(const Notice&) const = default;
};

template <class V>
void Fields(V& v, NoticeRestart& restart) {
  v("processes", restart.processes), v("count", restart.count), v("max", restart.max);
}
template <class V>
void Fields(V& v, NoticeTrial& trial) {
  v("number", trial.number), v("attempt", trial.attempt), v("class", trial.trial_class), v("dir", trial.dir);
  v("value", trial.value), v("parameters", trial.parameters);
}
template <class V>
void Fields(V& v, NoticeTrials& trials) {
  v("total", trials.total), v("over", trials.over), v("failed", trials.failed), v("running", trials.running);
}
template <class V>
void Fields(V& v, Notice& notice) {
  std::uint32_t format = 1;
  v("format", format), v("event", WithNames(notice.event, kNotifyEventNames)), v("text", notice.text);
  v("kind", notice.kind), v("id", notice.id), v("name", notice.name), v("dir", notice.dir), v("host", notice.host);
  v("job", As<UnlessNone>(notice.job)), v("tags", As<UnlessNone>(notice.tags));
  v("at", notice.at), v("started", notice.started), v("seconds", notice.seconds);
  v("outcome", As<UnlessNone>(notice.outcome)), v("exit_code", As<UnlessNone>(notice.exit_code));
  v("why", As<UnlessNone>(notice.why)), v("restart", As<UnlessNone>(notice.restart));
  v("metrics", As<UnlessNone>(notice.metrics)), v("metrics_of", As<UnlessNone>(notice.metrics_of));
  v("trial", As<UnlessNone>(notice.trial)), v("objective", As<UnlessNone>(notice.objective));
  v("best", As<UnlessNone>(notice.best)), v("trials", As<UnlessNone>(notice.trials));
  v("omitted", As<UnlessNone>(notice.omitted));
}

// "train failed after 12 s: worker.2 exited with code 1 (run 4f1c… on node1)"
std::string NoticeText(const Notice& notice);
// The JSON: one line, newline included, without the values of known secrets. Long texts are cut.
std::string NoticeLine(Notice notice);
// The schemas (wire/archive/json_schema.h) of that JSON, and of the lines of notifications.jsonl.
std::string NoticeSchema();
std::string NotificationsSchema();

// The call of curl that posts a text to a webhook. The address is a secret: it is in the input, not in the words.

struct WebhookCall {
  std::vector<std::string> words;
  std::string input;  // curl's configuration (curl(1), --config)
};

// `body` is JSON. `within_s`: curl gives up after that time.
WebhookCall CallOfWebhook(std::string_view url, std::string_view body, int within_s);

// Whether curl can be given the address: http or https, without blanks and control bytes.
bool IsWebhookAddress(std::string_view url);

// Sends the notifications of a run or sweep: starts their commands, and curl for webhooks, from the loop.
//
// Nothing here delays or fails the run. A notification gets one event at a time; a command that hangs holds up the next
// event only for a moment, and is killed after its time. Events that repeat are sent at most once in an interval: the
// latest replaces one that waits. So queues, processes and time are bounded. What became of each is a line of
// notifications.jsonl in the run's or sweep's directory; a failure is also a warning.

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
