// What programs die of, as text: names and numbers of signals, and the lines in which sanitizers report a fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// Signal names and numbers of this machine's C library.

// "SIGKILL"; "SIGRTMIN+3" for the real-time signals; "signal 77" for an invalid number.
std::string SignalName(std::int32_t signal);

// "TERM" or "SIGTERM" -> 15.
std::optional<std::int32_t> SignalNumber(std::string_view name);

// Recognises what sanitizers (AddressSanitizer and the others of compiler-rt and gcc) write about a fault.

struct SanitizerFinding {
  std::string_view text;  // "AddressSanitizer: heap-use-after-free on address 0x…"; empty: the line is none
  bool fatal = false;     // the program ends with it, unless it was built or called to continue
  bool summary = false;   // the last line, which names the place

  explicit operator bool() const { return !text.empty(); }
};

// A line such as "==4711==ERROR: AddressSanitizer: …", "SUMMARY: ThreadSanitizer: …" or "a.cc:3:5: runtime error: …".
SanitizerFinding SanitizerFindingIn(std::string_view line);

// The files that the runtime of a sanitizer may write instead of stderr: the values of log_path in the options of one
// variable ("ASAN_OPTIONS": "log_path=/tmp/a:abort_on_error=1"), without the ".PID" that it appends.
std::vector<std::string> SanitizerLogPaths(std::string_view options);

// The names of these variables.
inline constexpr const char* kSanitizerVariables[] = {"ASAN_OPTIONS", "HWASAN_OPTIONS", "LSAN_OPTIONS",
                                                      "MSAN_OPTIONS", "TSAN_OPTIONS",   "UBSAN_OPTIONS"};

}  // namespace muster
