#include "cli/options/wait_option.h"

#include <cmath>

#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "run/directory/device_terms.h"
#include "wire/protocol/device_messages.h"

namespace muster {
namespace {

constexpr const char* kWithoutDuration = "true";  // the value of a flag without argument

}  // namespace

void AddWaitOption(CLI::App& app, std::string& text) {
  app.add_flag("--wait", text, "wait for devices that others hold; --wait=10m: at most ten minutes");
}

Result<std::uint64_t> ReadWait(const std::string& text) {
  if (text.empty()) return std::uint64_t{0};
  if (text == kWithoutDuration) return kWaitForEver;
  constexpr double kLongest = 1e9;
  const auto seconds = ParseDuration(text);
  if (seconds && *seconds > 0 && *seconds <= kLongest) return static_cast<std::uint64_t>(std::ceil(*seconds * 1000));
  return Fail(Error("usage", {}, "--wait=" + Quoted(text) + " is not a duration",
                    DurationHint(text, "--wait=10m, or --wait without a limit")));
}

}  // namespace muster
