// Queries how this process handles a signal (sigaction(2)).
#pragma once

#include <signal.h>

namespace muster {

inline bool IsIgnored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace muster
