#include "run/ending_text.h"

#include <fmt/format.h>
#include <string.h>

#include "base/shell_quote.h"
#include "base/signal_name.h"

namespace muster {

std::string EndingText(const ProcessExited& event) {
  if (!event.signalled) return fmt::format("exited with code {}", event.code);
  return fmt::format("was killed by {}{}", SignalName(event.code), event.core_dumped ? " (core dumped)" : "");
}

std::string EndingText(const SpawnFailed& event) {
  return fmt::format("could not be started: {}{}{}: {}", Printable(event.stage), event.detail.empty() ? "" : " ",
                     Printable(event.detail), ::strerror(event.error));
}

}  // namespace muster
