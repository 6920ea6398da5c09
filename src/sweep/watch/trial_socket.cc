#include "sweep/watch/trial_socket.h"

#include "run/control/control_protocol.h"

namespace muster {

void OpenTrialSocket(const std::string& sweep_dir, TrialNumber trial) {
  auto head = ControlConnection::Open(sweep_dir);
  if (head) static_cast<void>(head->Ask({.ask = ControlRequest::Ask::kOpen, .trial = trial}));
}

}  // namespace muster
