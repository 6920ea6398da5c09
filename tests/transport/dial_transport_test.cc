// Tests agents that dial back to a head on this machine: how they are started, what happens if they are not, and that
// nothing is left of them, of the start command and of the dial file.
#include "transport/dial_transport.h"

#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/system/sockets.h"
#include "base/values/quoting.h"
#include "spawn/leftovers/leftovers.h"
#include "support/agent_session.h"
#include "support/dialing.h"
#include "support/file_content.h"
#include "support/processes.h"
#include "wire/connection/dial.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

// A shell command as the start command, which finds FILE, AGENT and NODES in its environment. An agent takes its node's
// name from NODE.
AgentStart Shell(const AgentsToStart& agents, const std::string& script) {
  std::string nodes;
  for (const std::string& node : agents.nodes) nodes += (nodes.empty() ? "" : " ") + node;
  return {{"/bin/sh", "-c", script}, {"FILE=" + agents.dial_file, "AGENT=" + agents.agent, "NODES=" + nodes}};
}

// One agent for each node, as an engine's command starts them.
constexpr const char* kStartAll = R"(for n in $NODES; do NODE=$n "$AGENT" --dial "$FILE" & done; wait)";

class DialTransportTest : public ::testing::Test {
 protected:
  void SetUp() override { children_ = ChildrenNow(); }

  // `start` is called with what the transport has called it with.
  void Make(std::function<AgentStart(const AgentsToStart&)> start, std::uint64_t lease_ms = 60'000) {
    settings_.start = [this, start = std::move(start)](const AgentsToStart& agents) {
      started_.push_back(agents);
      return start(agents);
    };
    settings_.agent = AgentPath();
    settings_.folder = DialFolder();
    settings_.node_variable = "NODE";
    if (settings_.addresses.empty()) settings_.addresses = {"127.0.0.1"};
    transport_.emplace(settings_, lease_ms);
  }
  void MakeShell(const std::string& script) {
    Make([script](const AgentsToStart& agents) { return Shell(agents, script); });
  }

  std::string DialFolder() const { return folder_ / "state/dial"; }

  void Connect(const std::string& host) {
    const auto index = static_cast<std::uint32_t>(hosts_.size());
    hosts_.push_back(std::make_unique<Host>());
    Host& one = *hosts_.back();
    auto channel = transport_->Connect(io_, {index, host});
    ASSERT_TRUE(channel) << channel.error().front().message;
    one.channel = std::move(*channel);
    one.channel->SetReceiver([&one](ChannelMessage message) { one.messages.push_back(std::move(message)); });
    one.channel->Send(Hello{kProtocolVersion, "run", index, "", 0, folder_.path()});
    one.channel->Send(DefineEnvironment{0, {Token()}});
  }

  std::string Token() const { return "MUSTER_PROCESS=" + folder_.path(); }

  bool Until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!done()) {
      io_.restart();
      if (io_.run_one_until(deadline) == 0) return false;
    }
    return true;
  }

  template <class Message>
  const Message* First(std::size_t host) const {
    for (const ChannelMessage& message : hosts_[host]->messages) {
      if (const auto* one = std::get_if<Message>(&message)) return one;
    }
    return nullptr;
  }
  template <class Message>
  const Message* Await(std::size_t host) {
    Until([&] { return First<Message>(host) != nullptr; });
    return First<Message>(host);
  }

  void Start(std::size_t host, const std::vector<std::string>& verbs) {
    StartProcess start;
    start.argv = {ProbeProgram()};
    start.argv.insert(start.argv.end(), verbs.begin(), verbs.end());
    start.cwd = folder_.path();
    start.log_path = Log(host);
    hosts_[host]->channel->Send(start);
  }
  std::string Log(std::size_t host) const { return folder_ / (std::to_string(host) + ".log"); }

  void FinishAll() {
    for (const auto& host : hosts_) host->channel->Send(Finish{});
    for (std::size_t host = 0; host < hosts_.size(); ++host) EXPECT_TRUE(Await<AgentEmpty>(host)) << host;
  }

  void ExpectNothingLeft() const {
    EXPECT_TRUE(ProcessesWith(Token()).empty());
    EXPECT_EQ(ChildrenNow(), children_);
    EXPECT_TRUE(!fs::exists(DialFolder()) || fs::is_empty(DialFolder()));
  }

  struct Host {
    std::unique_ptr<Channel> channel;
    std::deque<ChannelMessage> messages;  // pointers to earlier ones stay valid
  };

  TempDir folder_;
  DialSettings settings_;
  std::vector<AgentsToStart> started_;
  std::optional<DialTransport> transport_;  // outlives the loop, as that of a run does
  boost::asio::io_context io_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<pid_t> children_;
};

