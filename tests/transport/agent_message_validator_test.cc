#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "transport/checked_channel.h"

namespace muster {
namespace {

ProcessDumped DumpOf(std::uint32_t dump, ProcessId process) {
  ProcessDumped dumped;
  dumped.dump = dump;
  dumped.process = process;
  return dumped;
}

class AgentMessageValidatorTest : public ::testing::Test {
 protected:
  AgentMessageValidatorTest() {
    Hello hello;
    hello.run_dir = "/runs/a";
    given.Gave(hello);
    AgentReady ready;
    ready.host_name = "n1";
    ready.address = "10.0.0.1";
    ready.shares_run_dir = false;
    EXPECT_EQ(Of(ready), "");
  }

  // "", or the kind and why.
  std::string Of(const ChannelMessage& message) {
    const MessageVerdict verdict = given.Judge(message);
    EXPECT_EQ(verdict.kind == MessageVerdict::Kind::kBelongs, verdict.why.empty());
    if (verdict.kind == MessageVerdict::Kind::kBelongs) return "";
    return (verdict.kind == MessageVerdict::Kind::kStray ? "stray: " : "unfit: ") + verdict.why;
  }

  void Start(ProcessId process, std::uint32_t attempt = 0, bool pty = false) {
    StartProcess start;
    start.process = process;
    start.attempt = attempt;
    start.log_path = "/runs/a/logs/worker." + std::to_string(process) + "." + std::to_string(attempt) + ".log";
    start.ready.kind = ReadyWhen::Kind::kLine;
    if (pty) start.pty = PtySize{24, 80};
    given.Gave(start);
  }

