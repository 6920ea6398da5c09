// Shows the logs of processes with a prefix: followed while they are written, for a run's console or for `muster logs
// --follow` until the runs end, or merged into one stream in the order of their times. Uses files, lines and an
// Output; independent of processes. Memory is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "muster/result.h"
#include "run/logs/log_choice.h"
#include "run/loop/output.h"
#include "wire/files/log_bytes.h"

namespace muster {

// Splits the bytes of a growing log into lines, in bounded memory.

// Splits bytes into lines for display: line ends are "\n", "\r\n" and "\r" (progress bars); longer lines than kMaxPiece
// are split into pieces, but not inside a UTF-8 character.
class LineCutter {
 public:
  static constexpr std::size_t kMaxPiece = 4096;
  // `continues`: the piece continues the previous one.
  using Emit = std::function<void(std::string_view piece, bool continues)>;

  void Feed(std::string_view bytes, const Emit& emit);
  // Emits the unfinished line at the end, if there is one.
  void Flush(const Emit& emit);

 private:
  std::string line_;
  bool continues_ = false;
  bool after_return_ = false;
};

// Follows the log files that processes write, and shows new lines with a prefix.
//
// Uses files, lines and an Output; independent of processes. Memory is bounded: reading pauses while the Output
// has no room, and long lines are split. inotify(7) reports writes to these files only, not to others in the
// folder.

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

// Merges logs into one stream, ordered by when their lines were complete, as far as known
// (run/directory/process_output.h).
//
// Depends on files and times. Holds at most a few blocks of each log in memory, and one descriptor at a time.

// Bytes of a log of the folder to be shown.
struct LogSpan {
  std::string name;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Emits the lines of all spans, lines of equal times in the spans' order; `emit` returns whether to continue. Logs
// without known times come first. Unfinished lines at the ends are emitted too, unless `rest` is not null: then it
// gets, for each span, the state for continuing its log. `dropped` is called for bytes of a span that the log's limit
// dropped meanwhile.
using EmitMerged = std::function<bool(std::size_t span, std::string_view piece, bool continues)>;
using ReportedDropped = std::function<void(std::size_t span, std::uint64_t bytes)>;
void MergeLogs(int logs_folder, const std::vector<LogSpan>& spans, const EmitMerged& emit,
               const ReportedDropped& dropped, std::vector<LineCutter>* rest = nullptr);

// Implements muster logs --follow: shows the chosen logs of runs while they are written, new attempts included, until
// the runs end, the reader closes its end or a signal arrives. One loop, no polling.
//
// Uses files and the reader's descriptor. The runs' heads are not affected.

struct FollowRequest {
  std::string run_dir;
  LogChoice choice;
  bool prefixed = false;
  std::string prefix = {};                 // before the process's prefix: "job:3 "
  std::map<std::string, FollowFrom> from;  // by the log's name; other logs are shown from their beginning
};

// Follows several runs at once; runs may be added at any time.
class RunFollower {
 public:
  RunFollower(int out, FollowOptions options);
  ~RunFollower();

  boost::asio::io_context& io() { return io_; }
  // Fails, and shows nothing of the run, if it cannot be watched.
  Result<void> Add(FollowRequest request);
  // With `more`, Run() does not return although all runs have ended.
  void ExpectMore(bool more);
  // Runs until all runs have ended and been shown: returns 0, or 128+n if signal n (SIGINT, SIGTERM, SIGHUP) ended it.
  int Run();

 private:
  struct Followed;
  void CatchSignals();
  void StopIfOver();

  boost::asio::io_context io_{1};
  Output out_;
  FollowOptions options_;
  boost::asio::signal_set signals_;
  std::vector<std::unique_ptr<Followed>> runs_;  // ended ones, too: the output still calls them
  std::size_t going_on_ = 0;
  bool more_ = false;
  int exit_code_ = 0;
};

// Follows one run. Fails, and shows nothing, if it cannot be watched.
Result<int> FollowRun(FollowRequest request, int out, FollowOptions options);

}  // namespace muster