TEST_F(DialTransportTest, StartsAllHostsOfOneTurnWithOneCommand) {
  MakeShell(kStartAll);
  for (const char* host : {"n3", "n1", "n2"}) Connect(host);
  for (std::size_t host = 0; host < 3; ++host) {
    const auto* ready = Await<AgentReady>(host);
    ASSERT_TRUE(ready);
    EXPECT_EQ(ready->address, "") << "of a loopback connection others can make nothing";
  }
  // A spare is started later, by a command of its own.
  Connect("n4");
  ASSERT_TRUE(Await<AgentReady>(3));
  ASSERT_EQ(started_.size(), 2U);
  EXPECT_EQ(started_[0].nodes, (std::vector<std::string>{"n3", "n1", "n2"}));
  EXPECT_EQ(started_[1].nodes, (std::vector<std::string>{"n4"}));
  FinishAll();
  hosts_.clear();
  ExpectNothingLeft();
}

TEST_F(DialTransportTest, HasADialFileForItsOwnerAloneWhileAgentsAreAwaited) {
  mode_t file = 0;
  mode_t folder = 0;
  std::string text;
  Make([&](const AgentsToStart& agents) {
    struct stat facts = {};
    EXPECT_EQ(::stat(agents.dial_file.c_str(), &facts), 0);
    file = facts.st_mode;
    EXPECT_EQ(::stat(DialFolder().c_str(), &facts), 0);
    folder = facts.st_mode;
    text = ContentOf(agents.dial_file);
    AgentStart start = Shell(agents, kStartAll);
    EXPECT_EQ(ShellQuoted(start.argv).find(ParseDialFile(text)->token), std::string::npos);
    return start;
  });
  Connect("n1");
  ASSERT_TRUE(Await<AgentReady>(0));
  EXPECT_EQ(file, S_IFREG | 0600U);
  EXPECT_EQ(folder, S_IFDIR | 0700U);
  EXPECT_TRUE(fs::is_empty(DialFolder())) << "all are connected";
  Connect("n2");
  ASSERT_TRUE(Await<AgentReady>(1));
  FinishAll();
  const auto parsed = ParseDialFile(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->node_variable, "NODE");
  EXPECT_EQ(parsed->addresses.front().ip, "127.0.0.1");
}

TEST_F(DialTransportTest, ListsAllAddressesOfThisMachineWithLoopbackLast) {
  settings_.addresses = {};
  std::string text;
  settings_.start = [&](const AgentsToStart& agents) {
    text = ContentOf(agents.dial_file);
    return AgentStart{{"/bin/false"}};
  };
  settings_.folder = DialFolder();
  settings_.exit_time = {};
  transport_.emplace(settings_);
  Connect("n1");
  ASSERT_TRUE(Await<AgentUnreachable>(0));
  const auto parsed = ParseDialFile(text);
  ASSERT_TRUE(parsed);
  const auto is_loopback = [](const DialAddress& a) { return a.ip.starts_with("127.") || a.ip == "::1"; };
  EXPECT_TRUE(std::is_partitioned(parsed->addresses.begin(), parsed->addresses.end(),
                                  [&](const DialAddress& a) { return !is_loopback(a); }));
  EXPECT_TRUE(is_loopback(parsed->addresses.back()));
}

