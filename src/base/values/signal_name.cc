#include "base/values/signal_name.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

namespace muster {

std::string SignalName(std::int32_t signal) {
  if (signal > 0 && signal < NSIG) {
    if (const char* name = sigabbrev_np(signal)) return fmt::format("SIG{}", name);
    if (signal >= SIGRTMIN && signal <= SIGRTMAX) {
      return signal == SIGRTMIN ? "SIGRTMIN" : fmt::format("SIGRTMIN+{}", signal - SIGRTMIN);
    }
  }
  return fmt::format("signal {}", signal);
}

std::optional<std::int32_t> SignalNumber(std::string_view name) {
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (std::int32_t signal = 1; signal < NSIG; ++signal) {
    const std::string full = SignalName(signal);
    if (full.starts_with("SIG") && std::string_view(full).substr(3) == name) return signal;
  }
  return std::nullopt;
}

}  // namespace muster
