#include "run/logs/log_follower.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <boost/asio/post.hpp>
#include <errno.h>
#include <fmt/format.h>
#include <sys/inotify.h>

#include "base/system/file_changes.h"
#include "base/values/shell_quote.h"

namespace muster {
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

}  // namespace muster
