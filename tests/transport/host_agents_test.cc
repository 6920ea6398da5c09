// Standing agents and the agents below them, with the real program.
#include "transport/host_agents.h"

#include <csignal>
#include <fstream>
#include <optional>
#include <set>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "spawn/leftovers/leftovers.h"
#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"
#include "support/agent_session.h"
#include "support/await.h"
#include "support/processes.h"
#include "transport/local_transport.h"

namespace muster::testing {
namespace {

class HostAgentsTest : public ::testing::Test {
 protected:
  // One run's conversation with its agent.
  struct Talk {
    template <class Message>
    std::vector<Message> All() const {
      std::vector<Message> all;
      for (const ChannelMessage& message : messages) {
        if (const auto* one = std::get_if<Message>(&message)) all.push_back(*one);
      }
      return all;
    }

    std::string run;
    std::unique_ptr<Transport> transport;
    std::unique_ptr<Channel> channel;
    std::vector<ChannelMessage> messages;
  };

  void Begin(std::vector<std::string> names = {"localhost"}) {
    agents_ = std::make_unique<HostAgents>(
        io_, local_, std::move(names), "sweep",
        HostAgents::Events{
            .ready = [this](std::uint32_t host, const AgentReady& ready) { ready_.emplace_back(host, ready); },
            .refused = [](std::uint32_t host,
                          const AgentUnreachable& why) { ADD_FAILURE() << host << ": " << why.why; },
            .lost = [this](std::uint32_t, const AgentLost& lost) { lost_.push_back(lost); }});
    agents_->ConnectAll();
  }

  std::unique_ptr<Talk> Open(const std::string& run, std::uint32_t host = 0) {
    auto talk = std::make_unique<Talk>();
    talk->run = run;
    talk->transport = agents_->TransportFor({host});
    auto connected = talk->transport->Connect(io_, {0, "localhost"});
    if (!connected) {
      ADD_FAILURE() << connected.error().front().message;
      return talk;
    }
    talk->channel = std::move(*connected);
    talk->channel->SetReceiver(
        [raw = talk.get()](ChannelMessage message) { raw->messages.push_back(std::move(message)); });
    talk->channel->Send(Hello{kProtocolVersion, run, 0, {}, 0, folder_.path()});
    talk->channel->Send(DefineEnvironment{0, {Token(run)}});
    return talk;
  }

  // Carried by the run's processes, the daemons among them.
  std::string Token(const std::string& run) const { return "MUSTER_PROCESS=" + folder_.path() + "/" + run; }
  std::string Log(const Talk& talk) const { return folder_ / (talk.run + ".log"); }

  void Start(Talk& talk, const std::vector<std::string>& verbs) {
    StartProcess start;
    start.argv = {ProbeProgram()};
    start.argv.insert(start.argv.end(), verbs.begin(), verbs.end());
    start.cwd = folder_.path();
    start.log_path = Log(talk);
    talk.channel->Send(start);
  }

  bool Until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!done()) {
      io_.restart();
      if (io_.run_one_until(deadline) == 0) return false;
    }
    return true;
  }

  template <class Message>
  std::optional<Message> Await(const Talk& talk) {
    if (!Until([&] { return !talk.All<Message>().empty(); })) return std::nullopt;
    return talk.All<Message>().front();
  }

  // A daemon of the run that waits, with its parent gone.
  void StartDaemon(Talk& talk) {
    Start(talk, {"daemon", "print", "ready", "wait"});
    ASSERT_TRUE(Await<ProcessStarted>(talk));
    ASSERT_TRUE(AwaitLine(Log(talk), "ready"));
  }

