#include "sweep/trial/metrics_watch.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "muster/plan.h"
#include "run/directory/private_files.h"
#include "run/metrics/growing_lines.h"

namespace muster {
namespace {

constexpr std::size_t kMaxResult = 1U << 20;
constexpr std::string_view kRunDirMark = "{run_dir}";

// The folder without placeholders, except that of the run directory, which is filled in.
tl::expected<std::string, std::string> FolderOf(const Text& text, const std::string& run_dir) {
  const auto pieces = Pieces(text);
  if (!pieces) return tl::unexpected(pieces.error());
  std::string folder;
  for (const TextPiece& piece : *pieces) {
    if (piece.hole && piece.hole->kind != Placeholder::Kind::kRunDir) {
      return tl::unexpected("its working folder is known only where it runs: " + Quoted(text.marked));
    }
    folder += piece.hole ? run_dir : piece.literal;
  }
  return folder;
}

}  // namespace

MetricNumber NumberOf(const MetricValues& values, const std::string& metric) {
  const auto found = values.find(metric);
  if (found == values.end()) return {};
  MetricNumber number{true, {}};
  if (found->second.IsNumber() && std::isfinite(found->second.Number())) number.number = found->second.Number();
  return number;
}

Result<MetricValues> ReadResultFile(const Plan& plan, const MetricsChoice& choice, const std::string& run_dir,
                                    const std::string& cwd) {
  auto process = LoggingProcess(plan, choice, choice.place);
  if (!process) return Fail(std::move(process.error()));
  const auto refuse = [&](const std::string& path, const std::string& why) {
    return Fail(Error("metrics", choice.place, fmt::format("the result file {}: {}", Quoted(path), why)));
  };
  std::string name = choice.result_file;
  for (std::size_t at = name.find(kRunDirMark); at != name.npos; at = name.find(kRunDirMark, at + run_dir.size())) {
    name.replace(at, kRunDirMark.size(), run_dir);
  }
  const auto folder = FolderOf(EffectiveCwd(plan, plan.processes[*process]), run_dir);
  std::filesystem::path path = name;
  if (path.is_relative()) {
    if (!folder) return refuse(name, folder.error());
    path = std::filesystem::path(cwd) / *folder / path;
  }
  const auto bytes = ReadFileAt(AT_FDCWD, path, kMaxResult);
  if (!bytes) return refuse(path, bytes.error().empty() ? "it cannot be read" : bytes.error().front().message);
  auto values = MetricsLine(*bytes);
  if (!values) return refuse(path, "it holds no object of JSON such as {\"loss\": 0.25}");
  return *std::move(values);
}

namespace {

constexpr std::string_view kMetricsEnd = ".jsonl";
constexpr std::string_view kLogEnd = ".log";
constexpr std::size_t kMaxNames = 200;
constexpr std::size_t kMaxFiles = 10'000;

// "worker.2" of "worker.2.0.jsonl"; empty for other names.
std::string_view ProcessOf(std::string_view name, std::string_view end) {
  if (!name.ends_with(end)) return {};
  name.remove_suffix(end.size());
  const std::size_t dot = name.rfind('.');
  return dot == name.npos ? std::string_view() : name.substr(0, dot);
}

// Role and index of "worker.2".
std::pair<std::string, std::uint32_t> RoleAndIndex(std::string_view process) {
  const std::size_t dot = process.rfind('.');
  if (dot == process.npos) return {};
  const auto index = ParseNumber<std::uint32_t>(process.substr(dot + 1));
  if (!index) return {};
  return {std::string(process.substr(0, dot)), *index};
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) return names;
  for (const dirent* entry = ::readdir(entries); entry != nullptr && names.size() < kMaxFiles;
       entry = ::readdir(entries)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  ::closedir(entries);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

struct TrialMetrics::State {
  explicit State(MetricsWatch::Trial watched) : trial(std::move(watched)) {
    if (trial.patterns != nullptr) log_reports.emplace(*trial.patterns, trial.resource);
  }

  struct Reported {
    std::string role;
    std::uint32_t index = 0;
    AppendedFile file;
  };

  MetricsWatch::Trial trial;
  std::map<std::string, Reported> metrics;      // by name
  std::map<std::string, std::uint32_t> speaks;  // reporting process, by role
  std::map<std::string, GrowingLog> logs;       // by name: of the attempts of one process
  std::set<std::string> due_metrics, due_logs;
  std::optional<LogReports> log_reports;
  MetricValues last;
  std::uint64_t reports = 0, bad_lines = 0;
  bool queued = false;
  bool followed = false;
  bool over = false;  // no more reports

  std::string MetricsFolder() const { return trial.run_dir + "/metrics"; }
  std::string LogsFolder() const { return trial.run_dir + "/logs"; }
  bool IsLog(std::string_view name) const { return ProcessOf(name, kLogEnd) == trial.log_of; }

  void Report(const MetricValues& values) {
    if (over) return;
    ++reports;
    for (const auto& [name, value] : values) {
      if (last.size() < kMaxNames || last.contains(name)) last[name] = value;
    }
    if (trial.report) trial.report(values);
  }

  void TakeMetrics(Reported& from, std::string_view line, bool whole) {
    if (trial.process_report) {
      const auto values = whole && !over ? MetricsLine(line) : std::nullopt;
      if (values) trial.process_report(from.role, from.index, *values);
      return;
    }
    const auto [speaker, is_first] = speaks.try_emplace(from.role, from.index);
    if (!is_first && speaker->second < from.index) return;
    speaker->second = from.index;
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
      auto [role, index] = RoleAndIndex(ProcessOf(name, kMetricsEnd));
      if (role.empty() || metrics.size() >= kMaxFiles) return false;
      known = metrics.emplace(name, Reported{role, index, AppendedFile(MetricsFolder() + "/" + name)}).first;
    }
    Reported& from = known->second;
    if (const auto speaker = speaks.find(from.role); speaker != speaks.end() && speaker->second < from.index) {
      return false;
    }
    const auto take = [&](std::string_view line, bool whole) { TakeMetrics(from, line, whole); };
    const bool more = from.file.Read(take);
    if (to_the_end && !more) from.file.Flush(take);
    return more;
  }

  bool ReadLog(const std::string& name, bool to_the_end) {
    GrowingLog& log = logs.try_emplace(name, LogsFolder() + "/" + name).first->second;
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
      if (const auto known = metrics.find(name); known != metrics.end()) known->second.file.LeaveOut();
    }
    for (const std::string& name : due_logs) {
      if (const auto known = logs.find(name); known != logs.end()) known->second.LeaveOut();
    }
  }

