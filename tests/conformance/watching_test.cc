// Requirements for every transport while processes run: terminals, ports, output, readiness.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "conformance/conformance.h"
#include "spawn/start/tcp_ports.h"
#include "wire/files/log_bytes.h"

namespace muster::testing {
namespace {

// --- pseudo-terminals ------------------------------------------------------------------------------

TEST_P(Conformance, SendsOfAPseudoTerminalOnlyWhatIsGranted) {
  constexpr std::size_t kBytes = 3 * kPtyWindow;
  AgentSession session(GetParam(), place_);
  StartProcess start = session.Probe(0, {"print", "\x1b[1m", "fill", std::to_string(kBytes), "terminal"});
  start.pty = PtySize{33, 99};
  session.Send(start);
  ASSERT_TRUE(session.Await<PtyOpened>(0));
  const auto written = [&] {
    std::string all;
    for (const PtyBytes& one : session.All<PtyBytes>()) all += one.bytes;
    return all;
  };
  ASSERT_TRUE(session.Until([&] { return written().size() == kPtyWindow; }));
  // Whatever is answered later, no byte came before it.
  session.Send(RequestOutput{});
  ASSERT_TRUE(session.Await<OutputSeen>());
  EXPECT_EQ(written().size(), kPtyWindow);
  EXPECT_TRUE(session.All<PtyClosed>().empty());
  std::size_t granted = 0;
  ASSERT_TRUE(session.Until([&] {
    const std::size_t seen = written().size();
    if (seen > granted) session.Send(PtyTaken{0, 0, static_cast<std::uint32_t>(seen - granted)});
    granted = seen;
    return !session.All<ProcessExited>().empty();
  }));
  const std::string all = written();
  EXPECT_TRUE(all.starts_with("\x1b[1m\r\nxxx")) << "nothing is taken away";
  EXPECT_NE(all.find("\"rows\":33"), std::string::npos);
  std::ifstream log(session.Log(0), std::ios::binary);
  EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(log), {}) == all) << "the log has the same";
  ASSERT_EQ(session.All<PtyClosed>().size(), 1U);
  EXPECT_EQ(session.All<PtyClosed>()[0].bytes, all.size());
  EXPECT_EQ(session.All<PtyClosed>()[0].unlogged, 0U);
  ASSERT_TRUE(session.Finish());
  ExpectNothingLeft(session);
}

TEST_P(Conformance, ReportsWhatAPseudoTerminalTookOfTheKeys) {
  AgentSession session(GetParam(), place_);
  StartProcess start = session.Probe(0, {"converse"});
  start.pty = PtySize{24, 80};
  session.Send(start);
  ASSERT_TRUE(session.Await<PtyOpened>(0));
  const auto shows = [&](const std::string& text) {
    return session.Until([&] {
      std::string all;
      for (const PtyBytes& one : session.All<PtyBytes>()) all += one.bytes;
      return all.find(text) != std::string::npos;
    });
  };
  ASSERT_TRUE(shows("ready"));
  session.Send(PtyBytes{0, 0, "ab\r"});
  ASSERT_TRUE(shows("heard ab"));
  ASSERT_FALSE(session.All<PtyTaken>().empty());
  EXPECT_EQ(session.All<PtyTaken>()[0].count, 3U);
  session.Send(PtyResized{0, 0, {40, 100}});
  ASSERT_TRUE(shows("window 40 100"));
  session.Send(PtyBytes{0, 0, "bye\r"});
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  session.Send(PtyBytes{0, 0, "late"});  // of no effect
  ASSERT_TRUE(session.Finish());
  ExpectNothingLeft(session);
}

// It still holds the terminal when the process has ended.
TEST_P(Conformance, HangsUpWhatAProcessLeftAtItsTerminal) {
  AgentSession session(GetParam(), place_);
  StartProcess start = session.Probe(0, {"daemon", "print", "bye", "exit", "3"});
  start.pty = PtySize{24, 80};
  session.Send(start);
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  ASSERT_EQ(session.All<PtyClosed>().size(), 1U);
  EXPECT_EQ(session.All<PtyClosed>()[0].bytes, 5U);
  ASSERT_TRUE(session.Finish());
  ExpectNothingLeft(session);
}

