#include "transport/ssh_failure.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;
constexpr std::size_t kLongestLine = 300;

struct Known {
  std::string_view words;  // text to be found in a line
  SshFailureKind kind;
};

// The first entry that occurs in any line is used, so the most specific entries come first.
constexpr std::array kKnown = {
    Known{"REMOTE HOST IDENTIFICATION HAS CHANGED", SshFailureKind::kKeyChanged},
    Known{"Host key verification failed", SshFailureKind::kKeyUnknown},
    Known{"Permission denied", SshFailureKind::kPermission},
    Known{"Too many authentication failures", SshFailureKind::kPermission},
    Known{"Could not resolve hostname", SshFailureKind::kUnresolved},
    Known{"Connection refused", SshFailureKind::kRefused},
    Known{"timed out", SshFailureKind::kTimedOut},
    Known{"No route to host", SshFailureKind::kUnreachable},
    Known{"Network is unreachable", SshFailureKind::kUnreachable},
    Known{"exchange_identification: ", SshFailureKind::kTurnedAway},  // kex_ or, before OpenSSH 8.1, ssh_
    Known{"Not allowed at this time", SshFailureKind::kTurnedAway},   // PerSourcePenalties of OpenSSH 9.8
};

struct FailureText {
  SshFailureKind kind;
  std::string_view phrase;
  std::string_view hint;
};

constexpr std::array kFailureTexts = {
    FailureText{SshFailureKind::kPermission, "permission denied",
                "ssh must log in without prompts: add your key to ssh-agent, and to authorized_keys of the host"},
    FailureText{
        SshFailureKind::kKeyUnknown, "its host key is not known",
        "connect to it once with ssh and compare the fingerprint, or have the administrator add it to known_hosts"},
    FailureText{SshFailureKind::kKeyChanged, "its host key has changed",
                "find out why before you trust it: possible man-in-the-middle; then ssh-keygen -R removes the old key"},
    FailureText{SshFailureKind::kUnresolved, "there is no host of that name",
                "check the name, and HostName in ssh's configuration"},
    FailureText{SshFailureKind::kRefused, "connection refused", "sshd does not run there, or listens at another port"},
    FailureText{SshFailureKind::kTimedOut, "no answer", "the host is off, or a firewall is in between"},
    FailureText{SshFailureKind::kUnreachable, "no route to it", "check the network and the routes to it"},
    FailureText{SshFailureKind::kTurnedAway, "its sshd closed the connection",
                "too many connections at once (MaxStartups of sshd_config), there or at the jump host"},
    FailureText{SshFailureKind::kNoAgent, "there is no muster-agent",
                "install muster there, at the same path or on the PATH of ssh logins, or name the agent: --agent PATH"},
    FailureText{SshFailureKind::kNoExec, "its muster-agent cannot be executed",
                "it is of another architecture, or not executable"},
};

std::vector<std::string_view> Lines(std::string_view words) {
  std::vector<std::string_view> lines;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('\n'), words.size());
    std::string_view line = words.substr(0, end);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return lines;
}

SshFailure FailureOf(SshFailureKind kind) {
  for (const FailureText& text : kFailureTexts) {
    if (text.kind == kind) return {kind, std::string(text.phrase), std::string(text.hint)};
  }
  return {kind, {}, {}};
}

std::string Shortened(std::string_view line) { return Printable(line.substr(0, kLongestLine)); }

}  // namespace

SshFailure ClassifySshFailure(std::optional<int> exit_code, std::string_view words) {
  const std::vector<std::string_view> lines = Lines(words);
  if (exit_code == kSshFailed) {
    for (const Known& known : kKnown) {
      const bool said = std::any_of(lines.begin(), lines.end(), [&known](std::string_view line) {
        return line.find(known.words) != std::string_view::npos;
      });
      if (said) return FailureOf(known.kind);
    }
    // "Connection closed by 192.0.2.1 port 22", "Connection reset by …": as the last line, before any other message.
    const bool closed = !lines.empty() && (lines.back().starts_with("Connection closed by ") ||
                                           lines.back().starts_with("Connection reset by "));
    if (closed) return FailureOf(SshFailureKind::kTurnedAway);
    return {
        SshFailureKind::kOther, lines.empty() ? "ssh failed without output" : "ssh: " + Shortened(lines.back()), {}};
  }
  if (!exit_code) return {SshFailureKind::kOther, "ssh was ended by a signal", {}};
  if (exit_code == kNotFound) return FailureOf(SshFailureKind::kNoAgent);
  if (exit_code == kNotExecutable) return FailureOf(SshFailureKind::kNoExec);
  for (const std::string_view line : lines) {
    if (line.starts_with("muster-agent: ")) {
      return {SshFailureKind::kAgentRefused, Shortened(line.substr(line.find(' ') + 1)), {}};
    }
  }
  const std::string code = "the command there ended with exit code " + std::to_string(*exit_code);
  return {SshFailureKind::kOther, lines.empty() ? code : code + ": " + Shortened(lines.back()), {}};
}

}  // namespace muster
