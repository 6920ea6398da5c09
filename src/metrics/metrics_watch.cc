#include "metrics/metrics_watch.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <sys/inotify.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "metrics/growing_file.h"
#include "metrics/metric_history.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kMaxFiles = 10'000;

}  // namespace

struct WatchedMetrics::State {
  explicit State(MetricsWatch::Run watched) : run(std::move(watched)) {
    if (run.patterns != nullptr) log_reports.emplace(*run.patterns, run.resource);
  }

  struct Reported {
    MetricsFileName of;
    GrowingFile file;
  };

  MetricsWatch::Run run;
  std::map<std::string, Reported> metrics;      // by name
  std::map<std::string, std::uint32_t> speaks;  // reporting process, by role
  std::map<std::string, GrowingFile> logs;      // by name: of the attempts of one process
  std::set<std::string> due_metrics, due_logs;
  std::optional<LogReports> log_reports;
  std::uint64_t bad_lines = 0;
  bool queued = false;
  bool followed = false;
  bool over = false;  // no more reports

  std::string MetricsFolder() const { return run.run_dir + "/" + kMetricsEntry.name; }
  std::string LogsFolder() const { return run.run_dir + "/" + kLogsEntry.name; }
  bool IsLog(std::string_view name) const {
    const auto log = ParseMetricsFileName(name, kLogEnding);
    return log && log->Process() == run.log_of;
  }

  void Report(const MetricValues& values) {
    if (!over && run.report) run.report(values);
  }

  void TakeMetrics(const MetricsFileName& of, std::string_view line, bool whole) {
    if (run.process_report) {
      const auto values = whole && !over ? MetricsLine(line) : std::nullopt;
      if (values) run.process_report(of.role, of.index, *values);
      return;
    }
    const auto [speaker, is_first] = speaks.try_emplace(of.role, of.index);
    if (!is_first && speaker->second < of.index) return;
    speaker->second = of.index;
    const auto values = whole ? MetricsLine(line) : std::nullopt;
    if (!values) {
      ++bad_lines;
    } else if (!values->empty()) {
      Report(*values);
    }
  }

  void TakeLog(std::string_view line) {
    if (const auto report = log_reports->Take(line)) Report(*report);
  }

  bool ReadMetrics(const std::string& name, bool to_the_end) {
    auto known = metrics.find(name);
    if (known == metrics.end()) {
      const auto of = ParseMetricsFileName(name);
      if (!of || metrics.size() >= kMaxFiles) return false;
      GrowingFile file(GrowingFile::Kind::kMetrics, MetricsFolder() + "/" + name);
      known = metrics.emplace(name, Reported{*of, std::move(file)}).first;
    }
    Reported& from = known->second;
    if (const auto speaker = speaks.find(from.of.role); speaker != speaks.end() && speaker->second < from.of.index) {
      return false;
    }
    const auto take = [&](std::string_view line, bool whole) { TakeMetrics(from.of, line, whole); };
    const bool more = from.file.Read(take);
    if (to_the_end && !more) from.file.Flush(take);
    return more;
  }

  bool ReadLog(const std::string& name, bool to_the_end) {
    GrowingFile& log = logs.try_emplace(name, GrowingFile::Kind::kLog, LogsFolder() + "/" + name).first->second;
    const auto take = [&](std::string_view line, bool) { TakeLog(line); };
    const bool more = log.Read(take);
    if (to_the_end && !more) log.Flush(take);
    return more;
  }

  // Reads a piece of everything that is due; returns whether there is more.
  bool ReadDue(bool to_the_end) {
    for (auto name = due_metrics.begin(); name != due_metrics.end() && !over;) {
      name = ReadMetrics(*name, to_the_end) ? std::next(name) : due_metrics.erase(name);
    }
    for (auto name = due_logs.begin(); name != due_logs.end() && !over;) {
      name = ReadLog(*name, to_the_end) ? std::next(name) : due_logs.erase(name);
    }
    return !over && (!due_metrics.empty() || !due_logs.empty());
  }

  // Skips to the last piece of everything unread.
  void LeaveOut() {
    for (const std::string& name : due_metrics) {
      if (const auto known = metrics.find(name); known != metrics.end()) {
        known->second.file.SkipToLast(GrowingFile::kMaxAtOnce);
      }
    }
    for (const std::string& name : due_logs) {
      if (const auto known = logs.find(name); known != logs.end()) known->second.SkipToLast(GrowingFile::kMaxAtOnce);
    }
  }

  // Marks all existing files as due.
  void LookEverywhere() {
    for (const MetricsFileName& file : MetricsFiles(run.run_dir)) due_metrics.insert(file.Name());
    if (run.patterns == nullptr) return;
    for (std::string& name : LogsOf(run.run_dir, run.log_of)) due_logs.insert(std::move(name));
  }
};

struct MetricsWatch::Impl : std::enable_shared_from_this<Impl> {
  using Run = std::shared_ptr<WatchedMetrics::State>;
  // The target of a watch: the folder of metrics, that of logs, or one log.
  struct Watched {
    Run run;
    enum class What : std::uint8_t { kMetrics, kLogs, kLog } what = What::kMetrics;
    std::string log;
  };

  explicit Impl(boost::asio::io_context& loop) : io(loop), changes(loop) {
    UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    boost::system::error_code refused;
    if (inotify) changes.assign(inotify.get(), refused);
    if (inotify && !refused) inotify.release();
  }

