#include "cli/wait_option.h"

#include <cmath>

#include "base/shell_quote.h"
#include "base/units.h"
#include "run/device_terms.h"

namespace muster {
namespace {

constexpr const char* kWithoutDuration = "true";  // what a flag is given without a value

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
  return Fail(
      Error("usage", {}, "--wait=" + Quoted(text) + " is no duration", "--wait=10m, or --wait without a limit"));
}

}  // namespace muster
