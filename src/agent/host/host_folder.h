// The run directory on a host that does not share the head's: created under the same path, filled with the files that
// processes need, and copied to the head while processes write to it.
//
// Handles files and folders, no processes. Logs and metrics are sent to the head as they grow (inotify(7), without
// polling), all other files at the end; after the exit of a process the last 64 KiB of its log are sent at once.
// Writing processes are never blocked, and the files stay until the head confirms that it has stored them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/host/run_folder.h"
#include "base/system/unique_fd.h"
#include "spawn/start/watched_fd.h"
#include "wire/files/collected_files.h"
#include "wire/protocol/file_messages.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {

class HostFolder {
 public:
  static constexpr std::size_t kTail = 64U << 10;
  static constexpr std::size_t kChunk = 256U << 10;
  static_assert(kTail <= kMostFilePart && kChunk <= kMostFilePart);
  // Writes within this time are sent together.
  static constexpr std::chrono::milliseconds kBatch{50};

  struct Ends {
    std::function<void(const FileBytes&)> send;
    // Calls back once everything that was sent has been written to the connection.
    std::function<void(std::function<void()>)> when_sent;
  };
  // `run_folder`, which must outlive this object, becomes the run directory when it is opened.
  HostFolder(boost::asio::io_context& io, RunFolder& run_folder, Ends ends);

  // Checks whether the head's folder is visible, by its file `probe` with the run's id; creates a folder if not.
  // Returns an error text, empty on success.
  std::string Open(const std::string& path, const std::string& run_id);
  // Whether the folder was created here. If not, the agent is not responsible for it, and the functions below do
  // nothing.
  bool made() const { return made_; }

  // Writes a file. Returns an error text, empty on success.
  std::string Put(const PlaceFile& file);
  // Announces a file that will be created, by its absolute path, and creates its folder.
  void Expect(const std::string& file);

  // Announces an attempt with that log, before its start is tried.
  void ExpectAttempt(const std::string& log);
  // The log grows from now on; a `limited` log, whose beginning may be dropped, is sent as a whole at the end.
  void Began(const std::string& log, bool limited);
  void Ended(const std::string& log);

  // Sends everything that the head does not have yet; then calls `done` from the loop. No process may be writing.
  void SendAll(std::function<void()> done);
  // Removes the files that the head has, and folders that have become empty.
  void Remove();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void RemoveAbove();
  // The path relative to the folder; empty if the absolute path is not below it.
  std::string Relative(const std::string& path) const;
  void MakeFoldersAbove(const std::string& relative);
  // Creates the folder itself. Returns an error text, empty on success.
  std::string Make(const std::string& path);
  int directory() const { return run_folder_.directory(); }
  void AwaitWrites();
  void OnWrites();
  void Pump();
  // Sends the next part of this file; true if there is more.
  bool SendNext(const std::string& file);

  boost::asio::io_context& io_;
  Ends ends_;
  RunFolder& run_folder_;
  WatchedFd watch_;
  Timer batch_;
  bool made_ = false;
  std::vector<std::string> made_above_;  // created parent folders
  std::set<std::string> put_;            // relative paths, here and below
  CollectedFiles brought_;
  std::set<std::string> limited_;
  std::map<std::string, std::uint64_t> sent_;
  std::set<std::string> due_;
  std::map<int, std::string> watched_;  // by watch: "logs/", "metrics/"
  bool batching_ = false;
  bool sending_ = false;
  bool all_ = false;
  std::function<void()> done_;
};

}  // namespace muster
