#include "base/values/abnormal_exit.h"

#include <algorithm>

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include "base/values/text_parts.h"

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

namespace {

// The text from the name of the sanitizer on; empty if none follows.
std::string_view NamedSanitizer(std::string_view text) {
  constexpr std::string_view kEnd = "Sanitizer: ";
  const std::size_t end = text.find(kEnd);
  if (end == std::string_view::npos || end == 0) return {};
  const std::string_view name = text.substr(0, end);
  const bool is_name = std::all_of(name.begin(), name.end(), IsLetter);
  return is_name ? text : std::string_view();
}

}  // namespace

SanitizerFinding SanitizerFindingIn(std::string_view line) {
  for (const std::string_view word : {"ERROR: ", "WARNING: ", "SUMMARY: "}) {
    const std::size_t at = line.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view text = NamedSanitizer(line.substr(at + word.size()));
    if (text.empty()) continue;
    const bool summary = word.front() == 'S';
    // Those two continue by default after what they find.
    const bool goes_on = text.starts_with("Thread") || text.starts_with("Undefined");
    return {text, word.front() == 'E' || (summary && !goes_on), summary};
  }
  if (line.find(": runtime error: ") != std::string_view::npos) return {line, false, false};
  return {};
}

std::vector<std::string> SanitizerLogPaths(std::string_view options) {
  constexpr std::string_view kBetween = ":, \t\n\r";
  std::vector<std::string> paths;
  while (true) {
    options.remove_prefix(std::min(options.find_first_not_of(kBetween), options.size()));
    if (options.empty()) return paths;
    const std::size_t equals = options.find('=');
    if (equals == std::string_view::npos) return paths;
    const std::string_view name = options.substr(0, equals);
    options.remove_prefix(equals + 1);
    std::string_view value;
    if (!options.empty() && (options.front() == '\'' || options.front() == '"')) {
      const std::size_t end = options.find(options.front(), 1);
      if (end == std::string_view::npos) return paths;
      value = options.substr(1, end - 1);
      options.remove_prefix(end + 1);
    } else {
      value = options.substr(0, options.find_first_of(kBetween));
      options.remove_prefix(value.size());
    }
    if (name == "log_path" && !value.empty() && value != "stdout" && value != "stderr") paths.emplace_back(value);
  }
}

}  // namespace muster
