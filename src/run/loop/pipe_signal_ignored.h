// Ignores SIGPIPE for a while.
#pragma once

#include <signal.h>

namespace muster {

// Ignores SIGPIPE during its lifetime, so that a closed stdout is an error of write(2) and does not kill the process.
class PipeSignalIgnored {
 public:
  PipeSignalIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before_);
  }
  ~PipeSignalIgnored() { ::sigaction(SIGPIPE, &before_, nullptr); }
  PipeSignalIgnored(const PipeSignalIgnored&) = delete;
  PipeSignalIgnored& operator=(const PipeSignalIgnored&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace muster
