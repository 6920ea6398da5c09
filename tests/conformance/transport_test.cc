// What every transport has to do, for each entry of the registry.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/time_index.h"
#include "spawn/held_port.h"
#include "support/agent_session.h"
#include "support/processes.h"

namespace muster::testing {
namespace {

using nlohmann::json;

class Conformance : public ::testing::TestWithParam<TransportEntry> {
 protected:
  // Nothing that carries the session's token may be left, and no child of this process either.
  static void ExpectNothingLeft(const AgentSession& session) {
    EXPECT_TRUE(ProcessesWith(session.token()).empty());
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  }
};

INSTANTIATE_TEST_SUITE_P(Transports, Conformance, ::testing::ValuesIn(Transports().begin(), Transports().end()),
                         [](const auto& entry) { return std::string(entry.param.name); });

TEST_P(Conformance, TellsWhatTheAgentIs) {
  AgentSession session(GetParam());
  const auto ready = session.Await<AgentReady>();
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->version, kProtocolVersion);
  EXPECT_GT(ready->pid, 0);
  EXPECT_GT(ready->start_ticks, 0U);
  EXPECT_FALSE(ready->host_name.empty());
  EXPECT_FALSE(ready->mechanisms.empty());
  const auto empty = session.Finish();
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->started, 0U);
  ExpectNothingLeft(session);
}

// --- pseudo-terminals ------------------------------------------------------------------------------