  AgentMessageValidator given;
};

TEST_F(AgentMessageValidatorTest, AcceptsEachMessageAboutAnAttemptOnce) {
  Start(3);
  const std::vector<ChannelMessage> life = {ProcessStarted{3, 0, 77, 1, 1}, FirstOutput{3, 0, 1}, ProcessReady{3, 0, 1},
                                            EndEvidence{3, 0, "core", "x", 1}, ProcessExited{3, 0, false, 0}};
  for (const ChannelMessage& message : life) EXPECT_EQ(Of(message), "") << message.index();
  EXPECT_EQ(Of(ProcessStarted{3, 0, 78, 1, 1}), "stray: process 3 attempt 0: its start");
  EXPECT_EQ(Of(FirstOutput{3, 0, 1}), "stray: process 3 attempt 0: its first output");
  EXPECT_EQ(Of(ProcessReady{3, 0, 1}), "stray: process 3 attempt 0: its readiness");
  EXPECT_EQ(Of(ProcessExited{3, 0, false, 0}), "stray: process 3 attempt 0: its end");
}

TEST_F(AgentMessageValidatorTest, RejectsMessagesAboutProcessesOfOtherHosts) {
  Start(3, 1);
  EXPECT_EQ(Of(ProcessExited{4, 0, false, 0}), "stray: process 4 attempt 0: its end");
  EXPECT_EQ(Of(ProcessStarted{3, 0, 1, 1, 1}), "stray: process 3 attempt 0: its start") << "another attempt";
  EXPECT_EQ(Of(ProcessExited{3, 1, false, 0}), "stray: process 3 attempt 1: its end") << "which has not begun";
  EXPECT_EQ(Of(SpawnFailed{4, 0, "exec", 2, "", 1}), "stray: process 4 attempt 0: a start that failed");
  EXPECT_EQ(Of(SignalSent{4, 0, 15, 0, 1}), "stray: process 4 attempt 0: a signal");
  EXPECT_EQ(Of(EndEvidence{4, 0, "core", "", 1}), "stray: process 4 attempt 0: evidence about its end");
  EXPECT_EQ(Of(OutputSeen{0, {4}, {1}}), "stray: sizes of logs, which was not requested");
  given.Gave(RequestOutput{});
  EXPECT_EQ(Of(OutputSeen{0, {3, 4}, {1, 1}}), "stray: the log of process 4");
  given.Gave(RequestOutput{});
  EXPECT_EQ(Of(OutputSeen{0, {3}, {1, 1}}), "stray: sizes of logs that are not one for each");
  given.Gave(RequestOutput{});
  EXPECT_EQ(Of(OutputSeen{0, {3}, {1}}), "");
}

TEST_F(AgentMessageValidatorTest, AcceptsSamplesOfItsOwnProcessesIfItIsToSample) {
  Start(3, 1);
  Start(5);
  EXPECT_EQ(Of(UsageSampled{{{3, 1, 5, 5, 5}}}), "stray: a sample of resource usage, which was not requested");
  Hello hello;
  hello.usage_ms = 5'000;
  given.Gave(hello);
  EXPECT_EQ(Of(UsageSampled{{{3, 1, 5, 5, 5}, {5, 0, 5, 5, 5, 7}}}), "");
  EXPECT_EQ(Of(UsageSampled{{{3, 0, 5, 5, 5}}}), "") << "the start of the next attempt was on its way";
  EXPECT_EQ(Of(UsageSampled{{{3, 2, 5, 5, 5}}}), "stray: process 3 attempt 2: its resource usage");
  EXPECT_EQ(Of(UsageSampled{{{3, 1, 5, 5, 5}, {4, 0, 5, 5, 5}}}), "stray: process 4 attempt 0: its resource usage");
  EXPECT_EQ(Of(UsageSampled{{{5, 0, 5, 5, 5}, {3, 1, 5, 5, 5}}}), "stray: resource usage that is not in order");
  EXPECT_EQ(Of(UsageSampled{{{3, 1, 5, 5, 5}, {3, 1, 5, 5, 5}}}), "stray: resource usage that is not in order");
}

TEST_F(AgentMessageValidatorTest, AcceptsSignalsThatWereOrdered) {
  Start(3);
  EXPECT_EQ(Of(SignalSent{3, 0, 15, 0, 1}), "stray: process 3 attempt 0: a signal");
  given.Gave(StopProcesses{{{3, 0}, {9, 0}}, 15, 100});
  EXPECT_EQ(Of(SignalSent{3, 0, 15, 0, 1}), "");
  EXPECT_EQ(Of(SignalSent{3, 0, 9, 0, 1}), "") << "after the grace";
  EXPECT_EQ(Of(SignalSent{3, 0, 9, 0, 1}), "stray: process 3 attempt 0: a signal");
  given.Gave(Finish{});
  EXPECT_EQ(Of(SignalSent{3, 0, 9, 0, 1}), "");
}

TEST_F(AgentMessageValidatorTest, AcceptsASigtermOfTheAgentItselfOnce) {
  const std::string stray = "stray: a signal to itself, which was not requested";
  EXPECT_EQ(Of(AgentSignalled{SIGKILL}), stray) << "which it would not survive";
  EXPECT_EQ(Of(AgentSignalled{SIGTERM}), "");
  EXPECT_EQ(Of(AgentSignalled{SIGTERM}), stray);
}

TEST_F(AgentMessageValidatorTest, AcceptsAFilledDiskForEachThatItWasToFill) {
  EXPECT_EQ(Of(DiskFilled{1, ""}), "stray: a disk that it has filled, which was not requested");
  given.Gave(FillDisk{"/mnt/small", 100});
  EXPECT_EQ(Of(DiskFilled{1, ""}), "");
  EXPECT_EQ(Of(DiskFilled{1, ""}), "stray: a disk that it has filled, which was not requested");
}

TEST_F(AgentMessageValidatorTest, AcceptsPortsThatItHolds) {
  given.Gave(HoldPorts{{{"rpc", 0}}});
  EXPECT_EQ(Of(PortsHeld{{{"rpc", 6000}}, ""}), "");
  EXPECT_EQ(Of(PortsHeld{{{"rpc", 6000}}, ""}), "stray: ports that are held, which was not requested");
  Start(3);
  EXPECT_EQ(Of(PortTaken{3, 0, "rpc", 6000, "nc", true, 1}), "");
  EXPECT_EQ(Of(PortTaken{3, 0, "rpc", 6001, "nc", true, 1}), "stray: process 3 attempt 0: port 6001");
  EXPECT_EQ(Of(PortTaken{3, 0, "other", 6000, "nc", true, 1}), "stray: process 3 attempt 0: port 6000");
  EXPECT_EQ(Of(PortTaken{4, 0, "rpc", 6000, "nc", true, 1}), "stray: process 4 attempt 0: a port that is taken");
}

TEST_F(AgentMessageValidatorTest, AcceptsDumpsThatWereRequested) {
  Start(3);
  EXPECT_EQ(Of(HostDumped{0, 1, {}}), "stray: dump 1, which was not requested");
  given.Gave(TakeDump{1, 100, {{3, 0, "/runs/a/dumps/1/worker.3.0.txt"}}});
  EXPECT_EQ(Of(DumpOf(2, 3)), "stray: process 3 attempt 0: dump 2");
  EXPECT_EQ(Of(DumpOf(1, 4)), "stray: process 4 attempt 0: dump 1");
  given.Gave(TakeDump{2, 100, {{3, 0, "/runs/a/dumps/2/worker.3.0.txt"}}});
  EXPECT_EQ(Of(DumpOf(1, 3)), "") << "it was on its way";
  EXPECT_EQ(Of(DumpOf(1, 3)), "stray: process 3 attempt 0: dump 1");
  EXPECT_EQ(Of(DumpOf(2, 3)), "");
  EXPECT_EQ(Of(HostDumped{0, 2, {}}), "");
  EXPECT_EQ(Of(HostDumped{0, 2, {}}), "stray: dump 2, which was not requested");
  EXPECT_EQ(Of(FileBytes{"dumps/2/worker.3.0.txt", 0, "x", false}), "");
}

TEST_F(AgentMessageValidatorTest, AcceptsTerminalOutputOfItsOwnProcessesWithinTheWindow) {
  Start(3, 0, true);
  Start(4);
  EXPECT_EQ(Of(PtyOpened{4, 0, 1}), "stray: process 4 attempt 0: its terminal");
  EXPECT_EQ(Of(PtyOpened{3, 0, 1}), "");
  EXPECT_EQ(Of(PtyBytes{4, 0, "x"}), "stray: process 4 attempt 0: output to its terminal");
  const std::string window(kPtyWindow, 'x');
  std::size_t fit = 0;
  while (Of(PtyBytes{3, 0, window}).empty()) fit += window.size();
  EXPECT_EQ(fit, kPtyWindow + kMaxPtyRest);
  given.Gave(PtyTaken{3, 0, 10});
  EXPECT_EQ(Of(PtyBytes{3, 0, "0123456789"}), "");
  given.Gave(PtyBytes{3, 0, "ab"});
  EXPECT_EQ(Of(PtyTaken{3, 0, 3}), "stray: process 3 attempt 0: input from its terminal");
  EXPECT_EQ(Of(PtyTaken{3, 0, 2}), "");
  EXPECT_EQ(Of(PtyClosed{3, 0, 1, 0, 1}), "");
  EXPECT_EQ(Of(PtyClosed{3, 0, 1, 0, 1}), "stray: process 3 attempt 0: the end of its terminal");
}

TEST_F(AgentMessageValidatorTest, AcceptsItsOwnFiles) {
  Start(3);
  EXPECT_EQ(Of(FileBytes{"logs/worker.3.0.log", 0, "x", false}), "");
  EXPECT_EQ(Of(FileBytes{"logs/worker.4.0.log", 0, "x", false}), "stray: a file that is not its own");
  EXPECT_EQ(Of(FilesSent{}), "stray: the end of its files, which was not requested");
  given.Gave(Finish{});
  EXPECT_EQ(Of(FilesSent{}), "");
  EXPECT_EQ(Of(FilesSent{}), "stray: the end of its files, which was not requested");
}

TEST_F(AgentMessageValidatorTest, AcceptsRequestedAnswers) {
  for (const ChannelMessage& answer : std::vector<ChannelMessage>{
           AgentReady{}, ResourcesAllocated{}, HostActivated{}, Inspected{}, PathsOpen{}, PathsProbed{}, CodeMissing{},
           CodeReceived{1}, CodeReady{}, FromAgent{}, AgentExited{}}) {
    EXPECT_TRUE(Of(answer).starts_with("stray: ")) << answer.index();
  }
  given.Gave(Activate{});
  given.Gave(Inspect{});
  given.Gave(OpenPaths{});
  given.Gave(ProbePaths{{{"10.0.0.2", 1}}, 1});
  given.Gave(OpenAgent{5});
  for (const ChannelMessage& answer : std::vector<ChannelMessage>{
           HostActivated{}, Inspected{}, PathsOpen{}, PathsProbed{{""}}, FromAgent{5, "x"}, AgentExited{5, "", 0}}) {
    EXPECT_EQ(Of(answer), "") << answer.index();
  }
  EXPECT_EQ(Of(FromAgent{5, "x"}), "stray: agent 5 below it") << "that one is gone";
  given.Gave(ProbePaths{{{"10.0.0.2", 1}}, 1});
  EXPECT_EQ(Of(PathsProbed{}), "unfit: it checked other paths than requested");
}

TEST_F(AgentMessageValidatorTest, AcceptsAWaitForDevicesIfItWasOrdered) {
  AllocateResources allot;
  allot.devices = {0};
  given.Gave(allot);
  EXPECT_EQ(Of(DevicesAwaited{0, 1, "ann"}), "stray: a wait for devices, which was not requested");
  allot.wait_ms = 1;
  given.Gave(allot);
  EXPECT_EQ(Of(DevicesAwaited{0, 1, "ann"}), "");
  EXPECT_EQ(Of(DevicesAwaited{0, 1, "ann"}), "stray: a wait for devices, which was not requested") << "told once";
  given.Gave(allot);
  EXPECT_EQ(Of(ResourcesAllocated{{"0"}, {}, {}, ""}), "");
  EXPECT_EQ(Of(DevicesAwaited{0, 1, "ann"}), "stray: a wait for devices, which was not requested") << "it has them";
}

TEST_F(AgentMessageValidatorTest, AcceptsRequestsForCodeOnceItWasOffered) {
  given.Gave(OfferCode{"h", {}, true});
  for (int tries = 0; tries < 3; ++tries) EXPECT_EQ(Of(CodeMissing{{0, 1}}), "");
  EXPECT_EQ(Of(CodeReceived{4}), "");
  EXPECT_EQ(Of(CodeMissing{}), "stray: a list of missing code, which was not requested") << "it has tried often enough";
  EXPECT_EQ(Of(CodeReady{"/cache/a", ""}), "");
  EXPECT_EQ(Of(CodeReceived{4}), "stray: code that it has received, which was not requested");
}

// --- texts that fill placeholders --------------------------------------------------------------------

std::string OfGreeting(const std::string& host_name, const std::string& address) {
  AgentMessageValidator given;
  given.Gave(Hello{});
  AgentReady ready;
  ready.host_name = host_name;
  ready.address = address;
  return given.Judge(ready).why;
}

TEST(TextsOfAHost, AreAddressesAndNamesOrTheHostIsOfNoUse) {
  for (const char* address : {"", "10.0.0.1", "fe80::1", "n1.example.org", "n_1-a"})
    EXPECT_EQ(OfGreeting("n1", address), "");
  for (const char* address : {"$(touch x)", "10.0.0.1;id", "a b", "`id`", "n1\n", "-oProxyCommand=x", "a@b",
                              "${muster:run_dir}", "größe", "fe80::1%eth0;x"}) {
    EXPECT_EQ(OfGreeting("n1", address), "the address of its host is invalid") << address;
    EXPECT_EQ(OfGreeting(address, ""), "the name of its host is invalid") << address;
  }
  EXPECT_EQ(OfGreeting(std::string(256, 'a'), ""), "the name of its host is invalid");
}

TEST_F(AgentMessageValidatorTest, RejectsInvalidDevicesAndCores) {
  for (const auto& [device, fits] :
       std::vector<std::pair<std::string, bool>>{{"0", true},
                                                 {"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", true},
                                                 {"MIG-GPU-8932f937/7/0", true},
                                                 {"", false},
                                                 {"0;id", false},
                                                 {"$(id)", false},
                                                 {"0 1", false}}) {
    given.Gave(AllocateResources{});
    EXPECT_EQ(Of(ResourcesAllocated{{device}, {}, {}, ""}).empty(), fits) << device;
  }
  for (const auto& [cores, fits] : std::vector<std::pair<std::vector<std::uint32_t>, bool>>{
           {{0, 1, 7}, true}, {{}, false}, {{1, 1}, false}, {{2, 1}, false}, {{65'536}, false}}) {
    given.Gave(AllocateResources{});
    EXPECT_EQ(Of(ResourcesAllocated{{}, {cores}, {}, ""}).empty(), fits);
  }
}

TEST_F(AgentMessageValidatorTest, RequiresAPlainFolderOfCode) {
  for (const auto& [folder, fits] : std::vector<std::pair<std::string, bool>>{{"/root/.cache/muster/code/ab", true},
                                                                              {"/home/a b/.cache", true},
                                                                              {"relative", false},
                                                                              {"", false},
                                                                              {"/x/${muster:checkpoint}", false},
                                                                              {"/x;id", false},
                                                                              {"/x\n", false}}) {
    given.Gave(OfferCode{"h", {}, true});
    EXPECT_EQ(Of(CodeReady{folder, ""}).empty(), fits) << folder;
  }
  given.Gave(OfferCode{"h", {}, true});
  EXPECT_EQ(Of(CodeReady{"", "no space"}), "");
}

}  // namespace
}  // namespace muster