TEST_F(DialTransportTest, KnowsANodeWithAndWithoutItsDomain) {
  MakeShell(R"(NODE=n1.cluster.example "$AGENT" --dial "$FILE" & NODE=n2 "$AGENT" --dial "$FILE" & wait)");
  Connect("n1");
  Connect("n2.cluster.example");
  ASSERT_TRUE(Await<AgentReady>(0));
  ASSERT_TRUE(Await<AgentReady>(1));
  FinishAll();
}

TEST_F(DialTransportTest, ChangesTheEnvironmentOfTheStartCommand) {
  Make([this](const AgentsToStart& agents) {
    AgentStart start = Shell(agents, R"(printf '%s\n' "${HOME-none} $FIRST" >"$OUT"; )" + std::string(kStartAll));
    start.environment.insert(start.environment.end(), {"HOME", "FIRST=a=b", "OUT=" + folder_ / "out"});
    return start;
  });
  Connect("n1");
  ASSERT_TRUE(Await<AgentReady>(0));
  EXPECT_EQ(LinesOf(folder_ / "out"), (std::vector<std::string>{"none a=b"}));
  FinishAll();
}

// The signal of an engine is a notice: the head decides. It comes by the guard, as slurmstepd sends it, or to all.
TEST_F(DialTransportTest, AnAgentReportsSigtermToItsHeadAndGoesOn) {
  MakeShell(kStartAll);
  for (const char* node : {"n1", "n2"}) Connect(node);
  for (std::size_t host = 0; host < 2; ++host) {
    const auto* ready = Await<AgentReady>(host);
    ASSERT_TRUE(ready);
    Start(host, {"print", "runs", "wait"});
    ASSERT_TRUE(Await<ProcessStarted>(host));
    ASSERT_EQ(::kill(host == 0 ? ParentOf(ready->pid) : ready->pid, SIGTERM), 0);
    const auto* signalled = Await<AgentSignalled>(host);
    ASSERT_TRUE(signalled);
    EXPECT_EQ(signalled->signal, SIGTERM);
    EXPECT_FALSE(First<ProcessExited>(host));
  }
  FinishAll();
  hosts_.clear();
  ExpectNothingLeft();
}

TEST_F(DialTransportTest, AnAgentWhoseGuardIsKilledEndsAtOnceAllTheSame) {
  MakeShell(kStartAll);
  Connect("n1");
  const auto* ready = Await<AgentReady>(0);
  ASSERT_TRUE(ready);
  Start(0, {"print", "runs", "wait"});
  ASSERT_TRUE(Await<ProcessStarted>(0));
  ASSERT_EQ(::kill(ParentOf(ready->pid), SIGKILL), 0);
  ASSERT_TRUE(Await<AgentFailed>(0));
  EXPECT_EQ(First<AgentFailed>(0)->why, "its guard was killed");
  EXPECT_FALSE(First<AgentSignalled>(0));
  hosts_.clear();
  ExpectNothingLeft();
}

TEST_F(DialTransportTest, RefusesAHostThatIsConnectedAlready) {
  MakeShell(kStartAll);
  Connect("n1");
  const auto again = transport_->Connect(io_, {1, "n1"});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().front().message, "the host n1 is connected already");
  const auto bad = transport_->Connect(io_, {1, "a b"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().front().message, "\"a b\" is not a host name");
  ASSERT_TRUE(Await<AgentReady>(0));
  FinishAll();
}

// --- agents that do not come -----------------------------------------------------------------------

TEST_F(DialTransportTest, ReportsWhatTheStartCommandSaysWhenItFails) {
  settings_.exit_time = {};
  MakeShell("echo 'srun: job 7 queued' >&2; printf 'srun: error: no \\033[31mnodes\\n\\n' >&2; exit 3");
  Connect("n1");
  Connect("n2");
  for (std::size_t host = 0; host < 2; ++host) {
    const auto* why = Await<AgentUnreachable>(host);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->why, "`sh` exited with code 3: srun: error: no \\x1b[31mnodes");
  }
  ExpectNothingLeft();
}