  // Marks all existing files as due.
  void LookEverywhere() {
    for (std::string& name : NamesIn(MetricsFolder())) due_metrics.insert(std::move(name));
    if (trial.patterns == nullptr) return;
    for (std::string& name : NamesIn(LogsFolder())) {
      if (IsLog(name)) due_logs.insert(std::move(name));
    }
  }
};

struct MetricsWatch::Impl : std::enable_shared_from_this<Impl> {
  using Trial = std::shared_ptr<TrialMetrics::State>;
  // The target of a watch: the folder of metrics, that of logs, or one log.
  struct Watched {
    Trial trial;
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
        std::set<Trial> trials;  // handling a trial adds watches
        for (const auto& [watch, watched] : watches) trials.insert(watched.trial);
        for (const Trial& trial : trials) LookAgain(trial);
        return;
      }
      const auto found = watches.find(change.watch);
      if (found == watches.end()) return;
      if ((change.mask & IN_IGNORED) != 0) {
        watches.erase(found);
        return;
      }
      const Trial trial = found->second.trial;
      switch (found->second.what) {
        case Watched::What::kMetrics:
          trial->due_metrics.insert(std::string(change.name));
          break;
        case Watched::What::kLogs:
          if (!trial->IsLog(change.name)) return;
          WatchLog(trial, std::string(change.name));
          break;
        case Watched::What::kLog:
          trial->due_logs.insert(found->second.log);
          break;
      }
      Queue(trial);
    });
    ReadSoon();
  }

  // Marks all files of the trial as due, regardless of notifications.
  void LookAgain(const Trial& trial) {
    trial->LookEverywhere();
    const std::set<std::string> logs = trial->due_logs;
    for (const std::string& name : logs) WatchLog(trial, name);
    if (!trial->due_metrics.empty() || !logs.empty()) Queue(trial);
  }

  void Queue(const Trial& trial) {
    if (!std::exchange(trial->queued, true)) queue.push_back(trial);
  }

  void ReadSoon() {
    if (queue.empty() || std::exchange(posted, true)) return;
    boost::asio::post(io, [self = shared_from_this()] {
      self->posted = false;
      self->Read();
    });
  }

  // One round over all trials with something to read; the loop handles other events in between.
  void Read() {
    for (std::size_t left = queue.size(); left > 0; --left) {
      const Trial trial = std::move(queue.front());
      queue.pop_front();
      trial->queued = false;
      if (trial->ReadDue(false)) Queue(trial);
    }
    ReadSoon();
  }

  int AddWatch(const std::string& path, std::uint32_t mask, Watched watched) {
    if (!changes.is_open()) return -1;
    const int watch = ::inotify_add_watch(changes.native_handle(), path.c_str(), mask | IN_DONT_FOLLOW);
    if (watch >= 0) watches.insert_or_assign(watch, std::move(watched));
    return watch;
  }

  void WatchLog(const Trial& trial, const std::string& name) {
    AddWatch(trial->LogsFolder() + "/" + name, IN_MODIFY, {trial, Watched::What::kLog, name});
    trial->due_logs.insert(name);  // what was written before the watch
  }

  void Forget(const Trial& trial) {
    std::erase_if(watches, [&](const auto& watched) {
      if (watched.second.trial != trial) return false;
      ::inotify_rm_watch(changes.native_handle(), watched.first);
      return true;
    });
  }

  boost::asio::io_context& io;
  boost::asio::posix::stream_descriptor changes;
  std::map<int, Watched> watches;
  std::deque<Trial> queue;
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