TEST_P(Conformance, RefusesMoreKeysThanItGranted) {
  AgentSession session(GetParam(), place_);
  StartProcess start = session.Probe(0, {"print", "there", "wait"});
  start.pty = PtySize{24, 80};
  session.Send(start);
  ASSERT_TRUE(session.Await<PtyOpened>(0));
  session.Send(PtyBytes{0, 0, std::string(kPtyWindow + 1, 'x')});
  const auto failed = session.Await<AgentFailed>();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->why, "more was typed than was granted");
  ASSERT_TRUE(session.Await<AgentLost>());
}

// --- ports -----------------------------------------------------------------------------------------

TEST_P(Conformance, HoldsPortsUntilTheStartThatReleasesThem) {
  AgentSession session(GetParam(), place_);
  session.Send(HoldPorts{{{"rpc", 0}, {"other", 0}}});
  const auto held = session.Await<PortsHeld>();
  ASSERT_TRUE(held);
  ASSERT_EQ(held->error, "");
  ASSERT_EQ(held->ports.size(), 2U);
  EXPECT_EQ(held->ports[0].name, "rpc");
  EXPECT_NE(held->ports[0].number, held->ports[1].number);
  EXPECT_FALSE(There<bool>([&] { return HoldPort(held->ports[0].number).has_value(); }));
  EXPECT_FALSE(There<bool>([&] { return HoldPort(held->ports[1].number).has_value(); }));

  StartProcess start = session.Probe(0, {"print", "ready", "wait"});
  start.release_ports = {"rpc"};
  session.Send(start);
  ASSERT_TRUE(session.Await<ProcessStarted>(0));
  EXPECT_TRUE(There<bool>([&] { return HoldPort(held->ports[0].number).has_value(); }));
  EXPECT_FALSE(There<bool>([&] { return HoldPort(held->ports[1].number).has_value(); }));
  ASSERT_TRUE(session.Finish());
  EXPECT_TRUE(There<bool>([&] { return HoldPort(held->ports[1].number).has_value(); }));
}

TEST_P(Conformance, NamesAPortThatIsInUse) {
  const auto ours = There<tl::expected<HeldPort, std::string>>([] { return HoldAnyPort({}); });
  ASSERT_TRUE(ours);
  AgentSession session(GetParam(), place_);
  session.Send(HoldPorts{{{"free", 0}, {"rpc", ours->number}}});
  const auto held = session.Await<PortsHeld>();
  ASSERT_TRUE(held);
  EXPECT_EQ(held->error, "rpc: port " + std::to_string(ours->number) + " is in use");
  EXPECT_TRUE(held->ports.empty());
  ASSERT_TRUE(session.Finish());
}

// --- first output ----------------------------------------------------------------------------------

TEST_P(Conformance, ReportsTheFirstOutputOnce) {
  AgentSession session(GetParam(), place_);
  session.Send(session.Probe(0, {"print", "one", "print", "two", "file", session.folder() / "said", "wait"}));
  session.Send(session.Probe(1, {"wait"}));
  session.Send(session.Probe(2, {"print", "last words", "exit", "0"}));
  session.Send(session.Probe(3, {"exit", "0"}));
  const auto seen = session.Await<FirstOutput>(0);
  ASSERT_TRUE(seen);
  EXPECT_GE(seen->at, session.Await<ProcessStarted>(0)->at);
  ASSERT_TRUE(session.Await<ProcessExited>(2));
  ASSERT_TRUE(session.Await<ProcessExited>(3));
  std::vector<std::string> of_two;
  for (const ChannelMessage& message : session.messages()) {
    if (const auto* output = std::get_if<FirstOutput>(&message); output && output->process == 2)
      of_two.emplace_back("output");
    if (const auto* exited = std::get_if<ProcessExited>(&message); exited && exited->process == 2)
      of_two.emplace_back("exited");
  }
  EXPECT_EQ(of_two, (std::vector<std::string>{"output", "exited"})) << "not lost when the process ends at once";
  ASSERT_TRUE(session.Finish());
  EXPECT_EQ(session.All<FirstOutput>().size(), 2U) << "once for each that writes, and never for the silent";
}

