// The ssh transport: starts agents on other hosts with the user's ssh and its configuration. The command lines of
// ssh, the meaning of its failures, and the limit on concurrent connection attempts, which an sshd or a jump host
// requires. For ssh(1) and ssh_config(5), OpenSSH 7.6 and later.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "spawn/start/launcher.h"
#include "transport/transport.h"
#include "wire/connection/lease.h"

namespace muster {

// Builds command lines of ssh that start an agent on a host or print ssh's configuration for a host.
//
// For ssh(1) and ssh_config(5), OpenSSH 7.6 and later; starts nothing. The user's configuration, keys and jump hosts
// apply; the options set here are required whatever that configuration contains. The remote side gets one fixed command
// with the agent's arguments; everything else comes through its stdin.

struct SshSettings {
  std::string program = "ssh";  // a path, or a name to be looked up on PATH
  std::string config;           // for ssh's -F, which replaces the user's and the system's configuration; empty: no -F
  std::string agent;            // path of muster-agent on the hosts, …
  bool agent_given = false;     // … set by the user; else the PATH is searched too, …
  std::string foreign_agents;   // … and on a host of another architecture this folder (ForeignAgentsFolder()) before
  std::string machine;          // the architecture of `agent`; empty: that of this machine
  std::uint32_t connect_seconds = 10;
  std::uint32_t greeting_seconds = 30;        // for the first message of the agent: a login may hang on a dead disk
  std::vector<std::string> agent_words = {};  // further arguments of the agent
};

// Reads `MUSTER_SSH` (program) and `MUSTER_SSH_CONFIG` (config) of this environment ("NAME=value").
SshSettings SshSettingsFrom(const std::vector<std::string>& environment);

// ssh to the host's agent, without terminal, prompts and forwardings, and only for hosts with a known key. Kind "hosts"
// if the name is invalid (IsHostName).
Result<std::vector<std::string>> SshArguments(const SshSettings& settings, std::string_view host);

// The command for the host's login shell, whichever shell that is. The host finds its architecture out and the agent
// for it: that of `foreign_agents`, or the usual one if it is of the host's architecture there.
std::string RemoteCommand(const SshSettings& settings);

// ssh -G: prints the configuration for the host without connecting.
Result<std::vector<std::string>> SshQuestion(const SshSettings& settings, std::string_view host);

// Whether the output of SshQuestion() names a jump host or a proxy command.
bool GoesThroughJumpHost(std::string_view answer);

// Classifies failures to start an agent through ssh: from ssh's exit code and output to a phrase and a hint.
//
// Based on the messages of OpenSSH, which have been stable for many years; unknown messages are quoted.

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

// The same, for the command of RemoteCommand(): on a host of another architecture a missing agent, or one that cannot
// be executed, is explained by both architectures.
SshFailure ClassifySshFailure(const SshSettings& settings, std::optional<int> exit_code, std::string_view words);

// Limits the number of concurrent connection attempts, and schedules retries of refused ones: a pure state machine.
//
// Handles numbers of hosts and times; opens no connection. An sshd, or a jump host, accepts a limited number of
// unauthenticated connections (MaxStartups, 10 by default); the window stays below that if there is a jump host, and
// shrinks to it once a connection is refused.
class ConnectWindow {
 public:
  static constexpr std::uint32_t kWide = 64;
  static constexpr std::uint32_t kNarrow = 8;
  static constexpr std::uint32_t kMaxTries = 6;

  // `random` returns a number from 0 to its argument, both included.
  using Random = std::function<std::uint64_t(std::uint64_t)>;
  explicit ConnectWindow(Random random) : random_(std::move(random)) {}

  void Narrow() { width_ = kNarrow; }
  std::uint32_t width() const { return width_; }

  // Queues the connection.
  void Add(std::uint32_t connection) { waiting_.push_back(connection); }
  // The connections to open now, in order of arrival; Done() or TurnedAway() must be called for each.
  std::vector<std::uint32_t> Begin(std::uint64_t now_ns);
  // When Begin() will return more connections without any further Done(); empty if never.
  std::optional<std::uint64_t> NextAt() const;

  // Reports that the connection was established, has failed for good or is not needed any more; may be called before it
  // was begun.
  void Done(std::uint32_t connection);
  // Schedules a retry. Returns false, and counts as Done(), if the connection has been tried kMaxTries times.
  bool TurnedAway(std::uint32_t connection, std::uint64_t now_ns);

 private:
  Random random_;
  std::uint32_t width_ = kWide;
  std::deque<std::uint32_t> waiting_;
  std::multimap<std::uint64_t, std::uint32_t> resting_;  // key: end of the pause
  std::map<std::uint32_t, std::uint32_t> tries_;
  std::vector<std::uint32_t> begun_;
};

// The ssh transport: starts agents on other hosts with the user's ssh and its configuration.
class SshTransport final : public Transport {
 public:
  explicit SshTransport(SshSettings settings, std::uint64_t lease_ms = kDefaultLeaseMs,
                        const Without& without = WithoutByEnvironment());

  // The host's name is passed to ssh. Many hosts may be connected at once; the gate limits how many at a time. All
  // channels that a transport has at a time must have the same `io`, which must outlive them.
  std::string_view name() const override { return "ssh"; }
  std::uint64_t lease_ms() const override { return lease_ms_; }

 private:
  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override;

  SshSettings settings_;
  std::uint64_t lease_ms_;
  std::shared_ptr<Launcher> launcher_;
  class Commands;
  std::weak_ptr<Commands> commands_;  // owned by the channels: its timer must end before their loop
};

}  // namespace muster