  // The agent, with leases of its own.
  std::string Program() const {
    const std::string path = folder_ / "agent";
    std::ofstream(path) << "#!/bin/sh\nMUSTER_LEASES=" << folder_ / "leases"
                        << " exec " << AgentPath() << " \"$@\"\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }

  TempDir folder_;
  boost::asio::io_context io_;
  LocalTransport local_{Program()};
  std::vector<std::pair<std::uint32_t, AgentReady>> ready_;
  std::vector<AgentLost> lost_;
  std::unique_ptr<HostAgents> agents_;
};

TEST_F(HostAgentsTest, GivesEveryRunAnAgentOfItsOwn) {
  Begin();
  const auto one = Open("one");
  const auto other = Open("other");
  Start(*one, {"exit", "3"});
  Start(*other, {"wait"});
  const auto of_one = Await<AgentReady>(*one);
  const auto of_other = Await<AgentReady>(*other);
  ASSERT_TRUE(of_one && of_other);
  EXPECT_NE(of_one->pid, of_other->pid);
  ASSERT_EQ(ready_.size(), 1U);
  EXPECT_GT(ready_.front().second.cores, 0U);
  EXPECT_NE(ready_.front().second.pid, of_one->pid);
  ASSERT_NE(agents_->AgentOf(0), nullptr);

  const auto exited = Await<ProcessExited>(*one);
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->code, 3);
  one->channel->Send(Finish{});
  const auto empty = Await<AgentEmpty>(*one);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->started, 1U);
  ASSERT_TRUE(Await<ProcessStarted>(*other));
  EXPECT_TRUE(other->All<ProcessExited>().empty());
  EXPECT_FALSE(ProcessesWith(Token("other")).empty());
  other->channel->Send(Finish{});
  ASSERT_TRUE(Await<AgentEmpty>(*other));
  EXPECT_TRUE(ProcessesWith(Token("other")).empty());
}

TEST_F(HostAgentsTest, ServesTheNextRunByTheProcessOfAnAgentThatFinished) {
  Begin();
  const auto serve = [&](const std::string& name) {
    const auto run = Open(name);
    Start(*run, {"exit", "3"});
    const auto ready = Await<AgentReady>(*run);
    const auto exited = Await<ProcessExited>(*run);
    EXPECT_TRUE(ready && exited && exited->code == 3);
    run->channel->Send(Finish{});
    const auto empty = Await<AgentEmpty>(*run);
    EXPECT_TRUE(empty);
    // Nothing of a run is known in the next.
    EXPECT_EQ(empty->started, 1U);
    EXPECT_EQ(empty->reaped, 1U);
    EXPECT_EQ(empty->descriptors, ready->descriptors);
    return ready->pid;
  };
  const pid_t first = serve("one");
  EXPECT_EQ(serve("two"), first);
  EXPECT_EQ(serve("three"), first);

  // An agent that was killed in between does no harm.
  const UniqueFd killed = PidFd(first);
  ::kill(first, SIGKILL);
  ASSERT_TRUE(AwaitReadable(killed.get()));
  EXPECT_NE(serve("four"), first);
  EXPECT_TRUE(lost_.empty());
}

TEST_F(HostAgentsTest, GivesTheProcessOfALostAgentToNobody) {
  Begin();
  const auto one = Open("one");
  StartDaemon(*one);
  const auto ready = Await<AgentReady>(*one);
  ASSERT_TRUE(ready);
  one->channel->Send(StartProcess{});  // in an environment that is not defined
  ASSERT_TRUE(Await<AgentLost>(*one));
  EXPECT_TRUE(ProcessesWith(Token("one")).empty());
  const auto other = Open("other");
  Start(*other, {"exit"});
  const auto next = Await<AgentReady>(*other);
  ASSERT_TRUE(next);
  EXPECT_NE(next->pid, ready->pid);
  other->channel->Send(Finish{});
  ASSERT_TRUE(Await<AgentEmpty>(*other));
}

TEST_F(HostAgentsTest, EndsWhatAKilledAgentLeftAndNothingElse) {
  Begin();
  const auto one = Open("one");
  const auto other = Open("other");
  StartDaemon(*one);
  StartDaemon(*other);
  ::kill(Await<AgentReady>(*one)->pid, SIGKILL);
  const auto lost = Await<AgentLost>(*one);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->why, "the agent ended by signal 9 (SIGKILL)");
  EXPECT_GE(lost->killed, 1U);
  EXPECT_TRUE(ProcessesWith(Token("one")).empty());
  EXPECT_FALSE(ProcessesWith(Token("other")).empty());
  EXPECT_TRUE(lost_.empty());
  other->channel->Send(Finish{});
  EXPECT_TRUE(Await<AgentEmpty>(*other));
}