// --- readiness -------------------------------------------------------------------------------------

// The start, to be ready when `when` holds.
StartProcess ReadyWith(StartProcess start, ReadyWhen when) {
  start.ready = std::move(when);
  return start;
}

TEST_P(Conformance, ReportsWhenALogHoldsALine) {
  AgentSession session(GetParam(), place_);
  const ReadyWhen line{ReadyWhen::Kind::kLine, 0, "service up", {}, 0};
  session.Send(ReadyWith(session.Probe(0, {"print", "warming", "print", "the service up at last", "wait"}), line));
  session.Send(ReadyWith(session.Probe(1, {"print", "service", "print", "up", "wait"}), line));
  ASSERT_TRUE(session.Await<ProcessReady>(0));
  // The news of its readiness is not lost when it ends at once, and comes before that of its end.
  session.Send(ReadyWith(session.Probe(2, {"print", "service up", "exit", "3"}), line));
  ASSERT_TRUE(session.Await<ProcessExited>(2));
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < session.messages().size(); ++i) {
    const ChannelMessage& message = session.messages()[i];
    if (const auto* ready = std::get_if<ProcessReady>(&message); ready && ready->process == 2) order.push_back(0);
    if (const auto* exited = std::get_if<ProcessExited>(&message); exited && exited->process == 2) order.push_back(1);
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1}));
  ASSERT_TRUE(session.Finish());
  EXPECT_EQ(session.All<ProcessReady>().size(), 2U) << "a line is one line";
  ExpectNothingLeft(session);
}

TEST_P(Conformance, ReportsWhenAFileExists) {
  AgentSession session(GetParam(), place_);
  session.Send(ReadyWith(session.Probe(0, {"file", "not/this", "file", "deep/in/folders/up", "wait"}),
                         {ReadyWhen::Kind::kFile, 0, "deep/in/folders/up", {}, 0}));
  const auto ready = session.Await<ProcessReady>(0);
  ASSERT_TRUE(ready);
  EXPECT_GT(ready->at, 0U);
  // One that is there already.
  session.Send(
      ReadyWith(session.Probe(1, {"wait"}), {ReadyWhen::Kind::kFile, 0, session.folder() / "not/this", {}, 0}));
  EXPECT_TRUE(session.Await<ProcessReady>(1));
  ASSERT_TRUE(session.Finish());
  ExpectNothingLeft(session);
}

TEST_P(Conformance, ReportsWhenAPortIsListenedOn) {
  AgentSession session(GetParam(), place_);
  session.Send(HoldPorts{{{"rpc", 0}}});
  const auto held = session.Await<PortsHeld>();
  ASSERT_TRUE(held && held->error.empty());
  const std::uint16_t port = held->ports[0].number;
  StartProcess start = session.Probe(0, {"await", "go", "listen", std::to_string(port), "wait"});
  start.release_ports = {"rpc"};
  session.Send(ReadyWith(start, {ReadyWhen::Kind::kPort, port, "", {}, 0}));
  ASSERT_TRUE(session.Await<ProcessStarted>(0));
  EXPECT_TRUE(session.All<ProcessReady>().empty()) << "a port that is held is not listened on";
  std::ofstream(session.folder() / "go") << "go";
  EXPECT_TRUE(session.Await<ProcessReady>(0));
  ASSERT_TRUE(session.Finish());
  ExpectNothingLeft(session);
}

