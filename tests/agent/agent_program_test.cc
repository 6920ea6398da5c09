// Tests muster-agent as a program: its command line, and its reaction to heads that send garbage or disappear.
#include <csignal>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "agent/program/agent.h"
#include "spawn/leftovers/leftovers.h"
#include "spawn/start/reap.h"
#include "support/await.h"
#include "support/places.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

class AgentProgram : public ::testing::Test {
 protected:
  // Starts the program with a connection to this test, which reads and writes bytes as it likes.
  void Start(const std::vector<std::string>& arguments = {"--fd", "3"}, std::vector<ResourceLimit> limits = {}) {
    std::array<int, 2> ends = {};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    connection_.reset(ends[0]);
    const UniqueFd theirs(ends[1]);
    SpawnSpec spec;
    spec.argv = {std::string(MUSTER_BIN_DIR) + "/muster-agent"};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    for (char** variable = environ; *variable != nullptr; ++variable) spec.env.push_back(*variable);
    if (arguments.front() == "--fd") {
      spec.passed = {{theirs.get(), 3}};
    } else {
      spec.stdin_fd = spec.stdout_fd = spec.stderr_fd = theirs.get();
    }
    spec.limits = std::move(limits);
    auto spawned = launcher_.Spawn(spec);
    ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
    agent_ = std::move(*spawned);
  }