  void Await() {
    changes.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (error) return;
                         self->Take();
                         self->Await();
                       });
  }

  void Take() {
    ReadFileChanges(changes.native_handle(), [this](const FileChange& change) {
      if (change.watch < 0) {
        std::set<Run> runs;  // handling a run adds watches
        for (const auto& [watch, watched] : watches) runs.insert(watched.run);
        for (const Run& run : runs) LookAgain(run);
        return;
      }
      const auto found = watches.find(change.watch);
      if (found == watches.end()) return;
      if ((change.mask & IN_IGNORED) != 0) {
        watches.erase(found);
        return;
      }
      const Run run = found->second.run;
      switch (found->second.what) {
        case Watched::What::kMetrics:
          run->due_metrics.insert(std::string(change.name));
          break;
        case Watched::What::kLogs:
          if (!run->IsLog(change.name)) return;
          WatchLog(run, std::string(change.name));
          break;
        case Watched::What::kLog:
          run->due_logs.insert(found->second.log);
          break;
      }
      Queue(run);
    });
    ReadSoon();
  }

  // Marks all files of the run as due, regardless of notifications.
  void LookAgain(const Run& run) {
    run->LookEverywhere();
    const std::set<std::string> logs = run->due_logs;
    for (const std::string& name : logs) WatchLog(run, name);
    if (!run->due_metrics.empty() || !logs.empty()) Queue(run);
  }

  void Queue(const Run& run) {
    if (!std::exchange(run->queued, true)) queue.push_back(run);
  }

  void ReadSoon() {
    if (queue.empty() || std::exchange(posted, true)) return;
    boost::asio::post(io, [self = shared_from_this()] {
      self->posted = false;
      self->Read();
    });
  }

  // One round over all runs with something to read; the loop handles other events in between.
  void Read() {
    for (std::size_t left = queue.size(); left > 0; --left) {
      const Run run = std::move(queue.front());
      queue.pop_front();
      run->queued = false;
      if (run->ReadDue(false)) Queue(run);
    }
    ReadSoon();
  }

  int AddWatch(const std::string& path, std::uint32_t mask, Watched watched) {
    if (!changes.is_open()) return -1;
    const int watch = ::inotify_add_watch(changes.native_handle(), path.c_str(), mask | IN_DONT_FOLLOW);
    if (watch >= 0) watches.insert_or_assign(watch, std::move(watched));
    return watch;
  }

  void WatchLog(const Run& run, const std::string& name) {
    AddWatch(run->LogsFolder() + "/" + name, IN_MODIFY, {run, Watched::What::kLog, name});
    run->due_logs.insert(name);  // what was written before the watch
  }

  void Forget(const Run& run) {
    std::erase_if(watches, [&](const auto& watched) {
      if (watched.second.run != run) return false;
      ::inotify_rm_watch(changes.native_handle(), watched.first);
      return true;
    });
  }

  boost::asio::io_context& io;
  boost::asio::posix::stream_descriptor changes;
  std::map<int, Watched> watches;
  std::deque<Run> queue;
  bool posted = false;
};

MetricsWatch::MetricsWatch(boost::asio::io_context& io) : impl_(std::make_shared<Impl>(io)) {
  if (live()) impl_->Await();
}

MetricsWatch::~MetricsWatch() {
  boost::system::error_code ignored;
  impl_->changes.close(ignored);
}

bool MetricsWatch::live() const { return impl_->changes.is_open(); }

std::unique_ptr<WatchedMetrics> MetricsWatch::Watch(Run run) {
  if (run.patterns != nullptr && run.patterns->empty()) run.patterns = nullptr;
  const bool at_once = run.at_once;
  auto state = std::make_shared<WatchedMetrics::State>(std::move(run));
  std::unique_ptr<WatchedMetrics> metrics(new WatchedMetrics(impl_, std::move(state)));
  if (at_once) metrics->Follow();
  return metrics;
}

void WatchedMetrics::Follow() {
  if (!watch_ || std::exchange(state_->followed, true)) return;
  using What = MetricsWatch::Impl::Watched::What;
  watch_->AddWatch(state_->MetricsFolder(), IN_MODIFY, {state_, What::kMetrics, {}});
  if (state_->run.patterns != nullptr) {
    watch_->AddWatch(state_->LogsFolder(), IN_CREATE | IN_MOVED_TO, {state_, What::kLogs, {}});
  }
  // The watches are in place: later writes are notified.
  watch_->LookAgain(state_);
  watch_->ReadSoon();
}

WatchedMetrics::WatchedMetrics(std::shared_ptr<MetricsWatch::Impl> watch, std::shared_ptr<State> state)
    : watch_(std::move(watch)), state_(std::move(state)) {}

WatchedMetrics::~WatchedMetrics() {
  state_->over = true;
  if (watch_ && state_->followed) watch_->Forget(state_);
}

void WatchedMetrics::Finish() {
  if (!watch_ || state_->over) return;
  if (state_->followed) watch_->Forget(state_);
  watch_.reset();
  state_->LookEverywhere();
  const std::shared_ptr<State> state = state_;  // a report may destroy this object
  // Bounds the time in the loop: of more data only the last part is read.
  constexpr int kMaxRounds = 16;
  for (int round = 0; state->ReadDue(true); ++round) {
    if (round == kMaxRounds) state->LeaveOut();
  }
}

std::uint64_t WatchedMetrics::bad_lines() const { return state_->bad_lines; }

}  // namespace muster