TEST_P(Conformance, ReportsWhenACommandSucceeds) {
  AgentSession session(GetParam(), place_);
  const ReadyWhen test{ReadyWhen::Kind::kCommand, 0, "", {"/usr/bin/test", "-e", "up"}, 5};
  session.Send(ReadyWith(session.Probe(0, {"await", "go", "file", "up", "wait"}), test));
  ASSERT_TRUE(session.Await<ProcessStarted>(0));
  std::ofstream(session.folder() / "go") << "go";
  EXPECT_TRUE(session.Await<ProcessReady>(0));
  // A command that never ends goes with its process; one that is not there never succeeds.
  session.Send(ReadyWith(session.Probe(1, {"await", "end", "exit", "0"}),
                         {ReadyWhen::Kind::kCommand, 0, "", {ProbeProgram(), "file", "probing", "wait"}, 5}));
  session.Send(ReadyWith(session.Probe(2, {"await", "probing", "file", "end", "exit", "0"}),
                         {ReadyWhen::Kind::kCommand, 0, "", {"/no/such/program"}, 5}));
  ASSERT_TRUE(session.Await<ProcessExited>(1));
  ASSERT_TRUE(session.Await<ProcessExited>(2));
  ASSERT_TRUE(session.Finish());
  EXPECT_EQ(session.All<ProcessReady>().size(), 1U);
  ExpectNothingLeft(session);
}

TEST_P(Conformance, ReportsHowMuchIsWritten) {
  AgentSession session(GetParam(), place_);
  session.Send(session.Probe(0, {"print", "12345", "file", "written", "wait"}));
  session.Send(session.Probe(1, {"await", "written", "file", "seen", "wait"}));
  session.Send(ReadyWith(session.Probe(2, {"await", "seen", "exit", "0"}), {}));
  ASSERT_TRUE(session.Await<ProcessExited>(2));
  session.Send(RequestOutput{});
  const auto seen = session.Await<OutputSeen>();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->processes, (std::vector<ProcessId>{0, 1}));
  EXPECT_EQ(seen->bytes, (std::vector<std::uint64_t>{6, 0}));
  ASSERT_TRUE(session.Finish());
}

// --- resource usage --------------------------------------------------------------------------------

// The samples of a process so far.
std::vector<ProcessUsage> UsageOf(const AgentSession& session, ProcessId process) {
  std::vector<ProcessUsage> usage;
  for (const UsageSampled& sample : session.All<UsageSampled>()) {
    for (const ProcessUsage& one : sample.processes) {
      if (one.process == process) usage.push_back(one);
    }
  }
  return usage;
}

TEST_P(Conformance, SamplesWhatProcessesUse) {
  AgentPlace place = place_;
  place.usage_ms = 50;
  AgentSession session(GetParam(), place);
  session.Send(session.Probe(0, {"allocate", "64", "burn", "300", "wait"}));
  // A child, and one that has left its parent: both have the memory of their parent, in pages that they share.
  session.Send(session.Probe(1, {"allocate", "32", "child", "daemon", "wait"}));
  session.Send(session.Probe(2, {"wait"}));
  const auto newest = [&](ProcessId process) {
    const auto all = UsageOf(session, process);
    return all.empty() ? ProcessUsage() : all.back();
  };
  ASSERT_TRUE(session.Until([&] {
    return newest(0).cpu_ms >= 250 && newest(0).memory_kib >= 64 * 1024 && newest(1).memory_kib >= 2 * 32 * 1024 &&
           newest(2).running_ms > 0;
  })) << newest(0).cpu_ms
      << " ms, " << newest(0).memory_kib << " KiB, " << newest(1).memory_kib << " KiB";
  EXPECT_LT(newest(2).memory_kib, 64U * 1024);
  EXPECT_FALSE(newest(0).device_kib);
  session.Send(StopProcesses{{{0, 0}}, SIGKILL, 0});
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  const std::size_t samples = UsageOf(session, 0).size();
  const std::size_t others = UsageOf(session, 2).size();
  ASSERT_TRUE(session.Until([&] { return UsageOf(session, 2).size() > others + 1; }));
  EXPECT_EQ(UsageOf(session, 0).size(), samples) << "it has ended";
  ASSERT_TRUE(session.Finish());
  ExpectNothingLeft(session);
}