  void Say(const std::string& bytes) {
    ASSERT_EQ(::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  void Say(const AgentCommand& command) { Say(EncodeFrame(command)); }

  // The agent's next message; nothing at the end of the connection.
  std::optional<AgentMessage> Hear() {
    for (;;) {
      if (auto frame = reader_.Next()) return DecodeMessage(*frame);
      std::array<char, 4096> buffer = {};
      if (!AwaitReadable(connection_.get())) return std::nullopt;
      const ssize_t size = ::read(connection_.get(), buffer.data(), buffer.size());
      if (size <= 0) return std::nullopt;
      reader_.Feed(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
    }
  }

  std::string ReceivedText() {
    std::string text;
    std::array<char, 4096> buffer = {};
    for (ssize_t size = 0; (size = ::read(connection_.get(), buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

  int ExitCode() {
    EXPECT_TRUE(AwaitReadable(agent_.pidfd.get()));
    const auto ended = Reap(agent_.pidfd.get());
    return ended && !ended->signalled ? ended->code : -1;
  }

  // With the test's folder as the run directory.
  Hello Greeting() const {
    Hello hello;
    hello.run_dir = folder_.path();
    return hello;
  }

  // Greets and starts one process with a daemon; returns once both are there.
  void StartStubbornProcess() {
    Say(Greeting());
    Say(DefineEnvironment{0, {token_}});
    StartProcess start;
    start.argv = {std::string(MUSTER_TESTS_DIR) + "/probe", "ignore-term", "daemon", "print", "ready", "wait"};
    start.cwd = folder_.path();
    start.log_path = folder_ / "log";
    Say(start);
    ASSERT_TRUE(std::holds_alternative<AgentReady>(Hear().value()));
    ASSERT_TRUE(std::holds_alternative<ProcessStarted>(Hear().value()));
    ASSERT_TRUE(std::holds_alternative<FirstOutput>(Hear().value()));
    ASSERT_TRUE(AwaitLine(folder_ / "log", "ready"));
    ASSERT_EQ(ProcessesWith(token_).size(), 2U);
  }

  TempDir folder_;
  const std::string token_ = "MUSTER_PROCESS=" + folder_.path();
  Launcher launcher_;
  UniqueFd connection_;
  Spawned agent_;
  FrameReader reader_{kMagic};
};

TEST_F(AgentProgram, ShowsHelpWithAnExampleAndItsVersion) {
  Start({"--help"});
  const std::string help = ReceivedText();
  EXPECT_NE(help.find("example: "), std::string::npos);
  EXPECT_NE(help.find("muster starts its agents"), std::string::npos);
  EXPECT_EQ(ExitCode(), 0);
  Start({"--version"});
  EXPECT_TRUE(ReceivedText().starts_with("muster-agent "));
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(AgentProgram, RefusesAWrongCommandLine) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--what"}, {"--stdio", "more"}, {"--stdio", "--version"}, {"--stdio", "--fd", "1"}, {"--stdio", "--guard", "2"}};
  for (const auto& arguments : wrong) {
    Start(arguments);
    EXPECT_FALSE(ReceivedText().empty());
    EXPECT_EQ(ExitCode(), 2);
  }
  Start({"--fd", "77"});
  EXPECT_EQ(ExitCode(), 2);
}

TEST_F(AgentProgram, TalksOverStandardInputAndOutput) {
  Start({"--stdio"});
  Say(Hello{});
  Say(Finish{});
  ASSERT_TRUE(std::holds_alternative<AgentReady>(Hear().value()));
  ASSERT_TRUE(std::holds_alternative<AgentEmpty>(Hear().value()));
  EXPECT_EQ(ExitCode(), kAgentFinished);
}

TEST_F(AgentProgram, EndsEverythingWhenTheConnectionEnds) {
  Start();
  StartStubbornProcess();
  connection_.reset();
  EXPECT_EQ(ExitCode(), kAgentLostHead);
  EXPECT_TRUE(ProcessesWith(token_).empty());
}

TEST_F(AgentProgram, EndsEverythingOnSigterm) {
  Start();
  StartStubbornProcess();
  ::kill(agent_.pid, SIGTERM);
  const auto last = Hear();
  ASSERT_TRUE(last && std::holds_alternative<AgentFailed>(*last));
  EXPECT_EQ(std::get<AgentFailed>(*last).why, "ended by SIGTERM");
  EXPECT_EQ(ExitCode(), kAgentLostHead);
  EXPECT_TRUE(ProcessesWith(token_).empty());
}

// The head considers the host lost by then: the guard ensures that nothing continues on the host.
TEST_F(AgentProgram, IsEndedWhenItIsStoppedForAGoodPartOfItsLease) {
  Start({"--stdio"});
  Say(Hello{kProtocolVersion, "", 0, "", 4'000, folder_.path()});
  Say(DefineEnvironment{0, {token_}});
  StartProcess start;
  start.argv = {std::string(MUSTER_TESTS_DIR) + "/probe", "ignore-term", "daemon", "print", "ready", "wait"};
  start.cwd = folder_.path();
  start.log_path = folder_ / "log";
  Say(start);
  pid_t agent = 0;
  for (bool started = false; !started;) {
    const auto message = Hear();
    ASSERT_TRUE(message);
    if (const auto* ready = std::get_if<AgentReady>(&*message)) agent = ready->pid;
    started = std::holds_alternative<ProcessStarted>(*message);
  }
  ASSERT_TRUE(AwaitLine(folder_ / "log", "ready"));
  ::kill(agent, SIGSTOP);
  EXPECT_EQ(ExitCode(), kAgentFailed);
  EXPECT_TRUE(ProcessesWith(token_).empty());
}

TEST_F(AgentProgram, DoesNotCareAboutSignalsOfATerminal) {
  Start();
  Say(Hello{});
  ASSERT_TRUE(Hear());
  ::kill(agent_.pid, SIGINT);
  ::kill(agent_.pid, SIGHUP);
  Say(Finish{});
  const auto answer = Hear();
  ASSERT_TRUE(answer && std::holds_alternative<AgentEmpty>(*answer));
  EXPECT_EQ(ExitCode(), kAgentFinished);
}

TEST_F(AgentProgram, LeadsASessionOfItsOwn) {
  Start();
  Say(Hello{});
  ASSERT_TRUE(Hear());
  EXPECT_EQ(::getsid(agent_.pid), agent_.pid);
  Say(Finish{});
  ASSERT_TRUE(Hear());
  EXPECT_EQ(ExitCode(), kAgentFinished);
}

struct Hostile {
  const char* name;
  std::string bytes;
  std::string why;  // part of the answer
};

StartProcess BadStart(std::uint32_t environment, std::vector<std::string> env) {
  StartProcess start;
  start.environment = environment;
  start.env = std::move(env);
  return start;
}

const std::vector<Hostile>& HostileStreams() {
  const std::string hello = EncodeFrame(AgentCommand(Hello{}));
  const auto frame = [](AgentCommand command) { return EncodeFrame(command); };
  static const std::vector<Hostile> streams = {
      {"TextInsteadOfFrames", "GET / HTTP/1.1\r\n\r\n", "a frame of 542393671 bytes"},
      {"AnUnknownCommand", std::string("\x01\0\0\0\x7f", 5), "a command that cannot be read"},
      {"AnEmptyFrame", std::string(4, '\0'), "a command that cannot be read"},
      {"AnotherVersion", frame(Hello{99, "run", 0, ""}), "protocol 99"},
      {"NoGreeting", frame(Finish{}), "a command before the greeting"},
      {"TwoGreetings", hello + hello, "greeted twice"},
      {"AnUndefinedEnvironment", hello + frame(BadStart(5, {})), "environment 5 is not defined"},
      {"AVariableWithoutName", hello + frame(DefineEnvironment{0, {"=x"}}), "not an environment variable: \"=x\""},
      {"AVariableWithAZeroByte",
       hello + frame(DefineEnvironment{0, {}}) + frame(BadStart(0, {std::string("A=\0B=", 5)})),
       "not an environment variable"},
      {"ASignalThatIsNone", hello + frame(StopProcesses{{{0, 0}}, 99, 10}), "99 is not a signal"},
  };
  return streams;
}

TEST_F(AgentProgram, EndsEverythingWhenItIsSentNonsense) {
  for (const Hostile& hostile : HostileStreams()) {
    SCOPED_TRACE(hostile.name);
    reader_ = FrameReader(kMagic);
    Start();
    Say(hostile.bytes);
    std::optional<AgentMessage> last;
    while (auto message = Hear()) last = std::move(message);
    ASSERT_TRUE(last && std::holds_alternative<AgentFailed>(*last));
    EXPECT_NE(std::get<AgentFailed>(*last).why.find(hostile.why), std::string::npos)
        << std::get<AgentFailed>(*last).why;
    EXPECT_EQ(ExitCode(), kAgentFailed);
  }
}

TEST_F(AgentProgram, EndsItsProcessesWhenItIsSentNonsense) {
  Start();
  StartStubbornProcess();
  Say(std::string(4, '\xff'));
  ASSERT_TRUE(Hear());
  EXPECT_EQ(ExitCode(), kAgentFailed);
  EXPECT_TRUE(ProcessesWith(token_).empty());
}

TEST_F(AgentProgram, RefusesAStartThatItHasNoDescriptorsFor) {
  Start({"--fd", "3"}, {{RLIMIT_NOFILE, {40, 40}}});
  Say(Greeting());
  Say(DefineEnvironment{0, {token_}});
  for (ProcessId process = 0; process < 20; ++process) {
    StartProcess start;
    start.process = process;
    start.argv = {std::string(MUSTER_TESTS_DIR) + "/probe", "wait"};
    start.cwd = folder_.path();
    start.log_path = folder_ / std::to_string(process);
    Say(start);
  }
  std::size_t started = 0;
  std::optional<SpawnFailed> failed;
  for (std::size_t answers = 0; answers < 20;) {
    const auto message = Hear();
    ASSERT_TRUE(message);
    if (std::holds_alternative<AgentReady>(*message)) continue;
    ++answers;
    if (std::holds_alternative<ProcessStarted>(*message)) ++started;
    if (const auto* one = std::get_if<SpawnFailed>(&*message)) failed = *one;
  }
  EXPECT_GT(started, 0U);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->stage, "descriptors");
  EXPECT_EQ(failed->error, EMFILE);
  EXPECT_NE(failed->detail.find("RLIMIT_NOFILE allows 40"), std::string::npos) << failed->detail;
  EXPECT_NE(failed->detail.find("needed for " + std::to_string(started + 1) + " processes"), std::string::npos);
  connection_.reset();
  EXPECT_EQ(ExitCode(), kAgentLostHead);
  EXPECT_TRUE(ProcessesWith(token_).empty());
}

TEST_F(AgentProgram, AnswersEveryStartOfALongQueueInOrder) {
  Start();
  Say(Hello{});
  constexpr ProcessId kStarts = 5'000;
  std::string starts = EncodeFrame(AgentCommand(DefineEnvironment{0, {token_}}));
  for (ProcessId process = 0; process < kStarts; ++process) {
    StartProcess start;
    start.process = process;
    start.argv = {"/no/such/program"};
    start.log_path = "/no/such/folder/log";
    starts += EncodeFrame(AgentCommand(start));
  }
  std::size_t sent = 0;
  ProcessId failed = 0;
  while (failed < kStarts) {
    if (sent < starts.size()) {
      const ssize_t size =
          ::send(connection_.get(), starts.data() + sent, starts.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (size > 0) {
        sent += static_cast<std::size_t>(size);
        continue;
      }
    }
    const auto message = Hear();
    ASSERT_TRUE(message);
    if (const auto* one = std::get_if<SpawnFailed>(&*message)) {
      ASSERT_EQ(one->process, failed);
      ++failed;
    }
  }
  Say(Finish{});
  const auto empty = Hear();
  ASSERT_TRUE(empty && std::holds_alternative<AgentEmpty>(*empty));
  EXPECT_EQ(std::get<AgentEmpty>(*empty).started, 0U);
  EXPECT_EQ(ExitCode(), kAgentFinished);
}

}  // namespace
}  // namespace muster::testing
