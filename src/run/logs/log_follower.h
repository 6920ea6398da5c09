// Following the log files that processes write themselves, and showing them line by line with a prefix.
//
// Knows files, lines and an Output; not what processes are. Memory is bounded whatever is written: reading
// waits while the Output has no room, and long lines come in pieces. Told of writes to its files by inotify(7), not of
// those to others in the folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "muster/result.h"
#include "run/logs/line_cutter.h"
#include "run/loop/output.h"
#include "wire/files/log_bytes.h"

namespace muster {

// "worker.2 | text\n", or "worker.2 + text\n" for a continuation; with an empty prefix just "text\n". No control byte
// gets through.
std::string PrefixedLine(std::string_view prefix, std::string_view piece, bool continues);

struct FollowOptions {
  // A terminal is shown the end only of what lies more than kMaxBehind back.
  bool skips_ahead = true;
  // The bytes as they were written, as they come, without prefixes.
  bool raw = false;
  // Which lines (or pieces of long ones) are shown; empty: all. Of no effect on raw bytes.
  std::function<bool(std::string_view piece)> keeps;
  // Told of bytes of the log `name` that cannot be shown (LogBytes::Read); empty: a line says so among
  // the others, but for raw bytes.
  std::function<void(const std::string& name, std::uint64_t bytes)> dropped;
};

// From where a file is shown.
struct FollowFrom {
  std::uint64_t offset = 0;
  LineCutter cutter;  // what came before it
};

class LogFollower {
 public:
  // Beyond this much unread, a terminal is shown the end only, with a note of what was left out.
  static constexpr std::uint64_t kMaxBehind = 4U << 20;
  // So many files are kept open; of more, each is opened for the moment in which it is read. As few as are shown of a
  // small job: its attempts may be many more, and each has a file.
  static constexpr std::size_t kMaxOpen = 8;

  LogFollower(boost::asio::io_context& io, Output& out, FollowOptions options = {});

  // Watches the folder; `folder` is its descriptor, path its path. `created` is told of files that appear in it and
  // have not been added.
  Result<void> Watch(int folder, const std::string& path, std::function<void(const std::string& name)> created = {});
  // Shows the file `name` of the folder with this prefix from now on.
  void Add(const std::string& name, std::string prefix, FollowFrom from = {});
  // Shows nothing until Release(), which goes on where it was.
  void Hold() { held_ = true; }
  void Release();
  // Nobody writes any more: show the rest of every file and call `done` (from the loop).
  void Finish(std::function<void()> done);
  // Show no more.
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
  // Shows the next piece; whether there may be more.
  bool ShowSome(const std::string& name, File& file);
  void SkipAhead(const std::string& name, File& file);
  void SkipTo(const std::string& name, File& file, std::uint64_t offset);
  void Show(const File& file, std::string_view piece, bool continues);

  boost::asio::io_context& io_;
  Output& out_;
  FollowOptions options_;
  boost::asio::posix::stream_descriptor writes_;
  int folder_ = -1;
  std::string path_;
  std::function<void(const std::string& name)> created_;
  std::map<std::string, File> files_;
  std::map<int, std::string> by_watch_;
  std::deque<std::string> queue_;  // files that may hold something unread
  bool pumping_ = false;
  bool stopped_ = false;
  bool held_ = false;
  std::function<void()> done_;
};

}  // namespace muster
