// Classes of failures, in which reports, verdicts and their rules name them (FailureJudged::failure_class).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster {

enum class FailureClass : std::uint8_t {
  kException,  // an exception of Python, or a message in its error file
  kExit,       // another exit code than 0
  kCrash,      // a signal of the processor, an abort, a sanitizer
  kKilled,     // another signal, which muster did not send
  kMemory,     // out of memory, of the host or a device
  kDisk,       // no space left
  kPort,       // a port was taken
  kSpawn,      // it could not be started
  kUnready,    // not ready in time, or an end before it was
  kSilent,     // a limit of silence
  kTime,       // a time limit
  kHost        // its host was lost
};
inline constexpr std::array<std::string_view, 12> kFailureClassNames = {
    "exception", "exit", "crash", "killed", "memory", "disk", "port", "spawn", "unready", "silent", "time", "host"};
constexpr std::string_view FailureClassName(FailureClass of) {
  return kFailureClassNames[static_cast<std::size_t>(of)];
}

}  // namespace muster
