// Why there is no agent on a host: from how ssh ended and what it wrote, to a kind with a phrase and an advice.
//
// Knows the words of OpenSSH, which have been the same for many years; what it does not know is told as it stands.
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
  kRefused,  // nobody listens there
  kTimedOut,
  kUnreachable,
  kTurnedAway,    // the connection was taken and closed before anything was said: too many at once
  kNoAgent,       // there is no such program
  kNoExec,        // there is one, which cannot be executed
  kAgentRefused,  // the agent began and said that it cannot
  kOther,
};

inline constexpr int kSshFailed = 255;  // with this ssh itself exits

struct SshFailure {
  SshFailureKind kind = SshFailureKind::kOther;
  std::string phrase;  // "permission denied": the same for all hosts that fail alike, unless ssh's own words are told
  std::string hint;    // may be empty
};

// `exit_code`: 255 is ssh's own, everything else is the other side's; nothing if a signal ended ssh. `words`: what came
// on stderr, banners and other noise included.
SshFailure ClassifySshFailure(std::optional<int> exit_code, std::string_view words);

}  // namespace muster
