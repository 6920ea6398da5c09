// What this process does on a signal, asked and changed for a while. Knows dispositions (sigaction(2)), not what they
// are wanted for.
#pragma once

#include <signal.h>

namespace muster {

inline bool IsIgnored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace muster
