#include <filesystem>

#include <gtest/gtest.h>

#include "support/command.h"
#include "support/file_content.h"
#include "support/temp_dir.h"
#include "transport/ssh_transport.h"

namespace muster {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(SshCommand, IsWhatAWayToAnAgentMustBe) {
  SshSettings settings;
  settings.agent = "/opt/muster/muster-agent";
  const auto words = SshArguments(settings, "ann@n7.example");
  ASSERT_TRUE(words);
  EXPECT_EQ(Joined(*words),
            "ssh -T -a -x -o BatchMode=yes -o StrictHostKeyChecking=yes -o ClearAllForwardings=yes -o ForwardAgent=no "
            "-o ForwardX11=no -o Tunnel=no -o PermitLocalCommand=no -o RequestTTY=no -o RemoteCommand=none "
            "-o EscapeChar=none -o ControlMaster=no -o ConnectionAttempts=1 -o LogLevel=INFO -o ConnectTimeout=10 "
            "-- ann@n7.example " +
                RemoteCommand(settings));
}

TEST(SshCommand, IsOfAnotherProgramAndConfigurationIfTheEnvironmentSaysSo) {
  const SshSettings settings = SshSettingsFrom({"HOME=/root", "MUSTER_SSH=/opt/ssh", "MUSTER_SSH_CONFIG=/etc/fleet"});
  const auto words = SshArguments(settings, "n7");
  ASSERT_TRUE(words);
  EXPECT_EQ(Joined({words->begin(), words->begin() + 4}), "/opt/ssh -F /etc/fleet -T");
  EXPECT_EQ(SshSettingsFrom({"MUSTER_SSH="}).program, "ssh") << "an empty variable is none";
  const auto question = SshQuestion(settings, "n7");
  ASSERT_TRUE(question);
  EXPECT_EQ(Joined(*question), "/opt/ssh -F /etc/fleet -G -- n7");
}

TEST(SshCommand, RefusesWhatIsNoNameOfAHost) {
  for (const char* host : {"", "-oProxyCommand=sh", "n1 n2", "n1;reboot", "$(reboot)", "a@-b", "n1\n", "%h"}) {
    const auto words = SshArguments({}, host);
    ASSERT_FALSE(words) << host;
    EXPECT_EQ(words.error().front().kind, "hosts");
    EXPECT_FALSE(SshQuestion({}, host));
  }
}

// As a host's shell does it: the agent gets its words as they are.
std::string OnTheHost(const SshSettings& settings, const std::string& shell = "/bin/sh") {
  const testing::CommandResult result = testing::RunCommand({.argv = {shell, "-c", RemoteCommand(settings)}});
  return result.out + result.err + std::to_string(result.exit_code);
}

TEST(SshCommand, StartsTheAgentWithItsWords) {
  SshSettings settings;
  settings.agent = "/bin/echo";
  settings.agent_words = {"--isolate", "pid", "it's $HOME"};
  EXPECT_EQ(OnTheHost(settings), "--stdio --isolate pid it's $HOME\n0");
  settings.agent_given = true;
  EXPECT_EQ(OnTheHost(settings), "--stdio --isolate pid it's $HOME\n0");
  EXPECT_EQ(OnTheHost(settings, "/bin/bash"), "--stdio --isolate pid it's $HOME\n0");
}

// Where `uname -m` prints "other"; `found` is the folder of agents of others.
class OnAnotherArchitecture : public ::testing::Test {
 protected:
  OnAnotherArchitecture() {
    Script("bin/uname", "[ \"$*\" = -m ] && echo other");
    settings_.machine = "x86_64";
    settings_.agent = "/no/such/muster-agent";
    settings_.foreign_agents = temp_.path() + "/libexec";
  }
  void Script(const std::string& name, const std::string& text) const {
    testing::PutContent(temp_ / name, "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(temp_ / name, std::filesystem::perms::owner_all);
  }
  std::string OnTheHost() const {
    const testing::CommandResult result = testing::RunCommand(
        {.argv = {"/bin/sh", "-c", RemoteCommand(settings_)}, .env = {"PATH=" + temp_ / "bin" + ":/usr/bin:/bin"}});
    return result.out + result.err + std::to_string(result.exit_code);
  }

  const testing::TempDir temp_;
  SshSettings settings_;
};

TEST_F(OnAnotherArchitecture, StartsTheAgentOfTheHostsArchitecture) {
  Script("libexec/other/muster-agent", "echo \"other: $*\"");
  Script("libexec/x86_64/muster-agent", "echo wrong");
  Script("bin/muster-agent", "echo wrong");
  settings_.agent_words = {"--isolate", "pid"};
  EXPECT_EQ(OnTheHost(), "other: --stdio --isolate pid\nmuster-machine: other\n0");
}

TEST_F(OnAnotherArchitecture, StartsAnAgentThatIsInstalledOnTheHost) {
  settings_.agent = "/bin/echo";
  EXPECT_EQ(OnTheHost(), "--stdio\nmuster-machine: other\n0");
  settings_.agent = "/no/such/muster-agent";
  std::filesystem::create_symlink("/bin/echo", temp_ / "bin/muster-agent");
  EXPECT_EQ(OnTheHost(), "--stdio\nmuster-machine: other\n0") << "on PATH";
}

TEST_F(OnAnotherArchitecture, StartsNoAgentOfThisArchitecture) {
  std::string program = testing::ContentOf("/bin/echo").substr(0, 4096);
  program[18] = '\x15';  // EM_PPC64
  testing::PutContent(temp_ / "bin/muster-agent", program);
  std::filesystem::permissions(temp_ / "bin/muster-agent", std::filesystem::perms::owner_all);
  settings_.agent = temp_ / "bin/muster-agent";
  EXPECT_EQ(OnTheHost(), "muster-machine: other\nmuster-agent: not found\n127");
}

TEST_F(OnAnotherArchitecture, StartsTheAgentThatTheUserNamed) {
  Script("libexec/other/muster-agent", "echo wrong");
  settings_.agent = "/bin/echo";
  settings_.agent_given = true;
  EXPECT_EQ(OnTheHost(), "--stdio\nmuster-machine: other\n0");
}

TEST(SshCommand, AHostWithoutUnameHasTheSameArchitecture) {
  SshSettings settings;
  settings.agent = "/bin/echo";
  settings.machine = "x86_64";
  const testing::CommandResult result =
      testing::RunCommand({.argv = {"/bin/sh", "-c", RemoteCommand(settings)}, .env = {"PATH=/nowhere"}});
  EXPECT_EQ(result.out + result.err, "--stdio\n");
}

TEST(SshCommand, EndsWith127WhereThereIsNoAgent) {
  SshSettings settings;
  settings.agent = "/no/such/muster-agent";
  EXPECT_EQ(OnTheHost(settings), "muster-agent: not found\n127");
  settings.agent_given = true;
  EXPECT_TRUE(OnTheHost(settings).ends_with("not found\n127"));
}

TEST(SshCommand, SeesAJumpHostInWhatSshWouldDo) {
  EXPECT_FALSE(GoesThroughJumpHost("user root\nhostname n7\nport 22\n"));
  EXPECT_TRUE(GoesThroughJumpHost("user root\nproxyjump login\nport 22\n"));
  EXPECT_TRUE(GoesThroughJumpHost("proxycommand nc %h %p"));
  EXPECT_FALSE(GoesThroughJumpHost("proxycommand none\nproxyjump none\n"));
}

}  // namespace
}  // namespace muster
