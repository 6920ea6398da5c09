// Follows the log files that processes write, and shows new lines with a prefix.
//
// Uses files, lines and an Output; independent of processes. Memory is bounded: reading pauses while the Output
// has no room, and long lines are split. inotify(7) reports writes to these files only, not to others in the
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "muster/result.h"
#include "run/logs/line_cutter.h"
#include "run/loop/output.h"
#include "wire/files/log_bytes.h"

namespace muster {

// "worker.2 | text\n", or "worker.2 + text\n" for a continuation; with an empty prefix just "text\n". Control bytes are
// replaced.
std::string PrefixedLine(std::string_view prefix, std::string_view piece, bool continues);

struct FollowOptions {
  // If more than kMaxBehind is unread, a terminal gets only the end.
  bool skips_ahead = true;
  // Bytes are shown unchanged as they arrive, without prefixes.
  bool raw = false;
  // Which lines (or pieces of long ones) are shown; empty: all. Ignored with `raw`.
  std::function<bool(std::string_view piece)> keeps;
  // Called with the number of bytes of the log `name` that cannot be shown (LogBytes::Read); if empty, a line in the
  // output reports them, except with `raw`.
  std::function<void(const std::string& name, std::uint64_t bytes)> dropped;
};

// Position from which a file is shown.
struct FollowFrom {
  std::uint64_t offset = 0;
  LineCutter cutter;  // state from the bytes before that position
};

class LogFollower {
 public:
  // If more than this is unread, a terminal gets only the end, with a note about the omitted part.
  static constexpr std::uint64_t kMaxBehind = 4U << 20;
  // Number of files that are kept open; if there are more, each is opened only while it is read. Small, like the number
  // of processes that are shown: their attempts may be many more, and each has a file.
  static constexpr std::size_t kMaxOpen = 8;

  LogFollower(boost::asio::io_context& io, Output& out, FollowOptions options = {});

  // Watches the folder; `folder` is its descriptor, path its path. `created` is called for files that appear in it and
  // have not been added.
  Result<void> Watch(int folder, const std::string& path, std::function<void(const std::string& name)> created = {});
  // Also looks for changes once a second: writers on other hosts are not reported. After Watch().
  void LookToo();
  // Shows the file `name` of the folder with this prefix from now on.
  void Add(const std::string& name, std::string prefix, FollowFrom from = {});
  // Shows nothing until Release(), which continues at the same position.
  void Hold() { held_ = true; }
  void Release();
  // All writers have ended: shows the rest of every file and calls `done` (from the loop).
  void Finish(std::function<void()> done);
  // Stops showing output.
  void Stop();

 private:
  struct File {
    std::string prefix;
    std::optional<LogBytes> log;
    std::uint64_t offset = 0;
    LineCutter cutter;
    bool queued = false;
    int watch = -1;
  };

  void AwaitWrites();
  void WatchFile(const std::string& name, File& file);
  void Created(const std::string& name);
  void Queue(const std::string& name);
  void Pump();
  // Shows the next piece; returns whether there may be more.
  bool ShowSome(const std::string& name, File& file);
  void SkipAhead(const std::string& name, File& file);
  void SkipTo(const std::string& name, File& file, std::uint64_t offset);
  void Show(const File& file, std::string_view piece, bool continues);

  boost::asio::io_context& io_;
  Output& out_;
  FollowOptions options_;
  boost::asio::posix::stream_descriptor writes_;
  boost::asio::steady_timer looks_;
  std::set<std::string> seen_;  // files that LookToo() has found
  int folder_ = -1;
  std::string path_;
  std::function<void(const std::string& name)> created_;
  std::map<std::string, File> files_;
  std::map<int, std::string> by_watch_;
  std::deque<std::string> queue_;  // files that may have unread bytes
  bool pumping_ = false;
  bool stopped_ = false;
  bool held_ = false;
  std::function<void()> done_;
};

}  // namespace muster