TEST_P(Conformance, SendsOfAPseudoTerminalOnlyWhatIsGranted) {
  constexpr std::size_t kBytes = 3 * kPtyWindow;
  AgentSession session(GetParam());
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
  session.Send(AskOutput{});
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

TEST_P(Conformance, TellsWhatAPseudoTerminalTookOfTheKeys) {
  AgentSession session(GetParam());
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
  AgentSession session(GetParam());
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
  AgentSession session(GetParam());
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

TEST_P(Conformance, DeliversEnvironmentAndArgumentsByteForByte) {
  AgentSession session(GetParam());
  session.Send(DefineEnvironment{7, {"COMMON=common", "CHANGED=before", "MULTI=line one\nline two\n"}});
  StartProcess start = session.Probe(0, {"env", "args", "cwd", "--", "", "'\"\\$HOME`", "größe → 東京", "a\n b"});
  start.environment = 7;
  start.env = {"CHANGED=after", "EMPTY=", "EQUALS=a=b"};
  session.Send(start);
  const auto exited = session.Await<ProcessExited>(0);
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->code, 0);
  const auto lines = LinesOf(session.Log(0));
  ASSERT_EQ(lines.size(), 3U);
  const auto variables = json::parse(lines[0]).get<std::set<std::string>>();
  EXPECT_EQ(variables, (std::set<std::string>{"COMMON=common", "CHANGED=after", "MULTI=line one\nline two\n",
                                              "EMPTY=", "EQUALS=a=b"}));
  EXPECT_EQ(json::parse(lines[1]), json(start.argv));
  EXPECT_EQ(json::parse(lines[2]), session.folder().path());
  ASSERT_TRUE(session.Finish());
}

TEST_P(Conformance, GivesAProcessItsLogItsGroupAndNothingElse) {
  AgentSession session(GetParam());
  session.Send(session.Probe(0, {"fds", "ids", "signals", "nofile"}));
  const auto started = session.Await<ProcessStarted>(0);
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  ASSERT_TRUE(started);
  const auto lines = LinesOf(session.Log(0));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(json::parse(lines[0]), (json{{"0", "/dev/null"}, {"1", session.Log(0)}, {"2", session.Log(0)}}));
  const json ids = json::parse(lines[1]);
  EXPECT_EQ(ids["pid"], started->pid);
  EXPECT_EQ(ids["group"], started->pid);
  EXPECT_EQ(json::parse(lines[2]), (json{{"SigBlk", "0000000000000000"}, {"SigIgn", "0000000000000000"}}));
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(json::parse(lines[3]), limit.rlim_cur);
  EXPECT_EQ(std::filesystem::status(session.Log(0)).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  ASSERT_TRUE(session.Finish());
}

TEST_P(Conformance, PassesTextsThatAreInNoFileAndNoEnvironment) {
  AgentSession session(GetParam());
  const std::string large(300'000, 'x');
  for (const std::uint32_t attempt : {0U, 1U}) {
    StartProcess start = session.Probe(0, {}, attempt);
    start.argv = {"/bin/cat", "/proc/self/fd/100", "/proc/self/fd/101", "/proc/self/environ"};
    start.passed = {{100, "canary-4711\n"}, {101, large + "\n"}};
    session.Send(start);
    ASSERT_TRUE(session.Await<ProcessExited>(0, attempt));
    const auto lines = LinesOf(session.Log(0, attempt));
    ASSERT_GE(lines.size(), 2U);
    EXPECT_EQ(lines[0], "canary-4711") << "every attempt reads it from its beginning";
    EXPECT_EQ(lines[1], large);
    for (std::size_t i = 2; i < lines.size(); ++i) EXPECT_EQ(lines[i].find("canary"), std::string::npos);
  }
  StartProcess writes = session.Probe(1, {});
  writes.argv = {"/bin/sh", "-c", "echo x >/proc/self/fd/100 && echo written; echo done"};
  writes.passed = {{100, "canary-4711"}};
  session.Send(writes);
  ASSERT_TRUE(session.Await<ProcessExited>(1));
  for (const std::string& line : LinesOf(session.Log(1))) EXPECT_NE(line, "written");
  session.Send(session.Probe(2, {"fds"}));
  ASSERT_TRUE(session.Await<ProcessExited>(2));
  EXPECT_EQ(json::parse(LinesOf(session.Log(2)).at(0)).size(), 3U) << "nobody else finds them";
  ASSERT_TRUE(session.Finish());
}

TEST_P(Conformance, TellsAll256ExitCodesApart) {
  AgentSession session(GetParam());
  for (ProcessId code = 0; code < 256; ++code) session.Send(session.Probe(code, {"exit", std::to_string(code)}));
  ASSERT_TRUE(session.Until([&] { return session.All<ProcessExited>().size() == 256; }));
  for (const ProcessExited& exited : session.All<ProcessExited>()) {
    EXPECT_FALSE(exited.signalled);
    EXPECT_EQ(exited.code, static_cast<std::int32_t>(exited.process));
  }
  const auto empty = session.Finish();
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->started, 256U);
  EXPECT_EQ(empty->reaped, 256U);
  ExpectNothingLeft(session);
}

TEST_P(Conformance, TellsEverySignalThatEndsAProcessFromEveryExitCode) {
  AgentSession session(GetParam());
  // Those whose default action is to end the process: all but the ignored and the stopping ones (signal(7)).
  const std::set<int> harmless = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
  std::set<ProcessId> signals;
  for (int signal = 1; signal <= 64; ++signal) {
    if (!harmless.contains(signal)) signals.insert(static_cast<ProcessId>(signal));
  }
  for (const ProcessId signal : signals) session.Send(session.Probe(signal, {"die", std::to_string(signal)}));
  ASSERT_TRUE(session.Until([&] { return session.All<ProcessExited>().size() == signals.size(); }));
  for (const ProcessExited& exited : session.All<ProcessExited>()) {
    EXPECT_TRUE(exited.signalled) << exited.process;
    EXPECT_EQ(exited.code, static_cast<std::int32_t>(exited.process));
  }
  ASSERT_TRUE(session.Finish());
}

TEST_P(Conformance, ReportsWhatCannotBeStartedWithItsStage) {
  AgentSession session(GetParam());
  StartProcess missing = session.Probe(0, {});
  missing.argv = {"no-such-program"};
  session.Send(missing);
  StartProcess nowhere = session.Probe(1, {});
  nowhere.cwd = "/no/such/folder";
  session.Send(nowhere);
  StartProcess log = session.Probe(2, {});
  std::ofstream(log.log_path) << "somebody else's";
  session.Send(log);
  StartProcess linked = session.Probe(3, {});
  std::filesystem::create_symlink(session.folder() / "victim", linked.log_path);
  session.Send(linked);
  session.Send(session.Probe(4, {"exit", "0"}));
  ASSERT_TRUE(session.Await<ProcessExited>(4));

  std::map<ProcessId, std::pair<std::string, int>> failures;
  for (const SpawnFailed& failed : session.All<SpawnFailed>()) failures[failed.process] = {failed.stage, failed.error};
  EXPECT_EQ(failures,
            (std::map<ProcessId, std::pair<std::string, int>>{
                {0, {"exec", ENOENT}}, {1, {"directory", ENOENT}}, {2, {"log", EEXIST}}, {3, {"log", EEXIST}}}));
  EXPECT_FALSE(std::filesystem::exists(session.folder() / "victim"));
  const auto empty = session.Finish();
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->started, 1U);
}

TEST_P(Conformance, NeverTearsOrMisattributesLines) {
  AgentSession session(GetParam());
  constexpr int kLines = 2000;
  for (ProcessId process = 0; process < 8; ++process) {
    session.Send(session.Probe(process, {"flood", std::to_string(kLines), "90", "p" + std::to_string(process)}));
  }
  ASSERT_TRUE(session.Until([&] { return session.All<ProcessExited>().size() == 8; }));
  for (ProcessId process = 0; process < 8; ++process) {
    const auto lines = LinesOf(session.Log(process));
    ASSERT_EQ(lines.size(), static_cast<std::size_t>(kLines));
    for (int i = 0; i < kLines; ++i) {
      const std::string& line = lines[static_cast<std::size_t>(i)];
      ASSERT_EQ(line.size(), 90U);
      ASSERT_TRUE(line.starts_with("p" + std::to_string(process) + " " + std::to_string(i) + " ")) << line;
    }
  }
  ASSERT_TRUE(session.Finish());
}

TEST_P(Conformance, StopsWithTermThenGraceThenKill) {
  AgentSession session(GetParam());
  session.Send(session.Probe(0, {"on-term", "3", "print", "ready", "wait"}));
  session.Send(session.Probe(1, {"ignore-term", "child", "print", "ready", "wait"}));
  session.Send(session.Probe(2, {"on-term", "4", "print", "ready", "stop", "wait"}));
  for (const ProcessId process : {0U, 1U, 2U}) {
    ASSERT_TRUE(session.Await<ProcessStarted>(process));
    ASSERT_TRUE(AwaitLine(session.Log(process), "ready"));
  }
  // The grace of those that obey is never used up: they would otherwise outlast the deadline.
  session.Send(StopProcesses{{{0, 0}, {2, 0}}, SIGTERM, 3'600'000});
  session.Send(StopProcesses{{{1, 0}}, SIGTERM, 100});
  const auto obeyed = session.Await<ProcessExited>(0);
  const auto ignored = session.Await<ProcessExited>(1);
  const auto stopped = session.Await<ProcessExited>(2);
  ASSERT_TRUE(obeyed && ignored && stopped);
  EXPECT_EQ(std::pair(obeyed->signalled, obeyed->code), std::pair(false, 3));
  EXPECT_EQ(std::pair(ignored->signalled, ignored->code), std::pair(true, SIGKILL));
  EXPECT_EQ(std::pair(stopped->signalled, stopped->code), std::pair(false, 4)) << "a stopped process is continued";

  std::map<ProcessId, std::vector<int>> sent;
  for (const SignalSent& signal : session.All<SignalSent>()) {
    sent[signal.process].push_back(signal.signal);
    EXPECT_EQ(signal.error, 0);
  }
  EXPECT_EQ(sent, (std::map<ProcessId, std::vector<int>>{{0, {SIGTERM}}, {1, {SIGTERM, SIGKILL}}, {2, {SIGTERM}}}));
  ASSERT_TRUE(session.Finish());
  ExpectNothingLeft(session);
}

TEST_P(Conformance, OnlyShortensTheGraceWhenStoppedAgain) {
  AgentSession session(GetParam());
  session.Send(session.Probe(0, {"ignore-term", "print", "ready", "wait"}));
  ASSERT_TRUE(session.Await<ProcessStarted>(0));
  ASSERT_TRUE(AwaitLine(session.Log(0), "ready"));
  session.Send(StopProcesses{{{0, 0}}, SIGTERM, 100});
  session.Send(StopProcesses{{{0, 0}}, SIGTERM, 3'600'000});
  ASSERT_TRUE(session.Await<ProcessExited>(0)) << "the longer grace won";
  session.Send(session.Probe(1, {"ignore-term", "print", "ready", "wait"}));
  ASSERT_TRUE(session.Await<ProcessStarted>(1));
  ASSERT_TRUE(AwaitLine(session.Log(1), "ready"));
  session.Send(StopProcesses{{{1, 0}}, SIGTERM, 3'600'000});
  session.Send(StopProcesses{{{1, 0}}, SIGTERM, 0});
  ASSERT_TRUE(session.Await<ProcessExited>(1));
  ASSERT_TRUE(session.Finish());
}

TEST_P(Conformance, DoesNotSignalWhatHasEnded) {
  AgentSession session(GetParam());
  session.Send(session.Probe(0, {"exit", "0"}));
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  session.Send(StopProcesses{{{0, 0}, {5, 0}}, SIGTERM, 100});
  session.Send(session.Probe(0, {"exit", "1"}, 1));
  ASSERT_TRUE(session.Await<ProcessExited>(0, 1));
  EXPECT_TRUE(session.All<SignalSent>().empty());
  ASSERT_TRUE(session.Finish());
}

TEST_P(Conformance, EndsTheGroupOfAProcessThatHasEnded) {
  AgentSession session(GetParam());
  session.Send(session.Probe(0, {"child", "exit", "0"}));
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  const auto empty = session.Finish();
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->adopted, 1U);
  ExpectNothingLeft(session);
}

