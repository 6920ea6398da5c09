// The client side of a run's control socket, for commands that send requests to a head.
//
// Handles one connection and its lines; does not interpret answers. Blocks, with a timeout.
#pragma once

#include <optional>
#include <string>

#include "muster/result.h"
#include "run/control/control_protocol.h"
#include "run/directory/private_files.h"

namespace muster {

class ControlConnection {
 public:
  // Kind "control", blame kMachine, if the head does not answer there.
  static Result<ControlConnection> Open(const std::string& run_dir);

  // Sends the request and waits at most ten seconds for its answer: a head answers from its loop, immediately. A
  // refused request is a failure, too.
  Result<ControlAnswer> Ask(const ControlRequest& request);

  // Sends the request; its answer is the next line. Fails with kind "control" if the head does not accept it.
  Result<void> Send(const ControlRequest& request);

  // --- after a kWatch: lines of the journal as they are written; after Send(): answers ---
  // The next received line, without its newline.
  std::optional<std::string> TakeLine();
  // Reads some of the received bytes, without waiting. Returns false once the connection has ended.
  bool Receive();
  int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
  std::string input_;
};

}  // namespace muster
