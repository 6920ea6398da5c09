// Classifies failures to start an agent through ssh: from ssh's exit code and output to a phrase and a hint.
//
// Based on the messages of OpenSSH, which have been stable for many years; unknown messages are quoted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

enum class SshFailureKind : std::uint8_t {
  kPermission,
  kKeyUnknown,
  kKeyChanged,
  kUnresolved,
  kRefused,  // connection refused: nothing listens there
  kTimedOut,
  kUnreachable,
  kTurnedAway,    // the connection was accepted and closed before any data: too many connections at once
  kNoAgent,       // the agent program does not exist
  kNoExec,        // the agent program exists, but cannot be executed
  kAgentRefused,  // the agent started and refused
  kOther,
};

inline constexpr int kSshFailed = 255;  // the exit code of ssh's own failures

struct SshFailure {
  SshFailureKind kind = SshFailureKind::kOther;
  std::string phrase;  // "permission denied": the same for all hosts with the same failure, unless it quotes ssh
  std::string hint;    // may be empty
};

// `exit_code`: 255 is ssh's own, all others are the remote side's; empty if a signal ended ssh. `words`: ssh's stderr,
// banners and other noise included.
SshFailure ClassifySshFailure(std::optional<int> exit_code, std::string_view words);

}  // namespace muster