TEST_F(DialTransportTest, ReportsAStartCommandThatCannotBeStarted) {
  Make([](const AgentsToStart&) { return AgentStart{{"/no/such/srun", "-N2"}}; });
  Connect("n1");
  const auto* why = Await<AgentUnreachable>(0);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->why, "`srun` cannot be started: exec: No such file or directory: \"/no/such/srun\"");
  ExpectNothingLeft();
}

TEST_F(DialTransportTest, ReportsAFolderThatIsNotItsOwn) {
  fs::create_directories(DialFolder());
  fs::permissions(DialFolder(), fs::perms::all);
  MakeShell(kStartAll);
  Connect("n1");
  const auto* why = Await<AgentUnreachable>(0);
  ASSERT_TRUE(why);
  EXPECT_NE(why->why.find("cannot be written: others can write to it"), std::string::npos) << why->why;
  EXPECT_TRUE(started_.empty());
}

TEST_F(DialTransportTest, NeedsAStartCommand) {
  transport_.emplace(DialSettings{});
  const auto channel = transport_->Connect(io_, {0, "n1"});
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().front().message, "agents that dial back need a command that starts them");
}

TEST_F(DialTransportTest, WaitsForAgentsNoLongerThanItsLimit) {
  settings_.connect_time = std::chrono::milliseconds(50);
  MakeShell("echo 'srun: waiting for resources' >&2; exec tail -f /dev/null");
  Connect("n1");
  const auto* why = Await<AgentUnreachable>(0);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->why, "its agent has not connected within 50 ms");
  hosts_.clear();
  ExpectNothingLeft();  // the command does not end by itself
}

// As on a node with a home folder of its own.
TEST_F(DialTransportTest, AsksWhetherTheNodeSeesTheDialFileIfTheAgentDoesNot) {
  settings_.exit_time = {};
  MakeShell(R"(rm "$FILE"; "$AGENT" --dial "$FILE" 2> "$FILE.words" & agent=$!
               until grep -q 'No such file' "$FILE.words"; do sleep 0.1; done
               cat "$FILE.words" >&2; rm "$FILE.words"; kill $agent; exit 1)");
  Connect("n1");
  const auto* why = Await<AgentUnreachable>(0);
  ASSERT_TRUE(why);
  EXPECT_NE(why->why.find(".dial: No such file or directory"), std::string::npos) << why->why;
  EXPECT_EQ(why->hint, "is " + DialFolder() + " on a disk that the node sees? XDG_STATE_HOME=/shared/folder moves it");
  ExpectNothingLeft();
}

TEST_F(DialTransportTest, GoesOnWithThoseWhoCameAfterTheCommandHasEnded) {
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  settings_.exit_time = {};
  // n1's agent outlives the command, n2's never starts.
  Make([this](const AgentsToStart& agents) {
    AgentStart start = Shell(agents, R"(NODE=n1 "$AGENT" --dial "$FILE" 2>/dev/null & read -r x < "$FIFO"; exit 1)");
    start.environment.push_back("FIFO=" + folder_ / "fifo");
    return start;
  });
  Connect("n1");
  Connect("n2");
  ASSERT_TRUE(Await<AgentReady>(0));
  std::ofstream(folder_ / "fifo") << "go\n";
  const auto* why = Await<AgentUnreachable>(1);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->why, "`sh` exited with code 1");
  hosts_[0]->channel->Send(Finish{});
  EXPECT_TRUE(Await<AgentEmpty>(0)) << "the exit of the command says nothing about it";
}

TEST_F(DialTransportTest, AbandonsTheWaitOnRequest) {
  MakeShell("exec tail -f /dev/null");
  Connect("n1");
  hosts_[0]->channel->Send(Finish{});
  const auto* why = Await<AgentUnreachable>(0);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->why, "the connection attempt was abandoned");
  hosts_.clear();
  ExpectNothingLeft();
}

// --- those who are not wanted ----------------------------------------------------------------------