TEST_P(Conformance, LeavesNothingBehindWhenItFinishes) {
  AgentSession session(GetParam());
  for (ProcessId process = 0; process < 8; ++process) {
    session.Send(session.Probe(process, {"ignore-term", "child", "session", "daemon", "print", "ready", "wait"}));
    ASSERT_TRUE(session.Await<ProcessStarted>(process));
    ASSERT_TRUE(AwaitLine(session.Log(process), "ready"));
  }
  ASSERT_EQ(ProcessesWith(session.token()).size(), 32U);
  const auto empty = session.Finish();
  ASSERT_TRUE(empty);
  ExpectNothingLeft(session);
  EXPECT_EQ(empty->started, 8U);
  EXPECT_EQ(empty->reaped, 8U);
  EXPECT_EQ(empty->adopted, 32U);  // child, session, daemon and the one that orphaned the daemon, 8 times
  const std::set<std::string> by(empty->by.begin(), empty->by.end());
  EXPECT_TRUE(by.contains("process-group") && by.contains("subreaper"));
  EXPECT_TRUE(by.contains("pidfd") || by.contains("sigchld"));
  EXPECT_TRUE(by.contains("children") || by.contains("cgroup.kill"));
}

TEST_P(Conformance, ReapsOrphansWhileItRuns) {
  AgentSession session(GetParam());
  session.Send(session.Probe(0, {"orphans", "50", "print", "ready", "wait"}));
  const auto ready = session.Await<AgentReady>();
  ASSERT_TRUE(ready && session.Await<ProcessStarted>(0));
  ASSERT_TRUE(AwaitLine(session.Log(0), "ready"));
  // The orphans have no environment of their own any more; their parent knows them as its children. Each turn
  // starts another process, so that there is no waiting for a time.
  const std::string children =
      "/proc/" + std::to_string(ready->pid) + "/task/" + std::to_string(ready->pid) + "/children";
  ProcessId next = 1;
  const auto count = [&] {
    std::ifstream file(children);
    int found = 0;
    for (int pid = 0; file >> pid;) ++found;
    return found;
  };
  while (count() > 1 && next < 500) {
    session.Send(session.Probe(next, {"exit", "0"}));
    ASSERT_TRUE(session.Await<ProcessExited>(next));
    ++next;
  }
  EXPECT_EQ(count(), 1);
  const auto empty = session.Finish();
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->adopted, 50U);
}