TEST_F(HostAgentsTest, LeavesNothingOfALostHostAndSparesWhatTheHeadStartedLater) {
  Begin();
  const auto one = Open("one");
  const auto other = Open("other");
  StartDaemon(*one);
  StartDaemon(*other);
  // An evaluator, say.
  Launcher launcher;
  SpawnSpec spec;
  spec.argv = {ProbeProgram(), "wait"};
  spec.grouping = Grouping::kOwnGroup;
  const auto own = launcher.Spawn(spec);
  ASSERT_TRUE(own);
  const pid_t sub = Await<AgentReady>(*one)->pid;
  ::kill(ready_.front().second.pid, SIGKILL);
  ASSERT_TRUE(Until([&] { return !lost_.empty(); }));
  for (const Talk* talk : {one.get(), other.get()}) {
    ASSERT_EQ(talk->All<AgentLost>().size(), 1U);
    EXPECT_EQ(talk->All<AgentLost>().front().why,
              "the agent of the host was lost: the agent ended by signal 9 (SIGKILL)");
  }
  EXPECT_TRUE(ProcessesWith(Token("one")).empty());
  EXPECT_TRUE(ProcessesWith(Token("other")).empty());
  EXPECT_EQ(Identify(sub), std::nullopt);
  EXPECT_FALSE(HasEnded(own->pidfd.get()));
  EXPECT_EQ(agents_->AgentOf(0), nullptr);

  auto refused = agents_->TransportFor({0})->Connect(io_, {0, "localhost"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().message, "there is no agent on localhost: the agent ended by signal 9 (SIGKILL)");
  agents_->Connect(0);
  const auto again = Open("again");
  Start(*again, {"exit", "0"});
  EXPECT_TRUE(Await<ProcessExited>(*again));
  ::kill(own->pid, SIGKILL);
  ASSERT_TRUE(AwaitReadable(own->pidfd.get()));
  Reap(own->pidfd.get());
}

TEST_F(HostAgentsTest, EndsAnAgentThatDoesNotAnswerAndNothingElse) {
  Begin();
  const auto one = Open("one");
  const auto other = Open("other");
  StartDaemon(*one);
  StartDaemon(*other);
  ::kill(Await<AgentReady>(*one)->pid, SIGSTOP);
  for (Talk* talk : {one.get(), other.get()}) talk->channel->ExpectAnswer(true);
  const auto lost = Await<AgentLost>(*one);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->why, "the agent ended by signal 9 (SIGKILL): it did not answer for 1 s");
  EXPECT_TRUE(ProcessesWith(Token("one")).empty());
  EXPECT_FALSE(ProcessesWith(Token("other")).empty());
  EXPECT_TRUE(lost_.empty());
  other->channel->Send(Finish{});
  EXPECT_TRUE(Await<AgentEmpty>(*other));
}

TEST_F(HostAgentsTest, EndsAStandingAgentThatDoesNotAnswer) {
  Begin();
  const auto one = Open("one");
  StartDaemon(*one);
  const pid_t sub = Await<AgentReady>(*one)->pid;
  ::kill(ready_.front().second.pid, SIGSTOP);
  one->channel->ExpectAnswer(true);
  ASSERT_TRUE(Until([&] { return !lost_.empty(); }));
  EXPECT_EQ(lost_.front().why, "the agent ended by signal 9 (SIGKILL): it did not answer for 1 s");
  EXPECT_EQ(one->All<AgentLost>().size(), 1U);
  EXPECT_TRUE(ProcessesWith(Token("one")).empty());
  EXPECT_EQ(Identify(sub), std::nullopt);
}

TEST_F(HostAgentsTest, FinishesWithoutAnAgentThatIsStopped) {
  Begin();
  const auto one = Open("one");
  StartDaemon(*one);
  ::kill(Await<AgentReady>(*one)->pid, SIGSTOP);
  bool done = false;
  agents_->Finish([&done] { done = true; });
  EXPECT_TRUE(Until([&] { return done; }));
  EXPECT_TRUE(ProcessesWith(Token("one")).empty());
}

