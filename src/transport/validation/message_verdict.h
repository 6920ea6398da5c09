// Whether a message of an agent matches the commands that it was given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

struct MessageVerdict {
  enum class Kind : std::uint8_t {
    kBelongs,
    kStray,  // about something that the agent was not given, or an unexpected answer: to be ignored
    kUnfit   // an answer with an invalid text: the host cannot be used
  };
  Kind kind = Kind::kBelongs;
  std::string why;  // a phrase; empty if the message is accepted

  static MessageVerdict Stray(std::string why);
  static MessageVerdict Unfit(std::string why);
  // A stray about an attempt of a process.
  static MessageVerdict OfAttempt(std::uint32_t process, std::uint32_t attempt, std::string_view what);
  // Accepted if it was requested, else a stray.
  static MessageVerdict If(bool requested, std::string_view what);
};

// Takes one from a count, if there is one left.
bool TakeOne(std::uint32_t& count);

}  // namespace muster
