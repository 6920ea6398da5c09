// Tests agents over a real ssh: connecting, reasons of failure, and broken connections.
#include "transport/ssh_transport.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "hosts/hosts_testbed.h"
#include "support/await.h"
#include "support/file_content.h"
#include "support/processes.h"

namespace muster::testing {
namespace {

std::string AgentPath() { return std::string(MUSTER_BIN_DIR) + "/muster-agent"; }

SshSettings SettingsOf(const HostsTestbed& testbed) {
  SshSettings settings;
  settings.program = testbed.ssh();
  settings.agent = AgentPath();
  settings.agent_given = true;
  return settings;
}

// A head with an agent on each of some hosts.
class Agents {
 public:
  Agents(const HostsTestbed& testbed, const std::vector<std::string>& hosts, std::uint64_t lease_ms = kDefaultLeaseMs)
      : Agents(SettingsOf(testbed), hosts, lease_ms) {}
  Agents(SshSettings settings, const std::vector<std::string>& hosts, std::uint64_t lease_ms = kDefaultLeaseMs)
      : transport_(std::move(settings), lease_ms), said_(hosts.size()) {
    for (std::uint32_t host = 0; host < hosts.size(); ++host) {
      auto channel = transport_.Connect(io_, {host, hosts[host]});
      if (!channel) throw std::runtime_error(channel.error().front().message);
      (*channel)->SetReceiver([this, host](ChannelMessage message) { said_[host].push_back(std::move(message)); });
      (*channel)->Send(Hello{kProtocolVersion, "run", host, "", 0, "/dev/shm"});
      channels_.push_back(std::move(*channel));
    }
  }

  void Send(std::uint32_t host, const AgentCommand& command) { channels_[host]->Send(command); }
  void Close(std::uint32_t host) { channels_[host].reset(); }

  bool Until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!done()) {
      io_.restart();
      if (io_.run_one_until(deadline) == 0) return false;
    }
    return true;
  }
  void For(std::chrono::milliseconds time) {
    io_.restart();
    io_.run_for(time);
  }

  template <class Message>
  const Message* First(std::uint32_t host) const {
    for (const ChannelMessage& message : said_[host]) {
      if (const auto* found = std::get_if<Message>(&message)) return found;
    }
    return nullptr;
  }
  template <class Message>
  const Message* Await(std::uint32_t host) {
    Until([&] { return First<Message>(host) != nullptr; });
    return First<Message>(host);
  }

  // The returned token is in the environment of the started processes.
  std::string StartSleeper(std::uint32_t host) {
    const std::string token = "MUSTER_PROCESS=" + folder_.path() + "/" + std::to_string(host);
    Send(host, DefineEnvironment{0, {token}});
    StartProcess start;
    start.argv = {std::string(MUSTER_TESTS_DIR) + "/probe", "session", "print", "up", "wait"};
    start.cwd = "/";
    start.log_path = "/dev/shm/" + std::to_string(host) + ".log";
    Send(host, start);
    EXPECT_TRUE(Await<FirstOutput>(host));
    return token;
  }

 private:
  TempDir folder_;
  boost::asio::io_context io_;
  SshTransport transport_;
  std::vector<std::vector<ChannelMessage>> said_;
  std::vector<std::unique_ptr<Channel>> channels_;
};

std::string WhyNot(const std::string& host, const SshSettings& settings) {
  Agents agents(settings, {host});
  agents.Until([&] { return agents.First<AgentUnreachable>(0) != nullptr || agents.First<AgentReady>(0) != nullptr; });
  const auto* why = agents.First<AgentUnreachable>(0);
  return why != nullptr ? why->why : "it is reached";
}

TEST(SshTransport, ReachesTheAgentsOfFourHosts) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  Agents agents(testbed, {"n1", "n2", "n3", "n4"});
  for (std::uint32_t host = 0; host < 4; ++host) {
    const auto* ready = agents.Await<AgentReady>(host);
    ASSERT_TRUE(ready);
    EXPECT_EQ(ready->host_name, "n" + std::to_string(host + 1));
    const std::string token = agents.StartSleeper(host);
    EXPECT_EQ(ProcessesWith(token).size(), 2U);
    const auto* clock = agents.Await<ClockCompared>(host);
    ASSERT_TRUE(clock);
    EXPECT_LT(std::abs(clock->offset_ns), static_cast<std::int64_t>(clock->error_ns) + 1) << "they are one clock here";
    agents.Send(host, Finish{});
    ASSERT_TRUE(agents.Await<AgentEmpty>(host));
    EXPECT_TRUE(ProcessesWith(token).empty());
  }
}