std::unique_ptr<TrialMetrics> MetricsWatch::Watch(Trial trial) {
  if (trial.patterns != nullptr && trial.patterns->empty()) trial.patterns = nullptr;
  const bool at_once = trial.at_once;
  auto state = std::make_shared<TrialMetrics::State>(std::move(trial));
  std::unique_ptr<TrialMetrics> metrics(new TrialMetrics(impl_, std::move(state)));
  if (at_once) metrics->Follow();
  return metrics;
}

void TrialMetrics::Follow() {
  if (!watch_ || std::exchange(state_->followed, true)) return;
  using What = MetricsWatch::Impl::Watched::What;
  watch_->AddWatch(state_->MetricsFolder(), IN_MODIFY, {state_, What::kMetrics, {}});
  if (state_->trial.patterns != nullptr) {
    watch_->AddWatch(state_->LogsFolder(), IN_CREATE | IN_MOVED_TO, {state_, What::kLogs, {}});
  }
  // The watches are in place: later writes are notified.
  watch_->LookAgain(state_);
  watch_->ReadSoon();
}

TrialMetrics::TrialMetrics(std::shared_ptr<MetricsWatch::Impl> watch, std::shared_ptr<State> state)
    : watch_(std::move(watch)), state_(std::move(state)) {}

TrialMetrics::~TrialMetrics() {
  state_->over = true;
  if (watch_ && state_->followed) watch_->Forget(state_);
}

void TrialMetrics::Finish() {
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

const MetricValues& TrialMetrics::last() const { return state_->last; }
std::uint64_t TrialMetrics::reports() const { return state_->reports; }
std::uint64_t TrialMetrics::bad_lines() const { return state_->bad_lines; }

}  // namespace muster