TEST_P(Conformance, Runs200ProcessesAtOnce) {
  AgentSession session(GetParam());
  constexpr std::size_t kProcesses = 200;
  for (ProcessId process = 0; process < kProcesses; ++process) {
    session.Send(session.Probe(process, {"on-term", "0", "print", "ready", "wait"}));
  }
  ASSERT_TRUE(session.Until([&] { return session.All<ProcessStarted>().size() == kProcesses; }));
  StopProcesses stop{{}, SIGTERM, 3'600'000};
  for (ProcessId process = 0; process < kProcesses; ++process) {
    ASSERT_TRUE(AwaitLine(session.Log(process), "ready"));
    stop.processes.push_back({process, 0});
  }
  session.Send(stop);
  ASSERT_TRUE(session.Until([&] { return session.All<ProcessExited>().size() == kProcesses; }));
  for (const ProcessExited& exited : session.All<ProcessExited>()) EXPECT_EQ(exited.code, 0);
  ASSERT_TRUE(session.Finish());
  ExpectNothingLeft(session);
}

TEST_P(Conformance, CanBeInterruptedWhileItStarts) {
  for (const std::size_t after : {0U, 1U, 17U, 99U}) {
    AgentSession session(GetParam());
    for (ProcessId process = 0; process < 100; ++process) {
      session.Send(session.Probe(process, {"daemon", "ignore-term", "wait"}));
    }
    ASSERT_TRUE(session.Until([&] { return session.All<ProcessStarted>().size() >= after; }));
    const auto empty = session.Finish();
    ASSERT_TRUE(empty);
    EXPECT_EQ(empty->started, empty->reaped);
    ExpectNothingLeft(session);
  }
}

