#include <gtest/gtest.h>

#include "transport/ssh_transport.h"

namespace muster {
namespace {

struct Case {
  const char* name;
  std::optional<int> exit_code;
  const char* words;
  SshFailureKind kind;
  const char* phrase;
};

class SshFailures : public ::testing::TestWithParam<Case> {};

TEST_P(SshFailures, AreKnownByWhatSshSays) {
  const SshFailure failure = ClassifySshFailure(GetParam().exit_code, GetParam().words);
  EXPECT_EQ(failure.kind, GetParam().kind);
  EXPECT_EQ(failure.phrase, GetParam().phrase);
}

// The words are those of OpenSSH 9.2, seen.
const Case kCases[] = {
    {"Permission", 255, "root@10.77.0.1: Permission denied (publickey).\r\n", SshFailureKind::kPermission,
     "permission denied"},
    {"TooManyKeys", 255,
     "Received disconnect from 10.77.0.1 port 22:2: Too many authentication failures\r\nDisconnected from "
     "10.77.0.1\r\n",
     SshFailureKind::kPermission, "permission denied"},
    {"UnknownKey", 255,
     "No ED25519 host key is known for n1 and you have requested strict checking.\r\nHost key verification failed.\r\n",
     SshFailureKind::kKeyUnknown, "its host key is not known"},
    {"ChangedKey", 255,
     "@@@@@@@@@\r\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n@@@@@@@@@\r\nHost key verification "
     "failed.\r\n",
     SshFailureKind::kKeyChanged, "its host key has changed"},
    {"Unresolved", 255, "ssh: Could not resolve hostname n77: Name or service not known\r\n",
     SshFailureKind::kUnresolved, "there is no host of that name"},
    {"Refused", 255, "ssh: connect to host n1 port 22: Connection refused\r\n", SshFailureKind::kRefused,
     "connection refused"},
    {"TimedOut", 255, "ssh: connect to host n1 port 22: Connection timed out\r\n", SshFailureKind::kTimedOut,
     "no answer"},
    {"TimedOutInTheGreeting", 255, "Connection timed out during banner exchange\r\n", SshFailureKind::kTimedOut,
     "no answer"},
    {"NoRoute", 255, "ssh: connect to host n1 port 22: No route to host\r\n", SshFailureKind::kUnreachable,
     "no route to it"},
    {"TurnedAway", 255,
     "kex_exchange_identification: Connection closed by remote host\r\nConnection closed by 10.77.0.1 port 22\r\n",
     SshFailureKind::kTurnedAway, "its sshd closed the connection"},
    {"TurnedAwayByAReset", 255, "kex_exchange_identification: read: Connection reset by peer\r\n",
     SshFailureKind::kTurnedAway, "its sshd closed the connection"},
    {"TurnedAwayOfOld", 255, "ssh_exchange_identification: Connection closed by remote host\r\n",
     SshFailureKind::kTurnedAway, "its sshd closed the connection"},
    {"ClosedAtOnce", 255, "Connection closed by 10.77.0.1 port 22\r\n", SshFailureKind::kTurnedAway,
     "its sshd closed the connection"},
    {"UnknownWords", 255, "Welcome\r\ncommand-line: line 0: Bad configuration option: nosuch\r\n",
     SshFailureKind::kOther, "ssh: command-line: line 0: Bad configuration option: nosuch"},
    {"Silence", 255, "", SshFailureKind::kOther, "ssh failed without output"},
    {"NoAgent", 127, "muster-agent: not found\n", SshFailureKind::kNoAgent, "there is no muster-agent"},
    {"NoAgentThere", 127, "sh: 1: exec: /opt/muster-agent: not found\n", SshFailureKind::kNoAgent,
     "there is no muster-agent"},
    {"OtherArchitecture", 126, "sh: 1: exec: /opt/muster-agent: Exec format error\n", SshFailureKind::kNoExec,
     "its muster-agent cannot be executed"},
    {"AgentRefuses", 1, "Welcome\nmuster-agent: cannot adopt orphans: Function not implemented\n",
     SshFailureKind::kAgentRefused, "cannot adopt orphans: Function not implemented"},
    {"ForcedCommand", 3, "this account is for backups only\n", SshFailureKind::kOther,
     "the command there ended with exit code 3: this account is for backups only"},
    {"Signal", std::nullopt, "", SshFailureKind::kOther, "ssh was ended by a signal"},
};

INSTANTIATE_TEST_SUITE_P(OpenSsh, SshFailures, ::testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(SshFailure, NamesBothArchitecturesIfTheHostHasAnother) {
  SshSettings settings;
  settings.machine = "x86_64";
  settings.foreign_agents = "/opt/muster/libexec/muster";
  const std::string words = "Welcome\nmuster-machine: aarch64\r\nmuster-agent: not found\n";
  SshFailure failure = ClassifySshFailure(settings, 127, words);
  EXPECT_EQ(failure.kind, SshFailureKind::kNoAgent);
  EXPECT_EQ(failure.phrase, "it is aarch64, this muster x86_64: there is no muster-agent");
  EXPECT_EQ(
      failure.hint,
      "install that of aarch64 there as /opt/muster/libexec/muster/aarch64/muster-agent, or muster on the PATH of "
      "ssh logins");
  settings.agent_given = true;
  failure = ClassifySshFailure(settings, 126, "muster-machine: aarch64\nsh: 1: exec: /a: Exec format error\n");
  EXPECT_EQ(failure.phrase, "it is aarch64, this muster x86_64: its muster-agent cannot be executed");
  EXPECT_EQ(failure.hint, "--agent PATH names a muster-agent of aarch64 for all named hosts");
  for (const char* other : {"muster-machine: \x1b[31m\n", "muster-machine: a/../b\n", "muster-machine: \n", "x\n"}) {
    EXPECT_EQ(ClassifySshFailure(settings, 127, other).phrase, "there is no muster-agent") << other;
  }
  EXPECT_EQ(ClassifySshFailure(settings, 255, "muster-machine: aarch64\nHost key verification failed.\n").phrase,
            "its host key is not known")
      << "other failures have other causes";
}

TEST(SshFailure, TakesNoBannerForAReason) {
  const SshFailure failure = ClassifySshFailure(
      255, "*** Permission is granted to staff only ***\r\nssh: connect to host n1 port 22: Connection refused\r\n");
  EXPECT_EQ(failure.kind, SshFailureKind::kRefused);
}

TEST(SshFailure, IsSafeOnATerminal) {
  EXPECT_EQ(ClassifySshFailure(255, "\x1b[2Jgone\n").phrase, "ssh: \\x1b[2Jgone");
  EXPECT_LT(ClassifySshFailure(255, std::string(100'000, 'x')).phrase.size(), 400U);
}

}  // namespace
}  // namespace muster
