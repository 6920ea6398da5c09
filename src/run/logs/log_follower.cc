#include "run/logs/log_follower.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <queue>
#include <system_error>
#include <utility>

#include <boost/asio/post.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>

#include "base/system/file_access.h"
#include "base/system/private_files.h"
#include "base/values/quoting.h"
#include "run/control/journal_feed.h"
#include "run/directory/process_output.h"
#include "run/directory/run_directory.h"
#include "wire/files/run_layout.h"

namespace muster {

void LineCutter::Feed(std::string_view bytes, const Emit& emit) {
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\n\r");
    const std::size_t room = kMaxPiece - line_.size();
    if (end != std::string_view::npos && end <= room) {
      line_ += bytes.substr(0, end);
      after_return_ = bytes[end] == '\r';
      emit(line_, continues_);
      line_.clear();
      continues_ = false;
      bytes.remove_prefix(end + 1);
    } else if (bytes.size() <= room) {
      line_ += bytes;
      return;
    } else {
      line_ += bytes.substr(0, room);
      bytes.remove_prefix(room);
      std::size_t cut = line_.size();
      for (int back = 0; back < 4 && cut > 0; ++back) {
        const auto next = static_cast<unsigned char>(cut < line_.size() ? line_[cut] : bytes.front());
        if ((next & 0xC0U) != 0x80U) break;
        --cut;
      }
      if (cut + 4 <= line_.size()) cut = line_.size();  // not UTF-8: there is no character to preserve
      emit(std::string_view(line_).substr(0, cut), continues_);
      line_.erase(0, cut);
      continues_ = true;
    }
  }
}

void LineCutter::Flush(const Emit& emit) {
  if (!line_.empty()) emit(line_, continues_);
  line_.clear();
  continues_ = after_return_ = false;
}

namespace {

constexpr std::chrono::seconds kLook{1};

}  // namespace

std::string PrefixedLine(std::string_view prefix, std::string_view piece, bool continues) {
  if (prefix.empty()) return Printable(piece) + '\n';
  return fmt::format("{} {} {}\n", prefix, continues ? '+' : '|', Printable(piece));
}

LogFollower::LogFollower(boost::asio::io_context& io, Output& out, FollowOptions options)
    : io_(io), out_(out), options_(std::move(options)), writes_(io), looks_(io) {
  out_.OnProgress([this] { Pump(); });
}

Result<void> LogFollower::Watch(int folder, const std::string& path,
                                std::function<void(const std::string& name)> created) {
  folder_ = folder;
  path_ = path;
  created_ = std::move(created);
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify || ::inotify_add_watch(inotify.get(), path.c_str(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0) {
    return Fail(SystemError("inotify", "cannot watch the log files; they are shown at the end", errno));
  }
  writes_.assign(inotify.release());
  AwaitWrites();
  return {};
}

void LogFollower::LookToo() {
  if (stopped_) return;
  std::error_code error;
  for (std::filesystem::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (seen_.insert(name).second) Created(name);
  }
  for (const auto& [name, file] : files_) Queue(name);
  Pump();
  looks_.expires_after(kLook);
  looks_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) LookToo();
  });
}

void LogFollower::Add(const std::string& name, std::string prefix, FollowFrom from) {
  File& file = files_[name];
  file.prefix = std::move(prefix);
  file.offset = from.offset;
  file.cutter = std::move(from.cutter);
  WatchFile(name, file);
  Queue(name);
  Pump();
}

// A watch for each file: writes to the many other files of the folder do not wake the process.
void LogFollower::WatchFile(const std::string& name, File& file) {
  if (!writes_.is_open() || file.watch >= 0) return;
  const std::string path = path_ + '/' + name;
  const int watch = ::inotify_add_watch(writes_.native_handle(), path.c_str(), IN_MODIFY | IN_DONT_FOLLOW);
  if (watch < 0) return;  // the file does not exist yet: the watch of the folder will report it
  file.watch = watch;
  by_watch_.insert_or_assign(watch, name);
}

void LogFollower::Created(const std::string& name) {
  if (const auto found = files_.find(name); found != files_.end()) {
    // Another file may have replaced it.
    if (found->second.watch >= 0 && by_watch_.erase(found->second.watch) > 0) {
      ::inotify_rm_watch(writes_.native_handle(), found->second.watch);
    }
    found->second.watch = -1;
    WatchFile(name, found->second);
    Queue(name);
  } else if (created_) {
    created_(name);
  }
}