TEST_F(DialTransportTest, RefusesAnAgentOfANodeThatIsNotAwaited) {
  settings_.exit_time = {};
  MakeShell(R"(NODE=n9 "$AGENT" --dial "$FILE")");
  Connect("n1");
  const auto* why = Await<AgentUnreachable>(0);
  ASSERT_TRUE(why);
  EXPECT_TRUE(why->why.starts_with("`sh` exited with code 1: muster-agent: as node n9: 127.0.0.1:")) << why->why;
  EXPECT_TRUE(why->why.ends_with("the head awaits no agent of this node")) << why->why;
}

TEST_F(DialTransportTest, KeepsTheFirstOfTwoAgentsOfANode) {
  Make([this](const AgentsToStart& agents) {
    AgentStart start = Shell(agents, R"(for i in 1 2; do NODE=n1 "$AGENT" --dial "$FILE" 2>>"$OUT" & done; wait)");
    start.environment.push_back("OUT=" + folder_ / "out");
    std::ofstream(folder_ / "out");
    return start;
  });
  Connect("n1");
  Connect("n2");  // so that the dial file stays
  ASSERT_TRUE(Await<AgentReady>(0));
  // The loop answers the second one.
  std::vector<std::string> refused;
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (refused.empty() && std::chrono::steady_clock::now() < deadline) {
    io_.restart();
    io_.run_for(std::chrono::milliseconds(5));
    refused = LinesOf(folder_ / "out");
  }
  ASSERT_FALSE(refused.empty());
  EXPECT_TRUE(refused[0].ends_with("the head has an agent of this node already")) << refused[0];
  Start(0, {"exit", "7"});
  const auto* exited = Await<ProcessExited>(0);
  ASSERT_TRUE(exited) << "the first one is not disturbed";
  EXPECT_EQ(exited->code, 7);
}

TEST_F(DialTransportTest, IsNotDisturbedByForeignConnections) {
  std::vector<UniqueFd> outsiders;
  Make([&](const AgentsToStart& agents) {
    const auto file = ParseDialFile(ContentOf(agents.dial_file));
    const std::uint16_t port = file->addresses.front().port;
    // Silent ones, ones that speak another protocol, and ones with a wrong token, which claim to be the node.
    for (int i = 0; i < 30; ++i) {
      outsiders.push_back(ConnectHere(port));
      const std::string greeting = GreetingBytes({file->session, MakeNonce(), "n1"});
      if (i % 3 == 1) {
        EXPECT_TRUE(SendAll(outsiders.back(), "GET / HTTP/1.1\r\n\r\n"));
      }
      if (i % 3 == 2) {
        EXPECT_TRUE(SendAll(outsiders.back(), greeting + AgentProof(std::string(32, '0'), greeting, MakeNonce())));
      }
    }
    return Shell(agents, kStartAll);
  });
  Connect("n1");
  ASSERT_TRUE(Await<AgentReady>(0));
  FinishAll();
}

// An address of the head may lead to another machine on the agent's network.
TEST_F(DialTransportTest, AgentsPassByAnAddressWhereAnotherProgramAnswers) {
  std::uint16_t foreign_port = 0;
  const auto foreign = ListenAt(foreign_port, PortUse::kAlone);
  ASSERT_TRUE(foreign);
  Make([&](const AgentsToStart& agents) {
    DialFile file = *ParseDialFile(ContentOf(agents.dial_file));
    file.addresses.insert(file.addresses.begin(), {"127.0.0.1", foreign_port});
    const std::string changed = folder_ / "changed.dial";
    std::ofstream(changed) << DialFileText(file);
    ::chmod(changed.c_str(), 0600);
    AgentsToStart there = agents;
    there.dial_file = changed;
    return Shell(there, kStartAll);
  });
  Connect("n1");
  ASSERT_TRUE(Await<AgentReady>(0));  // though the other one accepts the connection and says nothing
  FinishAll();
}

// --- ends ------------------------------------------------------------------------------------------