TEST_F(HostAgentsTest, EndsTheProcessesOfAChannelThatIsGivenUp) {
  Begin();
  const auto one = Open("one");
  const auto other = Open("other");
  StartDaemon(*one);
  StartDaemon(*other);
  one->channel.reset();
  // The order of the standing agent's words: the other's answer comes after the first one's connection was closed, and
  // the first one's end is waited for by its process.
  ASSERT_TRUE(Until([&] {
    other->channel->Send(RequestOutput{});
    const std::size_t before = other->All<OutputSeen>().size();
    Until([&] { return other->All<OutputSeen>().size() > before; });
    return ProcessesWith(Token("one")).empty();
  }));
  EXPECT_FALSE(ProcessesWith(Token("other")).empty());
}

TEST_F(HostAgentsTest, PassesOnWhatIsLongerThanASocketHolds) {
  Begin();
  const auto one = Open("one");
  // Both ways: an environment goes there, and a dump's worth of it comes back by the log's length only; so the bytes
  // are counted by the process itself.
  std::vector<std::string> variables = {Token("one")};
  for (int i = 0; i < 64; ++i) variables.push_back("V" + std::to_string(i) + "=" + std::string(16'000, 'x'));
  one->channel->Send(DefineEnvironment{1, variables});
  StartProcess start;
  start.environment = 1;
  start.argv = {"/bin/sh", "-c", "echo ${#V63} ${#V0}"};
  start.cwd = folder_.path();
  start.log_path = Log(*one);
  one->channel->Send(start);
  ASSERT_TRUE(Await<ProcessExited>(*one));
  EXPECT_TRUE(AwaitLine(Log(*one), "16000 16000"));
}

TEST_F(HostAgentsTest, GivesNoDeviceToTwoRuns) {
  Begin();
  std::set<std::string> given;
  std::vector<std::unique_ptr<Talk>> talks;
  for (const char* run : {"one", "two", "three"}) {
    talks.push_back(Open(run));
    AllocateResources allot;
    allot.devices = {0};
    allot.host_devices = 2;
    allot.any = true;
    allot.whose = run;
    talks.back()->channel->Send(allot);
    const auto allotted = Await<ResourcesAllocated>(*talks.back());
    ASSERT_TRUE(allotted);
    if (talks.size() == 3) {
      EXPECT_NE(allotted->error, "") << "two devices were given to three";
      continue;
    }
    ASSERT_EQ(allotted->error, "");
    given.insert(allotted->devices.front());
  }
  EXPECT_EQ(given.size(), 2U);
  talks.front()->channel->Send(Finish{});
  ASSERT_TRUE(Await<AgentEmpty>(*talks.front()));
  const auto next = Open("next");
  AllocateResources allot;
  allot.devices = {0};
  allot.host_devices = 2;
  allot.any = true;
  allot.whose = "next";
  next->channel->Send(allot);
  EXPECT_EQ(Await<ResourcesAllocated>(*next)->error, "");
}

TEST_F(HostAgentsTest, GivesADeviceToTheRunThatWaitsForIt) {
  Begin();
  const auto allot = [](const std::string& run, std::uint64_t wait_ms) {
    AllocateResources request;
    request.devices = {0};
    request.host_devices = 1;
    request.whose = run;
    request.wait_ms = wait_ms;
    request.owner = request.job = run;
    return request;
  };
  const auto first = Open("first");
  first->channel->Send(allot("first", kWaitForEver));
  ASSERT_EQ(Await<ResourcesAllocated>(*first)->error, "");
  EXPECT_TRUE(first->All<DevicesAwaited>().empty()) << "there was nothing to wait for";

  // One run's process, the whole agent of another, and a run that waits and is stopped: each lets the next one have it.
  const auto second = Open("second");
  second->channel->Send(allot("second", kWaitForEver));
  const auto awaited = Await<DevicesAwaited>(*second);
  ASSERT_TRUE(awaited);
  EXPECT_EQ(awaited->count, 1U);
  EXPECT_TRUE(awaited->holders.starts_with("device 0 is held by first of ")) << awaited->holders;
  const auto impatient = Open("impatient");
  impatient->channel->Send(allot("impatient", 1));
  const auto refused = Await<ResourcesAllocated>(*impatient);
  ASSERT_TRUE(refused);
  EXPECT_TRUE(refused->error.starts_with("1 device is required after 1.0 ms: device 0 is held by first of "))
      << refused->error;
  const auto third = Open("third");
  third->channel->Send(allot("third", kWaitForEver));
  ASSERT_TRUE(Await<DevicesAwaited>(*third));
  first->channel->Send(Finish{});
  ASSERT_TRUE(Await<AgentEmpty>(*first));
  ASSERT_TRUE(Await<ResourcesAllocated>(*second));
  EXPECT_EQ(Await<ResourcesAllocated>(*second)->error, "");
  EXPECT_TRUE(third->All<ResourcesAllocated>().empty());

  const auto stopped = Open("stopped");
  stopped->channel->Send(allot("stopped", kWaitForEver));
  ASSERT_TRUE(Await<DevicesAwaited>(*stopped));
  stopped->channel->Send(Finish{});
  ASSERT_TRUE(Await<AgentEmpty>(*stopped));
  EXPECT_TRUE(stopped->All<ResourcesAllocated>().empty());

  const auto pid = Await<AgentReady>(*second)->pid;
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  ASSERT_TRUE(Await<ResourcesAllocated>(*third)) << "of a holder that was killed";
  EXPECT_EQ(Await<ResourcesAllocated>(*third)->error, "");
}

TEST_F(HostAgentsTest, HoldsNoPortTwice) {
  Begin();
  std::set<std::uint16_t> numbers;
  std::vector<std::unique_ptr<Talk>> talks;
  for (const char* run : {"one", "two", "three", "four"}) {
    talks.push_back(Open(run));
    talks.back()->channel->Send(HoldPorts{{{"rpc", 0}, {"more", 0}}});
    const auto held = Await<PortsHeld>(*talks.back());
    ASSERT_TRUE(held);
    ASSERT_EQ(held->error, "");
    for (const PortRequest& port : held->ports) EXPECT_TRUE(numbers.insert(port.number).second) << port.number;
  }
}

TEST_F(HostAgentsTest, SaysWhyAHostHasNoAgent) {
  LocalTransport none("/no/such/muster-agent");
  std::string why;
  HostAgents agents(io_, none, {"n1"}, "sweep",
                    {.ready = {},
                     .refused = [&](std::uint32_t, const AgentUnreachable& reported) { why = reported.why; },
                     .lost = {}});
  agents.ConnectAll();
  EXPECT_EQ(why, "the agent cannot be started: exec: No such file or directory: \"/no/such/muster-agent\"");
  const auto refused = agents.TransportFor({0})->Connect(io_, {0, "n1"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().message, "there is no agent on n1: " + why);
}

TEST_F(HostAgentsTest, LeavesNothingWhenTheHeadGivesItUp) {
  Begin();
  const auto one = Open("one");
  const auto other = Open("other");
  StartDaemon(*one);
  StartDaemon(*other);
  agents_.reset();
  EXPECT_TRUE(ProcessesWith(Token("one")).empty());
  EXPECT_TRUE(ProcessesWith(Token("other")).empty());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  // Later messages and cancellations have no effect.
  one->channel->Send(Finish{});
  one->channel.reset();
  EXPECT_FALSE(other->transport->Connect(io_, {0, "localhost"}));
}

TEST_F(HostAgentsTest, EndsRunsThatGoOnWhenItFinishes) {
  Begin();
  const auto one = Open("one");
  StartDaemon(*one);
  bool done = false;
  agents_->Finish([&] { done = true; });
  ASSERT_TRUE(Until([&] { return done; }));
  EXPECT_EQ(one->All<AgentLost>().size(), 1U);
  EXPECT_TRUE(ProcessesWith(Token("one")).empty());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_TRUE(lost_.empty());
}

}  // namespace
}  // namespace muster::testing
