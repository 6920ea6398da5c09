// Ignores SIGPIPE and SIGXFSZ for a while.
#pragma once

#include <signal.h>

namespace muster {

// Ignores SIGPIPE and SIGXFSZ during its lifetime, so that a closed stdout and a file at its size limit (EFBIG) are
// errors of write(2) and do not kill the process.
class PipeSignalIgnored {
 public:
  PipeSignalIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before_);
    ::sigaction(SIGXFSZ, &ignore, &of_size_);
  }
  ~PipeSignalIgnored() {
    ::sigaction(SIGPIPE, &before_, nullptr);
    ::sigaction(SIGXFSZ, &of_size_, nullptr);
  }
  PipeSignalIgnored(const PipeSignalIgnored&) = delete;
  PipeSignalIgnored& operator=(const PipeSignalIgnored&) = delete;

 private:
  struct sigaction before_ {};
  struct sigaction of_size_ {};
};

}  // namespace muster
