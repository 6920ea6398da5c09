// Determines where the kernel writes a core dump, by the rules of core(5) for core_pattern.
//
// Interprets the pattern; opens no file.
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
  std::string cwd;  // absolute; base of a pattern without a leading slash
};

struct CorePlace {
  enum class Kind : std::uint8_t {
    kNowhere,  // an empty pattern
    kProgram,  // `text` is the program that reads the dump from its standard input
    kFile,     // `text` is its path
    kGlob      // `text` is a pattern for glob(3), because the path contains values known only to the kernel, such as
               // the time
  };
  Kind kind = Kind::kNowhere;
  std::string text;

  bool operator==(const CorePlace&) const = default;
};

// `pattern` is the content of /proc/sys/kernel/core_pattern without the final newline, `uses_pid` that of
// /proc/sys/kernel/core_uses_pid.
CorePlace CorePlaceOf(std::string_view pattern, bool uses_pid, const Dumped& dumped);

}  // namespace muster