TEST_P(Conformance, LeavesNothingBehindWhenTheHeadGivesUp) {
  AgentSession session(GetParam());
  for (ProcessId process = 0; process < 8; ++process) {
    session.Send(session.Probe(process, {"daemon", "ignore-term", "print", "ready", "wait"}));
    ASSERT_TRUE(session.Await<ProcessStarted>(process));
    ASSERT_TRUE(AwaitLine(session.Log(process), "ready"));
  }
  session.CloseChannel();
  ExpectNothingLeft(session);
}

TEST_P(Conformance, HoldsPortsUntilTheStartThatReleasesThem) {
  AgentSession session(GetParam());
  session.Send(HoldPorts{{{"rpc", 0}, {"other", 0}}});
  const auto held = session.Await<PortsHeld>();
  ASSERT_TRUE(held);
  ASSERT_EQ(held->error, "");
  ASSERT_EQ(held->ports.size(), 2U);
  EXPECT_EQ(held->ports[0].name, "rpc");
  EXPECT_NE(held->ports[0].number, held->ports[1].number);
  EXPECT_FALSE(HoldPort(held->ports[0].number));
  EXPECT_FALSE(HoldPort(held->ports[1].number));

  StartProcess start = session.Probe(0, {"print", "ready", "wait"});
  start.release_ports = {"rpc"};
  session.Send(start);
  ASSERT_TRUE(session.Await<ProcessStarted>(0));
  EXPECT_TRUE(HoldPort(held->ports[0].number));
  EXPECT_FALSE(HoldPort(held->ports[1].number));
  ASSERT_TRUE(session.Finish());
  EXPECT_TRUE(HoldPort(held->ports[1].number));
}

TEST_P(Conformance, NamesAPortThatIsInUse) {
  const auto ours = HoldAnyPort({});
  ASSERT_TRUE(ours);
  AgentSession session(GetParam());
  session.Send(HoldPorts{{{"free", 0}, {"rpc", ours->number}}});
  const auto held = session.Await<PortsHeld>();
  ASSERT_TRUE(held);
  EXPECT_EQ(held->error, "rpc: port " + std::to_string(ours->number) + " is in use");
  EXPECT_TRUE(held->ports.empty());
  ASSERT_TRUE(session.Finish());
}