TEST(SshTransport, ToleratesOutputOfTheLoginShell) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  ASSERT_EQ(RunCommand({.argv = testbed.On(
                            "n1", {"sh", "-c", "echo 'echo Welcome to $HOSTNAME; echo hm >&2' > /root/.bashrc"})})
                .exit_code,
            0);
  Agents agents(testbed, {"n1"});
  EXPECT_TRUE(agents.Await<AgentReady>(0));
}

TEST(SshTransport, ReportsWhyThereIsNoAgent) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const SshSettings good = SettingsOf(testbed);
  EXPECT_EQ(WhyNot("n1", good), "it is reached");
  EXPECT_EQ(WhyNot("n77", good), "there is no host of that name");
  EXPECT_EQ(WhyNot("10.77.0.1", good), "it is reached") << "an address is known by its key, too";

  SshSettings settings = good;
  settings.agent = "/no/such/agent";
  EXPECT_EQ(WhyNot("n1", settings), "there is no muster-agent");
  settings.agent_given = false;
  EXPECT_EQ(WhyNot("n1", settings), "there is no muster-agent");
  settings.agent = testbed.folder() + "/etc_hosts";
  settings.agent_given = true;
  EXPECT_EQ(WhyNot("n1", settings), "its muster-agent cannot be executed");
  settings.program = "/no/such/ssh";
  EXPECT_EQ(WhyNot("n1", settings), "ssh cannot be started: exec: No such file or directory: \"/no/such/ssh\"");

  // n2 has the key of n3, and n3 has an unknown one.
  std::ifstream in(testbed.folder() + "/known_hosts");
  std::string known((std::istreambuf_iterator<char>(in)), {});
  const std::size_t n2 = known.find("n2,");
  const std::size_t n3 = known.find("n3,");
  known = known.substr(0, n2) + "n2" + known.substr(known.find(' ', n3));
  std::ofstream(testbed.folder() + "/known_hosts") << known;
  EXPECT_EQ(WhyNot("n2", good), "its host key has changed");
  EXPECT_EQ(WhyNot("n3", good), "its host key is not known");

  std::ofstream(testbed.folder() + "/key.pub") << "";
  EXPECT_EQ(WhyNot("n1", good), "permission denied");

  settings = good;
  settings.connect_seconds = 1;
  ASSERT_TRUE(testbed.Cut("n1"));
  EXPECT_EQ(WhyNot("n1", settings), "no answer");
}

TEST(SshTransport, RecognisesAnOlderAgentByItsGreeting) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  SshSettings settings = SettingsOf(testbed);
  settings.agent = testbed.folder() + "/older";
  std::ofstream(settings.agent) << "#!/bin/sh\nprintf 'muster-agent/1\\n'\nexec cat > /dev/null\n";
  std::filesystem::permissions(settings.agent, std::filesystem::perms::owner_all);
  EXPECT_EQ(WhyNot("n1", settings), "its agent: " + OtherProtocolText("1"));
}

// sshd accepts two unauthenticated connections at a time.
TEST(SshTransport, RetriesIfSshdClosesTheConnection) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1, {"--sshd", "MaxStartups 2:100:2"});
  ASSERT_TRUE(testbed.Up());
  std::vector<std::string> names;
  std::ofstream config(testbed.ssh_config(), std::ios::app);
  for (int i = 1; i <= 11; ++i) {
    names.push_back("a" + std::to_string(i));
    config << "Host " << names.back() << "\n  HostName 10.77.0.1\n  HostKeyAlias n1\n";
  }
  config.close();
  Agents agents(testbed, names);
  for (std::uint32_t host = 0; host < names.size(); ++host) {
    EXPECT_TRUE(agents.Await<AgentReady>(host)) << names[host];
  }
}

