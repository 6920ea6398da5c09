// The head's side of a run's control socket: `control` in the run directory (docs/control.md).
//
// Handles connections and lines; its owner carries out the requests. Runs on the head's one loop and never blocks it:
// it reads nothing from clients that have not received their answer, disconnects watchers that do not read, and accepts
// only processes of the same user and of root, whatever the mode of the folder is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <sys/types.h>
#include <tl/expected.hpp>

#include "base/system/private_files.h"
#include "muster/result.h"
#include "run/control/control_protocol.h"
#include "wire/files/run_layout.h"

namespace muster {

// Whether the process that connected this Unix socket did so as `owner`, or as root, who is allowed to do everything
// anyway (SO_PEERCRED, unix(7)). False if that is unknown.
bool MayControl(int client, uid_t owner);

class ControlServer {
 public:
  static constexpr const char* kName = kControlEntry.name;
  static constexpr std::size_t kMaxClients = 64;
  static constexpr std::size_t kMaxUnread = 8U << 20;  // bytes that may be pending for a watcher

  struct Calls {
    std::function<RunStatus()> status;
    // Ends the run: gracefully, or at once; after a dump, or without. Returns whether that changed anything.
    std::function<bool(bool now, bool dump)> stop;
    // Takes a dump, or joins the one in progress; returns its number. The error is a sentence.
    std::function<tl::expected<std::uint32_t, std::string>()> dump;
    // The number of the dump in progress; 0: none.
    std::function<std::uint32_t()> dumping;
    std::function<ProcessStatuses()> processes;
    // Injects a fault. The error is a sentence. Empty for a sweep.
    std::function<tl::expected<FaultAnswer, std::string>(const ControlRequest& request)> fault = {};
    // Creates the control socket of a running trial. The error is a sentence. Empty if there are no trials.
    std::function<tl::expected<void, std::string>(std::uint64_t trial)> open = {};
    // Changes the limits of a sweep, and returns those now. The error is a sentence. Empty if there are no trials.
    std::function<tl::expected<SweepLimits, std::string>(const ControlRequest& request)> steer = {};
    // Edits a sweep, and returns its limits now. The error is a sentence. Empty if there are no trials.
    std::function<tl::expected<SweepLimits, std::string>(const std::string& edit)> edit = {};
  };

  // Creates the socket in the folder, which the caller holds (run/directory/run_directory.h) and whose descriptor must
  // stay open while the server exists. Kind "control" if the file system does not support sockets.
  static Result<std::unique_ptr<ControlServer>> Listen(boost::asio::io_context& io, int folder, Calls calls);
  // Removes the socket and closes every connection.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // Whether there are watchers.
  bool watched() const;
  // Sends the line, which ends with a newline, to all watchers.
  void Publish(const std::string& line);

 private:
  struct Client;

  ControlServer(boost::asio::io_context& io, int folder, Calls calls, UniqueFd socket);
  void AwaitClients();
  void Accept();
  // Accepts and closes a waiting connection if no descriptor is free: otherwise it would wake the loop again and again.
  void TurnAway();
  void AwaitRequest(const std::shared_ptr<Client>& client);
  void Read(const std::shared_ptr<Client>& client);
  void ServeLines(const std::shared_ptr<Client>& client);
  ControlAnswer AnswerTo(std::string_view line, Client& client);
  void Send(const std::shared_ptr<Client>& client, const std::string& bytes);
  void Write(const std::shared_ptr<Client>& client);
  void Drop(const std::shared_ptr<Client>& client);

  boost::asio::io_context& io_;
  int folder_;
  Calls calls_;
  boost::asio::posix::stream_descriptor socket_;
  UniqueFd spare_;
  std::vector<std::shared_ptr<Client>> clients_;
  // Handlers may still be queued after the server is destroyed.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster
