// The content of a notification: one JSON object about one event of a run or sweep (docs/notify.md). Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/notification.h"
#include "muster/value.h"
#include "run/lines/line_forms.h"

namespace muster {

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

}  // namespace muster