TEST_F(DialTransportTest, LeavesNothingWhenTheHeadGivesUp) {
  MakeShell(kStartAll);
  for (const char* host : {"n1", "n2"}) Connect(host);
  for (std::size_t host = 0; host < 2; ++host) {
    Start(host, {"daemon", "ignore-term", "print", "ready", "wait"});
    ASSERT_TRUE(Await<ProcessStarted>(host));
    ASSERT_TRUE(AwaitLine(Log(host), "ready"));
  }
  hosts_.clear();
  ExpectNothingLeft();
}

TEST_F(DialTransportTest, ReportsHowAKilledAgentEndedOnceNothingIsLeft) {
  if (WithoutByEnvironment().Has(Mechanism::kGuard)) GTEST_SKIP() << "done without guards";
  MakeShell(kStartAll);
  for (const char* host : {"n1", "n2"}) Connect(host);
  ASSERT_TRUE(Await<AgentReady>(1));
  const auto* ready = Await<AgentReady>(0);
  ASSERT_TRUE(ready);
  Start(0, {"session", "ignore-term", "print", "ready", "wait"});
  ASSERT_TRUE(Await<ProcessStarted>(0));
  ASSERT_TRUE(AwaitLine(Log(0), "ready"));
  ::kill(ready->pid, SIGKILL);
  const auto* lost = Await<AgentLost>(0);
  ASSERT_TRUE(lost);
  EXPECT_TRUE(ProcessesWith(Token()).empty());
  EXPECT_EQ(lost->why, "the agent ended by signal 9 (SIGKILL)");
  EXPECT_GE(lost->killed, 1U);
  // The other one is not affected, and the host can be connected again.
  Start(1, {"exit", "5"});
  ASSERT_TRUE(Await<ProcessExited>(1));
  hosts_[0]->channel.reset();
  Connect("n1");
  ASSERT_TRUE(Await<AgentReady>(2));
  hosts_[1]->channel->Send(Finish{});
  hosts_[2]->channel->Send(Finish{});
  EXPECT_TRUE(Await<AgentEmpty>(1));
  EXPECT_TRUE(Await<AgentEmpty>(2));
  hosts_.clear();
  ExpectNothingLeft();
}

// Nobody is left who could have cleaned up, and a network may close connections, too.
TEST_F(DialTransportTest, WaitsForTheLeaseWhereAConnectionEndsWithoutAWord) {
  if (WithoutByEnvironment().Has(Mechanism::kGuard)) GTEST_SKIP() << "done without guards";
  Make([](const AgentsToStart& agents) { return Shell(agents, kStartAll); }, 1'000);
  Connect("n1");
  const auto* ready = Await<AgentReady>(0);
  ASSERT_TRUE(ready);
  const pid_t guard = ParentOf(ready->pid);
  ::kill(guard, SIGKILL);
  ::kill(ready->pid, SIGKILL);
  const auto* lost = Await<AgentLost>(0);
  ASSERT_TRUE(lost);
  EXPECT_TRUE(lost->why.starts_with("the connection broke (it was ")) << lost->why;
  EXPECT_TRUE(lost->why.ends_with("), and no heartbeat came for 1 s")) << lost->why;
}

// Its loop ends before the transport, which begins anew with the next one.
TEST_F(DialTransportTest, EndsWithTheLoopOfItsChannels) {
  MakeShell(kStartAll);
  for (int run = 0; run < 2; ++run) {
    boost::asio::io_context loop;
    auto channel = transport_->Connect(loop, {0, "n1"});
    ASSERT_TRUE(channel);
    bool ready = false;
    (*channel)->SetReceiver(
        [&](const ChannelMessage& message) { ready = std::holds_alternative<AgentReady>(message); });
    (*channel)->Send(Hello{kProtocolVersion, "run", 0, "", 0, folder_.path()});
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!ready && loop.run_one_until(deadline) > 0) {
    }
    EXPECT_TRUE(ready);
    channel->reset();
    ExpectNothingLeft();
  }
  EXPECT_EQ(started_.size(), 2U);
  EXPECT_NE(started_[0].dial_file, started_[1].dial_file);
}

}  // namespace
}  // namespace muster::testing
