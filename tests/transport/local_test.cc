#include <algorithm>
#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "spawn/start/reap.h"
#include "support/agent_session.h"
#include "support/places.h"
#include "support/processes.h"
#include "transport/local_transport.h"

namespace muster::testing {
namespace {

std::string Script(const TempDir& folder, const std::string& body) {
  const std::string path = folder / "agent";
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  ::chmod(path.c_str(), 0755);
  return path;
}

// All messages of a local agent until the channel ends.
std::vector<ChannelMessage> Conversation(const std::string& program, const std::vector<AgentCommand>& commands) {
  boost::asio::io_context io;
  LocalTransport transport(program);
  auto channel = transport.Connect(io, {3, "localhost"});
  if (!channel) return {};
  std::vector<ChannelMessage> messages;
  (*channel)->SetReceiver([&messages](ChannelMessage message) { messages.push_back(std::move(message)); });
  for (const AgentCommand& command : commands) (*channel)->Send(command);
  io.run_for(kDeadline);
  return messages;
}

TEST(LocalTransport, IsInTheRegistry) {
  const auto transports = Transports();
  const auto local = std::find_if(transports.begin(), transports.end(),
                                  [](const TransportEntry& entry) { return entry.name == "local"; });
  ASSERT_NE(local, transports.end());
  EXPECT_EQ(local->make({})->name(), "local");
}

TEST(LocalTransport, LooksForItsAgentBesideTheProgram) {
  EXPECT_EQ(AgentBeside(), std::string(MUSTER_TESTS_DIR) + "/muster-agent");
}

TEST(LocalTransport, SaysThatTheAgentIsMissing) {
  boost::asio::io_context io;
  LocalTransport transport("/no/such/muster-agent");
  const auto channel = transport.Connect(io, {});
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().front().blame, Blame::kMachine);
  EXPECT_EQ(channel.error().front().message,
            "the agent cannot be started: exec: No such file or directory: \"/no/such/muster-agent\"");
}

TEST(LocalTransport, SkipsNoiseBeforeTheGreeting) {
  const TempDir folder;
  const auto messages = Conversation(
      Script(folder, "echo 'Welcome to this machine' >&3\nexec " + AgentPath() + " \"$@\""), {Hello{}, Finish{}});
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<AgentReady>(messages[0]));
  EXPECT_TRUE(std::holds_alternative<AgentEmpty>(messages[1]));
}

TEST(LocalTransport, GivesUpOnAProgramThatIsNoAgent) {
  const TempDir folder;
  auto messages = Conversation(Script(folder, "exit 4"), {Hello{}});
  ASSERT_EQ(messages.size(), 1U);
  ASSERT_TRUE(std::holds_alternative<AgentLost>(messages[0]));
  EXPECT_EQ(std::get<AgentLost>(messages[0]).why, "the agent exited with code 4");
  EXPECT_EQ(std::get<AgentLost>(messages[0]).host, 3U);

  // Endless noise, and a frame of a length that no frame has: the program is not waited for.
  messages = Conversation(Script(folder, "exec cat /dev/zero >&3 2>/dev/null"), {Hello{}});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_NE(std::get<AgentLost>(messages[0]).why.find("no greeting of an agent"), std::string::npos);
  const std::string greets = "printf 'muster-agent/" + std::to_string(kProtocolVersion) + "\\n";
  messages = Conversation(Script(folder, greets + "\\377\\377\\377\\377' >&3; exec cat <&3"), {Hello{}});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_NE(std::get<AgentLost>(messages[0]).why.find("a frame of 4294967295 bytes"), std::string::npos);
  messages = Conversation(Script(folder, greets + "\\001\\000\\000\\000\\377' >&3; exec cat <&3"), {Hello{}});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_NE(std::get<AgentLost>(messages[0]).why.find("a message that cannot be read"), std::string::npos);
}