// --- first output ----------------------------------------------------------------------------------

TEST_P(Conformance, TellsOfTheFirstOutputOnce) {
  AgentSession session(GetParam());
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

TEST_P(Conformance, TellsWhenALogHoldsALine) {
  AgentSession session(GetParam());
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

TEST_P(Conformance, TellsWhenAFileIsThere) {
  AgentSession session(GetParam());
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

TEST_P(Conformance, TellsWhenAPortIsListenedOn) {
  AgentSession session(GetParam());
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

TEST_P(Conformance, TellsWhenACommandSucceeds) {
  AgentSession session(GetParam());
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

TEST_P(Conformance, TellsHowMuchIsWritten) {
  AgentSession session(GetParam());
  session.Send(session.Probe(0, {"print", "12345", "file", "written", "wait"}));
  session.Send(session.Probe(1, {"await", "written", "file", "seen", "wait"}));
  session.Send(ReadyWith(session.Probe(2, {"await", "seen", "exit", "0"}), {}));
  ASSERT_TRUE(session.Await<ProcessExited>(2));
  session.Send(AskOutput{});
  const auto seen = session.Await<OutputSeen>();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->processes, (std::vector<ProcessId>{0, 1}));
  EXPECT_EQ(seen->bytes, (std::vector<std::uint64_t>{6, 0}));
  ASSERT_TRUE(session.Finish());
}

TEST_P(Conformance, KeepsTheTimesOfALogBesideIt) {
  AgentSession session(GetParam());
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

TEST_P(Conformance, EndsWhatAnEarlierAttemptLeftBehindBeforeTheNextOne) {
  AgentSession session(GetParam());
  StartProcess first = session.Probe(0, {"daemon", "print", "left", "exit", "3"});
  first.env = {"MUSTER_PROCESS=run/worker.0.0", session.token().replace(0, 14, "TOKEN")};
  StartProcess other = session.Probe(1, {"daemon", "print", "left", "wait"});
  other.env = {"MUSTER_PROCESS=run/worker.1.0"};
  session.Send(other);
  session.Send(first);
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  ASSERT_TRUE(AwaitLine(session.Log(1), "left"));
  EXPECT_GE(ProcessesWith("MUSTER_PROCESS=run/worker.1.0").size(), 2U);
  StartProcess second = session.Probe(0, {"print", "again", "wait"}, 1);
  second.env = {"MUSTER_PROCESS=run/worker.0.1"};
  session.Send(second);
  ASSERT_TRUE(session.Await<ProcessStarted>(0, 1));
  EXPECT_TRUE(ProcessesWith("MUSTER_PROCESS=run/worker.0.0").empty());
  EXPECT_GE(ProcessesWith("MUSTER_PROCESS=run/worker.1.0").size(), 2U) << "another process's are its own";
  const auto empty = session.Finish();
  ASSERT_TRUE(empty);
  EXPECT_GE(empty->adopted, 2U);
  EXPECT_TRUE(ProcessesWith("MUSTER_PROCESS=run/worker.1.0").empty());
}

TEST_P(Conformance, ReportsAnAgentThatRefusesToGoOn) {
  AgentSession session(GetParam());
  session.Send(session.Probe(0, {"daemon", "print", "ready", "wait"}));
  ASSERT_TRUE(session.Await<ProcessStarted>(0));
  ASSERT_TRUE(AwaitLine(session.Log(0), "ready"));
  StartProcess bad = session.Probe(1, {});
  bad.environment = 99;
  session.Send(bad);
  const auto lost = session.Await<AgentLost>();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->why, "the agent exited with code 1: environment 99 is not defined");
  EXPECT_EQ(session.All<AgentFailed>().size(), 1U);
  ExpectNothingLeft(session);
}

}  // namespace
}  // namespace muster::testing