void LogFollower::AwaitWrites() {
  writes_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error || stopped_) return;
    ReadFileChanges(writes_.native_handle(), [this](const FileChange& change) {
      if ((change.mask & IN_Q_OVERFLOW) != 0) {
        for (const auto& [each, file] : files_) Queue(each);
      } else if (!change.name.empty()) {
        Created(std::string(change.name));
      } else if (const auto found = by_watch_.find(change.watch); found != by_watch_.end()) {
        Queue(found->second);
        if ((change.mask & IN_IGNORED) != 0) by_watch_.erase(found);
      }
    });
    Pump();
    AwaitWrites();
  });
}

void LogFollower::Queue(const std::string& name) {
  const auto found = files_.find(name);
  if (found == files_.end() || found->second.queued) return;
  found->second.queued = true;
  queue_.push_back(name);
}

// A few pieces in turn, then back to the loop: a flood of output must not delay signals or the end.
void LogFollower::Pump() {
  if (pumping_ || stopped_ || held_) return;
  constexpr int kTurns = 8;
  for (int turn = 0; turn < kTurns && !queue_.empty() && out_.room(); ++turn) {
    const std::string name = std::move(queue_.front());
    queue_.pop_front();
    File& file = files_.at(name);
    file.queued = false;
    if (ShowSome(name, file)) Queue(name);
  }
  if (out_.gone()) queue_.clear();
  if (!queue_.empty() && out_.room()) {
    pumping_ = true;
    boost::asio::post(io_, [this] {
      pumping_ = false;
      Pump();
    });
  } else if (queue_.empty() && done_) {
    for (auto& [name, ended] : files_) {
      File& file = ended;
      file.cutter.Flush([&](std::string_view piece, bool continues) { Show(file, piece, continues); });
    }
    boost::asio::post(io_, std::exchange(done_, nullptr));
  }
}

bool LogFollower::ShowSome(const std::string& name, File& file) {
  if (!file.log) file.log = LogBytes::Open(folder_, name);
  if (!file.log) return false;  // the file does not exist yet
  SkipAhead(name, file);
  char buffer[8U << 10];
  std::uint64_t at = file.offset;
  const std::size_t got = file.log->Read(at, buffer, sizeof buffer);
  if (files_.size() > kMaxOpen) file.log.reset();
  if (at > file.offset) SkipTo(name, file, at);
  if (got == 0) return false;
  file.offset += got;
  if (options_.raw) {
    out_.Write({buffer, got});
    return true;
  }
  file.cutter.Feed({buffer, got}, [&](std::string_view piece, bool continues) { Show(file, piece, continues); });
  return true;
}

void LogFollower::SkipAhead(const std::string& name, File& file) {
  const LogExtent extent = file.log->Look();
  const std::uint64_t size = extent.end;
  if (size < file.offset) file.offset = size;  // truncated by the process
  if (file.offset < extent.begin) SkipTo(name, file, extent.begin);
  if (!options_.skips_ahead || !out_.is_terminal() || size - file.offset <= kMaxBehind) return;
  file.cutter.Flush([&](std::string_view piece, bool continues) { Show(file, piece, continues); });
  constexpr std::uint64_t kShown = 64U << 10;
  const std::uint64_t left_out = size - kShown - file.offset;
  Show(file, fmt::format("… {} bytes not shown here; they are in logs/{}", left_out, name), false);
  file.offset += left_out;
}

void LogFollower::SkipTo(const std::string& name, File& file, std::uint64_t offset) {
  const std::uint64_t left_out = offset - file.offset;
  file.offset = offset;
  if (!options_.raw) {
    file.cutter.Flush([&](std::string_view piece, bool continues) { Show(file, piece, continues); });
  }
  if (options_.dropped) {
    options_.dropped(name, left_out);
  } else if (!options_.raw) {
    Show(file, fmt::format("… {} bytes are missing: dropped by the log's size limit, or never written", left_out),
         false);
  }
}

