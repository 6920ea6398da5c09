// The control socket of a run, as the head serves it: `control` in the run directory (docs/control.md).
//
// Knows connections and lines; what a request does is its owner's. Lives on the head's one loop and never
// blocks it: nothing is read from whoever has not taken his answer, who watches and does not read is let go,
// and only processes of the same user and of root are listened to, whatever the folder's mode has become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <sys/types.h>
#include <tl/expected.hpp>

#include "muster/result.h"
#include "run/control/control_protocol.h"
#include "run/directory/private_files.h"

namespace muster {

// Whether the process that connected this Unix socket did so as `owner`, or as root, who could do all of it anyway
// (SO_PEERCRED, unix(7)). False if that cannot be told.
bool MayControl(int client, uid_t owner);

class ControlServer {
 public:
  static constexpr char kName[] = "control";
  static constexpr std::size_t kMaxClients = 64;
  static constexpr std::size_t kMaxUnread = 8U << 20;  // bytes that may wait for one who watches

  struct Calls {
    std::function<RunStatus()> status;
    // Ends the run: gracefully, or at once; after a dump, or without. Whether that changed anything.
    std::function<bool(bool now, bool dump)> stop;
    // Takes a dump, or joins the one that is being taken: its number. The error is a sentence.
    std::function<tl::expected<std::uint32_t, std::string>()> dump;
    // The number of the dump that is being taken; 0: none is.
    std::function<std::uint32_t()> dumping;
    std::function<ProcessStatuses()> processes;
    // Makes the control socket of a running trial now. The error is a sentence. Empty: there are no trials.
    std::function<tl::expected<void, std::string>(std::uint64_t trial)> open = {};
  };

  // Makes the socket in the folder, which the caller holds (run/directory/run_directory.h) and whose descriptor must
  // stay open for as long as the server lives. Kind "control" where the file system holds no sockets.
  static Result<std::unique_ptr<ControlServer>> Listen(boost::asio::io_context& io, int folder, Calls calls);
  // Takes the socket away and ends every connection.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // Whether anybody would get what is published.
  bool watched() const;
  // Sends the line, which ends with a newline, to everybody who watches.
  void Publish(const std::string& line);

 private:
  struct Client;

  ControlServer(boost::asio::io_context& io, int folder, Calls calls, UniqueFd socket);
  void AwaitClients();
  void Accept();
  // Without a free descriptor a waiting connection would wake the loop for ever: it is taken and let go.
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
  // Handlers may still be on their way when this is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster
