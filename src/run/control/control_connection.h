// The other end of a run's control socket: for commands that ask a head something.
//
// Knows one connection and its lines; not what is done with the answers. Blocks, with a deadline.
#pragma once

#include <optional>
#include <string>

#include "muster/result.h"
#include "run/control/control_protocol.h"
#include "run/directory/private_files.h"

namespace muster {

class ControlConnection {
 public:
  // Kind "control", blame kMachine, if nobody answers there.
  static Result<ControlConnection> Open(const std::string& run_dir);

  // Sends the request and waits for its answer, ten seconds at most: a head answers from its loop, at once. A refused
  // request is a failure, too.
  Result<ControlAnswer> Ask(const ControlRequest& request);

  // Sends the request; its answer is the next line. Fails with kind "control" if the head does not listen.
  Result<void> Send(const ControlRequest& request);

  // --- after a kWatch, the journal's lines as they are written; after Send, the answers ---
  // The next line that has arrived, without its newline.
  std::optional<std::string> TakeLine();
  // Takes some of what has arrived, without waiting. False once nothing more will come.
  bool Receive();
  int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
  std::string input_;
};

}  // namespace muster