void LogFollower::Show(const File& file, std::string_view piece, bool continues) {
  if (options_.keeps && !options_.keeps(piece)) return;
  out_.Write(PrefixedLine(file.prefix, piece, continues));
}

void LogFollower::Finish(std::function<void()> done) {
  done_ = std::move(done);
  if (stopped_) {
    boost::asio::post(io_, std::exchange(done_, nullptr));
    return;
  }
  for (const auto& [name, file] : files_) Queue(name);
  Pump();
}

void LogFollower::Release() {
  held_ = false;
  Pump();
}

void LogFollower::Stop() {
  stopped_ = true;
  queue_.clear();
  boost::system::error_code ignored;
  writes_.close(ignored);
  looks_.cancel();
  if (done_) boost::asio::post(io_, std::exchange(done_, nullptr));
}

namespace {

constexpr std::size_t kMaxBlock = 64U << 10;
constexpr std::size_t kMinBlock = 4U << 10;
constexpr std::size_t kAllBlocks = 2U << 20;

// One log, piece by piece, each with the time at which its line was complete.
class Cursor {
 public:
  Cursor(int folder, const LogSpan& span, std::size_t block, bool flushes)
      : folder_(folder),
        span_(span),
        block_size_(block),
        flushes_(flushes),
        at_(span.begin),
        times_(LogTimeReader::Open(folder, span.name)) {}

  // Moves to the next piece; returns false if there is none.
  bool Next() {
    if (!pieces_.empty()) pieces_.pop_front();
    while (pieces_.empty()) {
      if (used_ == block_.size() && !ReadBlock()) {
        if (!flushes_) return false;
        flushes_ = false;
        cutter_.Flush(Keep());
        continue;
      }
      const std::size_t newline = block_.find('\n', used_);
      const std::size_t end = newline == std::string::npos ? block_.size() : newline + 1;
      at_ += end - used_;
      // Not computed for each byte: a line has the time of its last one.
      time_ = times_ ? times_->TimeOf(at_ - 1) : 0;
      cutter_.Feed(std::string_view(block_).substr(used_, end - used_), Keep());
      used_ = end;
    }
    return true;
  }

  std::uint64_t time() const { return pieces_.front().time; }
  std::string_view text() const { return pieces_.front().text; }
  bool continues() const { return pieces_.front().continues; }
  LineCutter& cutter() { return cutter_; }
  // Bytes that were dropped before they were read, since the last call.
  std::uint64_t TakeDropped() { return std::exchange(dropped_, 0); }

 private:
  struct Piece {
    std::uint64_t time;
    std::string text;
    bool continues;
  };

  LineCutter::Emit Keep() {
    return [this](std::string_view text, bool continues) { pieces_.push_back({time_, std::string(text), continues}); };
  }

  bool ReadBlock() {
    block_.clear();
    used_ = 0;
    if (at_ >= span_.end) return false;
    auto file = LogBytes::Open(folder_, span_.name);
    if (!file) return false;
    block_.resize(std::min<std::uint64_t>(block_size_, span_.end - at_));
    std::uint64_t from = at_;
    block_.resize(file->Read(from, block_.data(), block_.size()));
    if (from != at_) {
      cutter_.Flush(Keep());  // the continuation was dropped meanwhile
      dropped_ += std::min(from, span_.end) - at_;
      at_ = from;
      if (at_ >= span_.end) block_.clear();
      block_.resize(std::min<std::uint64_t>(block_.size(), span_.end - std::min(at_, span_.end)));
    }
    return !block_.empty();
  }

  int folder_;
  LogSpan span_;
  std::size_t block_size_;
  bool flushes_;
  std::uint64_t at_;
  std::uint64_t dropped_ = 0;
  std::optional<LogTimeReader> times_;
  std::string block_;
  std::size_t used_ = 0;
  std::uint64_t time_ = 0;
  LineCutter cutter_;
  std::deque<Piece> pieces_;
};

}  // namespace

