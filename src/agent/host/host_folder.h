// The run directory on a host that does not see the head's: made under the same path, given the files that processes
// are to find there, and what processes write there brought to the head, as they write it.
//
// Knows files and folders, no process. Logs and metrics go to the head as they grow (inotify(7); nothing is polled),
// everything else at the end; of a process that has ended the last 64 KiB of its log go at once. Who writes is never
// waited for, and the files stay until the head says that it has them.
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
  // What is written within this time goes together.
  static constexpr std::chrono::milliseconds kBatch{50};

  struct Ends {
    std::function<void(const FileBytes&)> send;
    // Calls back once everything that was sent is on its way.
    std::function<void(std::function<void()>)> when_sent;
  };
  // `run_folder`, which must outlive it, is the run directory once that is open.
  HostFolder(boost::asio::io_context& io, RunFolder& run_folder, Ends ends);

  // Looks whether the head's folder is there, by its file `probe` with the run's id in it; makes one if not. Empty, or
  // why there is none.
  std::string Open(const std::string& path, const std::string& run_id);
  // Whether it was made here: else nothing of it is the agent's affair, and none of the following does anything.
  bool made() const { return made_; }

  // Empty, or why it cannot be.
  std::string Put(const PlaceFile& file);
  // A file that will be made there, by its absolute path, in a folder that is made for it.
  void Expect(const std::string& file);

  // An attempt with that log is about to be started, whether it can be or not.
  void ExpectAttempt(const std::string& log);
  // Its log grows from here on; one that loses its beginning goes to the head at the end, as a whole.
  void Began(const std::string& log, bool limited);
  void Ended(const std::string& log);

  // Everything that is not with the head yet; then `done`, from the loop. Nobody writes any more.
  void SendAll(std::function<void()> done);
  // Takes away what the head has, and the folders that are empty then.
  void Remove();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void RemoveAbove();
  // Below the folder, of an absolute path; empty if it is not there.
  std::string Relative(const std::string& path) const;
  void MakeFoldersAbove(const std::string& relative);
  // Makes the folder itself. Empty, or why it cannot be.
  std::string Make(const std::string& path);
  int directory() const { return run_folder_.directory(); }
  void AwaitWrites();
  void OnWrites();
  void Pump();
  // Of this file what comes next; true if there is more.
  bool SendNext(const std::string& file);

  boost::asio::io_context& io_;
  Ends ends_;
  RunFolder& run_folder_;
  WatchedFd watch_;
  Timer batch_;
  bool made_ = false;
  std::vector<std::string> made_above_;  // folders that were made for it
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