TEST(SshTransport, SurvivesACableCutShorterThanTheLease) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  Agents agents(testbed, {"n1"}, 8'000);
  ASSERT_TRUE(agents.Await<AgentReady>(0));
  const std::string token = agents.StartSleeper(0);
  ASSERT_TRUE(testbed.Cut("n1"));
  agents.For(std::chrono::milliseconds(2'000));
  ASSERT_TRUE(testbed.Heal("n1"));
  agents.Send(0, RequestOutput{});
  EXPECT_TRUE(agents.Await<OutputSeen>(0));
  EXPECT_EQ(ProcessesWith(token).size(), 2U);
  agents.Send(0, Finish{});
  EXPECT_TRUE(agents.Await<AgentEmpty>(0));
}

TEST(SshTransport, GivesAHostUpOnlyAfterItsProcessesHaveEnded) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  Agents agents(testbed, {"n1", "n2"}, 2'000);
  ASSERT_TRUE(agents.Await<AgentReady>(0));
  ASSERT_TRUE(agents.Await<AgentReady>(1));
  const std::string cut = agents.StartSleeper(0);
  const std::string other = agents.StartSleeper(1);
  ASSERT_TRUE(testbed.Cut("n1"));
  const auto* lost = agents.Await<AgentLost>(0);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->why, "no heartbeat for 2 s");
  EXPECT_TRUE(ProcessesWith(cut).empty()) << "the agent ended it before";
  EXPECT_EQ(ProcessesWith(other).size(), 2U);
}

TEST(SshTransport, ReportsAPoweredOffHostAsLost) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  Agents agents(testbed, {"n1"}, 2'000);
  ASSERT_TRUE(agents.Await<AgentReady>(0));
  ASSERT_TRUE(testbed.PowerOff("n1"));
  const auto* lost = agents.Await<AgentLost>(0);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->why, "no heartbeat for 2 s");
  // A real host would lose its cgroups with its power; those of the testbed are this machine's.
  std::filesystem::remove(agents.First<AgentReady>(0)->cgroup);
}

TEST(SshTransport, KillsProcessesOfAKilledAgent) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  Agents agents(testbed, {"n1"});
  const auto* ready = agents.Await<AgentReady>(0);
  ASSERT_TRUE(ready);
  const std::string pid = std::to_string(ready->pid);
  const std::string group = ready->cgroup;
  const std::string token = agents.StartSleeper(0);
  ASSERT_EQ(RunCommand({.argv = testbed.On("n1", {"kill", "-KILL", pid})}).exit_code, 0);
  const auto* lost = agents.Await<AgentLost>(0);
  ASSERT_TRUE(lost);
  // The number of killed processes depends on how soon they notice their parent's death.
  EXPECT_TRUE(
      lost->why.starts_with("the agent exited with code 1: ended by signal 9 (SIGKILL); processes that it left "
                            "and that were ended: "))
      << lost->why;
  EXPECT_TRUE(ProcessesWith(token).empty());
  EXPECT_TRUE(group.empty() || !std::filesystem::exists(group)) << "its cgroup, too: " << group;
}

// Prevents: the loss is that of the connection, or a SIGTERM that the kernel sent because the guard was killed.
TEST(SshTransport, SaysThatTheGuardOfAnAgentWasKilled) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  Agents agents(testbed, {"n1"}, 2'000);
  ASSERT_TRUE(agents.Await<AgentReady>(0));
  const std::string token = agents.StartSleeper(0);
  // Above the processes of the agent, by their numbers on this machine.
  pid_t guard = ProcessesWith(token).front();
  while (guard > 1 && ContentOf("/proc/" + std::to_string(guard) + "/comm") != "muster-guard\n")
    guard = ParentOf(guard);
  ASSERT_GT(guard, 1);
  ASSERT_EQ(::kill(guard, SIGKILL), 0);
  const auto* lost = agents.Await<AgentLost>(0);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->why, "the agent failed: its guard was killed; no heartbeat came for 2 s");
  EXPECT_TRUE(ProcessesWith(token).empty());
}

TEST(SshTransport, KillsAllProcessesWhenTheConnectionIsClosed) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  Agents agents(testbed, {"n1"});
  ASSERT_TRUE(agents.Await<AgentReady>(0));
  const std::string token = agents.StartSleeper(0);
  agents.Close(0);
  EXPECT_TRUE(ProcessesWith(token).empty());
}

TEST(SshTransport, AbandonsAConnectionAttemptOnRequest) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  ASSERT_TRUE(testbed.Cut("n1"));
  Agents agents(testbed, {"n1"});
  agents.For(std::chrono::milliseconds(50));
  agents.Send(0, Finish{});
  const auto* over = agents.Await<AgentUnreachable>(0);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->why, "the connection attempt was abandoned");
}

}  // namespace
}  // namespace muster::testing
