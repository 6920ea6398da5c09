// Where the kernel puts a core dump: what core(5) says about core_pattern, as text.
//
// Knows the pattern's language; opens nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// The process that dumped.
struct Dumped {
  std::int32_t pid = 0;
  std::int32_t signal = 0;
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::string host;
  std::string cwd;  // absolute; a pattern without a slash in front is relative to it
};

struct CorePlace {
  enum class Kind : std::uint8_t {
    kNowhere,  // an empty pattern
    kProgram,  // `text` is the program that gets the dump on its standard input
    kFile,     // `text` is its path
    kGlob      // `text` is a pattern for glob(3): it names what only the kernel knew, such as the time
  };
  Kind kind = Kind::kNowhere;
  std::string text;

  bool operator==(const CorePlace&) const = default;
};

// `pattern` as /proc/sys/kernel/core_pattern has it (a newline at its end is not part of it), `uses_pid` as
// /proc/sys/kernel/core_uses_pid.
CorePlace CorePlaceOf(std::string_view pattern, bool uses_pid, const Dumped& dumped);

}  // namespace muster
