// The run directory on a host: opened once, so that everything that the agent creates is below that descriptor; and,
// on a host that does not share the head's, created under the same path, filled with the files that processes need,
// and copied to the head while processes write to it. Handles files and folders, no processes.
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
#include <fcntl.h>
#include <tl/expected.hpp>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"
#include "spawn/start/watched_fd.h"
#include "wire/files/run_layout.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Creates the agent's files in a run directory. Independent of their content: logs are written by the processes
// themselves.

// Creates the file: always new (existing files and links are never opened), mode 0600, or 0640 in a folder readable by
// its group (base/system/file_access.h), and owned by the folder's owner if this process is root; `access` is O_WRONLY
// or O_RDWR with further flags. Empty with errno set on failure.
UniqueFd CreateNewFile(const FileBelow& file, int access);

// The same for the stdout and stderr of one attempt: appending. Fails with stage kLog.
tl::expected<UniqueFd, SpawnError> CreateLogFile(const FileBelow& file, int access = O_WRONLY);

// The run directory as used by an agent: opened once, so that everything that the agent creates is below that
// descriptor. A directory that later replaces it under the same path is not used.
//
// Handles one directory and paths below it; independent of its content.
class RunFolder {
 public:
  // Permitted owner besides the agent's own user.
  enum class Owner : std::uint8_t {
    kSelf,
    kAnyIfRoot  // on a host where the agent is root and the head is not
  };

  // Opens the directory at this absolute path. Returns an error text if it is missing, is a link, or belongs to another
  // user; empty on success.
  std::string Open(const std::string& path, Owner owner);

  bool held() const { return static_cast<bool>(directory_); }
  int directory() const { return directory_.get(); }
  const std::string& path() const { return path_; }

  // The file at this absolute path. Files outside the directory cannot be opened, and none before Open()
  // succeeds.
  FileBelow At(const std::string& path) const;

  // Whether its path still refers to it, so that processes that open files by that path find those of muster.
  bool IsInPlace() const { return held() && LeadsTo(path_, directory_.get()); }

 private:
  UniqueFd directory_;
  std::string path_;
};

// The run directory on a host that does not share the head's: created under the same path, filled with the files that
// processes need, and copied to the head while processes write to it.
//
// Handles files and folders, no processes. Logs and metrics are sent to the head as they grow (inotify(7), without
// polling), all other files at the end; after the exit of a process the last 64 KiB of its log are sent at once.
// Writing processes are never blocked, and the files stay until the head confirms that it has stored them.
class HostFolder {
 public:
  static constexpr std::size_t kTail = 64U << 10;
  static constexpr std::size_t kChunk = 256U << 10;
  static_assert(kTail <= kMaxFilePart && kChunk <= kMaxFilePart);
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