TEST(LocalTransport, SparesWhatTheAgentDidNotStart) {
  Launcher launcher;
  SpawnSpec spec;
  spec.argv = {ProbeProgram(), "wait"};
  const auto own = launcher.Spawn(spec);
  ASSERT_TRUE(own);
  {
    AgentSession other(Transports().front());
    ASSERT_TRUE(other.Await<AgentReady>());
    AgentSession session(Transports().front());
    session.Send(session.Probe(0, {"daemon", "print", "ready", "wait"}));
    const auto ready = session.Await<AgentReady>();
    ASSERT_TRUE(session.Await<ProcessStarted>(0));
    ASSERT_TRUE(AwaitLine(session.Log(0), "ready"));
    ::kill(ready->pid, SIGKILL);
    const auto lost = session.Await<AgentLost>();
    ASSERT_TRUE(lost);
    EXPECT_GE(lost->killed, 1U);
    EXPECT_TRUE(ProcessesWith(session.token()).empty());
    EXPECT_FALSE(HasEnded(own->pidfd.get()));
    EXPECT_TRUE(other.Finish()) << "the other agent was ended too";
  }
  ::kill(own->pid, SIGKILL);
  ASSERT_TRUE(AwaitReadable(own->pidfd.get()));
  Reap(own->pidfd.get());
}

TEST(LocalTransport, EndsAnAgentThatDoesNotAnswer) {
  AgentPlace place;
  place.settings.lease_ms = 1'000;
  for (const bool at_once : {false, true}) {
    SCOPED_TRACE(at_once);
    AgentSession session(Transports().front(), place);
    session.Send(session.Probe(0, {"daemon", "session", "print", "ready", "wait"}));
    const auto ready = session.Await<AgentReady>();
    ASSERT_TRUE(ready && session.Await<ProcessStarted>(0));
    ASSERT_TRUE(AwaitLine(session.Log(0), "ready"));
    ::kill(ready->pid, SIGSTOP);
    session.ExpectAnswer(at_once);
    const auto lost = session.Await<AgentLost>();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->why, "the agent ended by signal 9 (SIGKILL): it did not answer for 1 s");
    EXPECT_TRUE(ProcessesWith(session.token()).empty());
    EXPECT_EQ(Identify(ready->pid), std::nullopt);
  }
}

TEST(LocalTransport, DoesNotWaitForAnAgentThatOwesAnAnswer) {
  AgentPlace place;
  place.settings.lease_ms = 3'600'000;
  AgentSession session(Transports().front(), place);
  session.Send(session.Probe(0, {"daemon", "print", "ready", "wait"}));
  const auto ready = session.Await<AgentReady>();
  ASSERT_TRUE(ready && session.Await<ProcessStarted>(0));
  ASSERT_TRUE(AwaitLine(session.Log(0), "ready"));
  ::kill(ready->pid, SIGSTOP);
  session.ExpectAnswer(true);
  session.CloseChannel();
  EXPECT_TRUE(ProcessesWith(session.token()).empty());
  EXPECT_EQ(Identify(ready->pid), std::nullopt);
}

TEST(LocalTransport, LeavesAnAgentAloneThatAnswers) {
  AgentSession session(Transports().front());
  ASSERT_TRUE(session.Await<AgentReady>());
  // Each time it is asked at once, or not at all as long as an answer is on its way.
  for (ProcessId process = 0; process < 3; ++process) {
    session.ExpectAnswer(true);
    session.Send(session.Probe(process, {"exit", "0"}));
    ASSERT_TRUE(session.Await<ProcessExited>(process));
  }
  EXPECT_TRUE(session.Finish());
}

TEST(LocalTransport, IgnoresCommandsAfterTheEnd) {
  AgentSession session(Transports().front());
  ASSERT_TRUE(session.Finish());
  const std::size_t before = session.messages().size();
  session.Send(session.Probe(0, {"exit", "0"}));
  session.CloseChannel();
  EXPECT_EQ(session.messages().size(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace muster::testing
