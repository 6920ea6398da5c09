#include "sweep/watch/watch_sweep.h"

#include <cerrno>
#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "run/control/control_protocol.h"
#include "run/directory/run_directory.h"
#include "run/loop/output.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/record/sweep_status.h"
#include "sweep/watch/sweep_snapshot.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::chrono::seconds kLook{1};

}  // namespace

Result<bool> SweepFeed::Start(const std::string& sweep_dir, Calls calls) {
  calls_ = std::move(calls);
  sweep_dir_ = sweep_dir;
  folder_ = UniqueFd(::open(sweep_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) return Fail(SystemError("sweep", "cannot open " + Quoted(sweep_dir), errno));
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const std::string journal = kJournalEntry.In(sweep_dir);
  if (!inotify || ::inotify_add_watch(inotify.get(), journal.c_str(), IN_MODIFY | IN_CLOSE_WRITE) < 0) {
    return Fail(SystemError("inotify", "cannot follow " + Quoted(journal), errno));
  }
  changes_.assign(inotify.release());
  // Checked after the watch is in place, so that every later event is reported.
  const bool live = IsRunLive(sweep_dir);
  Read();
  if (!live || ended_) return false;
  Await();
  if (IsHeldElsewhere(sweep_dir)) LookLater();
  return true;
}

void SweepFeed::Stop() {
  looks_.cancel();
  boost::system::error_code ignored;
  changes_.close(ignored);
}

void SweepFeed::Read() {
  std::string stopped;
  const auto take = [this](const SweepRecord& record) {
    if (std::holds_alternative<SweepBegan>(record.entry)) ended_ = false;
    if (std::holds_alternative<SweepEnded>(record.entry)) ended_ = true;
    calls_.take(record);
  };
  position_ = ReadSweepJournal(folder_.get(), position_, take, stopped);
  if (calls_.taken) calls_.taken();
}

void SweepFeed::LookLater() {
  looks_.expires_after(kLook);
  looks_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    const bool live = IsRunLive(sweep_dir_);
    Read();
    if (live && !ended_) return LookLater();
    Stop();
    calls_.over();
  });
}

void SweepFeed::Await() {
  changes_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    bool closed = false;
    ReadFileChanges(changes_.native_handle(), [&closed](const FileChange& change) {
      closed = closed || (change.mask & (IN_CLOSE_WRITE | IN_IGNORED)) != 0;
    });
    Read();
    if (!closed && !ended_) return Await();
    Stop();
    calls_.over();
  });
}

void OpenTrialSocket(const std::string& sweep_dir, TrialNumber trial) {
  auto head = ControlConnection::Open(sweep_dir);
  if (head) static_cast<void>(head->Ask({.ask = ControlRequest::Ask::kOpen, .trial = trial}));
}

namespace {

constexpr int kLost = 3;

class SweepWatch {
 public:
  SweepWatch(std::string sweep_dir, const WatchSweepOptions& options)
      : dir_(std::move(sweep_dir)),
        options_(options),
        out_(io_, options.json ? options.out : options.err),
        rows_(io_, out_, options.progress && !options.json && out_.is_terminal()),
        feed_(io_) {}

  Result<int> Run() {
    auto file = ReadSweepFile(dir_);
    if (!file) return Fail(std::move(file.error()));
    description_.objective = file->objective;
    const auto follows = feed_.Start(dir_, {.take = [this](const SweepRecord& record) { Take(record); },
                                            .taken = [this] { rows_.Changed(); },
                                            .over = [this] { io_.stop(); }});
    if (!follows) return Fail(follows.error());
    if (*follows) {
      rows_.Begin([this](std::size_t columns, std::size_t most) { return Rows(columns, most); });
      io_.run();
    }
    rows_.End();
    const int code = progress_.ended() ? progress_.ended()->exit_code : kLost;
    if (!options_.json) {
      out_.Write(
          SummaryText(Status(), progress_.ended() ? progress_.ended()->why : "its head exited without a record"));
    }
    io_.restart();
    while (!out_.empty() && io_.run_one() > 0) {
    }
    return code;
  }

 private:
  void Take(const SweepRecord& record) {
    if (options_.json) {
      out_.Write(SweepJournalLine(record));
    } else if (const std::string line = EntryLine(description_, progress_, record.entry); !line.empty()) {
      out_.Write("muster: " + line + "\n");
    }
    progress_.Take(record.entry);
    if (out_.gone()) io_.stop();
    if (std::holds_alternative<SweepBegan>(record.entry)) {
      began_ns_ = ParseUtc(record.wall).value_or(0);
      over_at_begin_ = progress_.over().size();
    }
  }

  SweepStatus Status() const {
    SweepStatus status;
    status.progress = &progress_;
    status.sweep = &description_;
    const std::uint64_t now = WallNowNs();
    if (began_ns_ != 0 && now > began_ns_) status.seconds = InSeconds(now - began_ns_);
    status.over_at_begin = over_at_begin_;
    return status;
  }

  std::vector<std::string> Rows(std::size_t columns, std::size_t most) const {
    const std::vector<RunningTrial> running = TrialsThatRun(progress_, dir_);
    SweepStatus status = Status();
    for (const RunningTrial& trial : running) ++(trial.run.waits.empty() ? status.running : status.waiting);
    std::vector<std::string> rows = StatusRows(status, columns, most);
    for (const RunningTrial& trial : running) {
      if (rows.size() >= most) break;
      const std::string row = "trial " + trial.Word() + "  " + trial.About();
      rows.emplace_back(FirstColumns(row, columns > 1 ? columns - 1 : 1));
    }
    return rows;
  }

  const std::string dir_;
  const WatchSweepOptions options_;
  boost::asio::io_context io_{1};
  Output out_;
  ProgressDisplay rows_;
  SweepFeed feed_;
  SweepDescription description_;  // its objective is used
  SweepProgress progress_;
  std::uint64_t began_ns_ = 0;  // of the last head, by its clock
  std::uint64_t over_at_begin_ = 0;
};

}  // namespace

Result<int> WatchSweep(const std::string& sweep_dir, const WatchSweepOptions& options) {
  return SweepWatch(sweep_dir, options).Run();
}

}  // namespace muster