TEST_P(Conformance, SamplesNoShortRun) {
  AgentPlace place = place_;
  place.usage_ms = 3'600'000;
  AgentSession session(GetParam(), place);
  session.Send(session.Probe(0, {"exit", "0"}));
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  ASSERT_TRUE(session.Finish());
  EXPECT_TRUE(session.All<UsageSampled>().empty());
}

// Writes the program `nvidia-smi` and a probe that finds it.
StartProcess WithTool(const AgentSession& session, const std::string& script) {
  const std::string tool = session.folder() / "nvidia-smi";
  std::ofstream(tool) << "#!/bin/sh\n" << script;
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  StartProcess start = session.Probe(0, {"wait"});
  start.env = {"PATH=" + session.folder().path() + ":/usr/bin:/bin"};
  start.devices = {"1"};
  return start;
}

TEST_P(Conformance, AsksTheVendorsToolForTheMemoryOfDevices) {
  AgentPlace place = place_;
  place.usage_ms = 2'000;
  place.device_kind = "cuda";
  AgentSession session(GetParam(), place);
  session.Send(WithTool(session, "case $1 in --query-gpu=*) printf '0, GPU-a, 1\\n1, GPU-b, 1234\\n';; esac\n"));
  session.Send(session.Probe(1, {"wait"}));
  ASSERT_TRUE(session.Until([&] { return !UsageOf(session, 0).empty(); }));
  EXPECT_EQ(UsageOf(session, 0).front().device_kib, 1234U * 1024);
  ASSERT_FALSE(UsageOf(session, 1).empty());
  EXPECT_FALSE(UsageOf(session, 1).front().device_kib) << "it has no device";
  ASSERT_TRUE(session.Finish());
  ExpectNothingLeft(session);
}

TEST_P(Conformance, SamplesWithoutAToolThatDoesNotAnswer) {
  AgentPlace place = place_;
  place.usage_ms = 100;
  place.device_kind = "cuda";
  AgentSession session(GetParam(), place);
  session.Send(
      WithTool(session, "echo asked >> " + (session.folder() / "asked") + "; exec " + ProbeProgram() + " wait\n"));
  ASSERT_TRUE(session.Until([&] { return UsageOf(session, 0).size() >= 6; }));
  for (const ProcessUsage& usage : UsageOf(session, 0)) EXPECT_FALSE(usage.device_kib);
  std::ifstream file(session.folder() / "asked");
  const std::string asked{std::istreambuf_iterator<char>(file), {}};
  EXPECT_LE(std::count(asked.begin(), asked.end(), '\n'), 3) << "then it is asked no more";
  ASSERT_TRUE(session.Finish());
  ExpectNothingLeft(session);
}

TEST_P(Conformance, KeepsTheTimesOfALogBesideIt) {
  AgentSession session(GetParam(), place_);
  session.Send(session.Probe(0, {"flood", "1000", "80", "x", "exit", "0"}));
  session.Send(session.Probe(1, {"exit", "0"}));
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  ASSERT_TRUE(session.Await<ProcessExited>(1));
  std::ifstream file(session.folder() / "0.0.idx", std::ios::binary);
  const std::string index{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GE(index.size(), 3 * kLogTimeBytes);
  EXPECT_EQ(index.size() % kLogTimeBytes, 0U);
  EXPECT_EQ(index.substr(0, kLogTimeBytes), kTimeIndexHead);
  EXPECT_EQ(LogTimeFrom(std::string_view(index).substr(kLogTimeBytes)).offset, 0U);
  EXPECT_EQ(LogTimeFrom(std::string_view(index).substr(index.size() - kLogTimeBytes)).offset,
            std::filesystem::file_size(session.Log(0)));
  EXPECT_FALSE(std::filesystem::exists(session.folder() / "1.0.idx")) << "for who writes nothing there is none";
  ASSERT_TRUE(session.Finish());
}

}  // namespace
}  // namespace muster::testing