void MergeLogs(int logs_folder, const std::vector<LogSpan>& spans, const EmitMerged& emit,
               const ReportedDropped& dropped, std::vector<LineCutter>* rest) {
  const std::size_t block = std::clamp(kAllBlocks / std::max<std::size_t>(spans.size(), 1), kMinBlock, kMaxBlock);
  std::deque<Cursor> cursors;
  using Due = std::pair<std::uint64_t, std::size_t>;  // time and span
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
  const auto next = [&](std::size_t span) {
    const bool more = cursors[span].Next();
    if (const std::uint64_t bytes = cursors[span].TakeDropped(); bytes > 0 && dropped) dropped(span, bytes);
    return more;
  };
  for (const LogSpan& span : spans) {
    cursors.emplace_back(logs_folder, span, block, rest == nullptr);
    if (next(cursors.size() - 1)) due.emplace(cursors.back().time(), cursors.size() - 1);
  }
  bool wanted = true;
  while (wanted && !due.empty()) {
    const std::size_t first = due.top().second;
    due.pop();
    Cursor& cursor = cursors[first];
    // While no other log is earlier.
    bool more = true;
    do {
      wanted = emit(first, cursor.text(), cursor.continues());
      more = next(first);
    } while (wanted && more && (due.empty() || Due(cursor.time(), first) < due.top()));
    if (more) due.emplace(cursor.time(), first);
  }
  if (rest == nullptr) return;
  for (Cursor& cursor : cursors) rest->push_back(std::move(cursor.cutter()));
}

// One run, until its logs have been shown completely.
struct RunFollower::Followed {
  Followed(boost::asio::io_context& io, Output& out, const FollowOptions& options, FollowRequest asked)
      : request(std::move(asked)), path(kLogsEntry.In(request.run_dir)), follower(io, out, options), end(io) {}

  Result<void> Start(std::function<void()> shown) {
    Result<UniqueFd> opened = OpenFolder(AT_FDCWD, path);
    if (!opened) return Fail(std::move(opened.error()));
    folder = std::move(*opened);
    const auto created = [this](const std::string& name) {
      if (const std::optional<LogFile> log = request.choice.Find(name)) AddLog(*log);
    };
    if (Result<void> watched = follower.Watch(folder.get(), path, created); !watched) return watched;
    const auto ended = [this, shown = std::move(shown)] {
      follower.Finish([this, shown] {
        follower.Stop();  // frees its inotify watches for others
        shown();
      });
    };
    if (Result<void> waits = end.Start(request.run_dir, ended); !waits) return waits;
    // After the watch was added, so that none is missed; a log that is reported twice is added once.
    for (const LogFile& log : request.choice.In(path)) AddLog(log);
    if (IsHeldElsewhere(request.run_dir)) follower.LookToo();
    return {};
  }

  void AddLog(const LogFile& log) {
    const auto from = request.from.find(log.name);
    follower.Add(log.name, request.prefixed ? request.prefix + log.prefix : std::string(),
                 from == request.from.end() ? FollowFrom{} : std::move(from->second));
  }

  FollowRequest request;
  std::string path;
  UniqueFd folder;
  LogFollower follower;
  RunEndWatch end;
};

RunFollower::RunFollower(int out, FollowOptions options) : out_(io_, out), options_(std::move(options)), signals_(io_) {
  out_.OnProgress([this] { StopIfOver(); });
}

RunFollower::~RunFollower() = default;

Result<void> RunFollower::Add(FollowRequest request) {
  auto& run = *runs_.emplace_back(std::make_unique<Followed>(io_, out_, options_, std::move(request)));
  ++going_on_;
  auto started = run.Start([this] {
    --going_on_;
    StopIfOver();
  });
  if (started) return {};
  --going_on_;
  run.follower.Stop();
  return started;
}

void RunFollower::ExpectMore(bool more) {
  more_ = more;
  boost::asio::post(io_, [this] { StopIfOver(); });
}

int RunFollower::Run() {
  CatchSignals();
  StopIfOver();
  io_.run();
  return exit_code_;
}

void RunFollower::CatchSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    boost::system::error_code ignored;
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) signals_.add(signal, ignored);
  }
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    exit_code_ = 128 + signal;
    io_.stop();
  });
}

void RunFollower::StopIfOver() {
  if (going_on_ == 0 && !more_ && out_.empty()) io_.stop();
}

Result<int> FollowRun(FollowRequest request, int out, FollowOptions options) {
  RunFollower follower(out, std::move(options));
  if (auto added = follower.Add(std::move(request)); !added) return Fail(std::move(added.error()));
  return follower.Run();
}

}  // namespace muster
