// Requirements for every transport: processes start as ordered, end when stopped, and none is left.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "conformance/conformance.h"

namespace muster::testing {
namespace {

using nlohmann::json;

INSTANTIATE_TEST_SUITE_P(Transports, Conformance, ::testing::ValuesIn(WithPods(TransportsWithSubAgents())),
                         [](const auto& entry) { return std::string(entry.param.name); });

TEST_P(Conformance, ReportsWhatTheAgentIs) {
  AgentSession session(GetParam(), place_);
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

TEST_P(Conformance, DeliversEnvironmentAndArgumentsByteForByte) {
  AgentSession session(GetParam(), place_);
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
  AgentSession session(GetParam(), place_);
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
  AgentSession session(GetParam(), place_);
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

TEST_P(Conformance, DistinguishesAll256ExitCodes) {
  AgentSession session(GetParam(), place_);
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

TEST_P(Conformance, DistinguishesEverySignalThatEndsAProcessFromEveryExitCode) {
  AgentSession session(GetParam(), place_);
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
  AgentSession session(GetParam(), place_);
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
  AgentSession session(GetParam(), place_);
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
  AgentSession session(GetParam(), place_);
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
  AgentSession session(GetParam(), place_);
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
  AgentSession session(GetParam(), place_);
  session.Send(session.Probe(0, {"exit", "0"}));
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  session.Send(StopProcesses{{{0, 0}, {5, 0}}, SIGTERM, 100});
  session.Send(session.Probe(0, {"exit", "1"}, 1));
  ASSERT_TRUE(session.Await<ProcessExited>(0, 1));
  EXPECT_TRUE(session.All<SignalSent>().empty());
  ASSERT_TRUE(session.Finish());
}

TEST_P(Conformance, EndsTheGroupOfAProcessThatHasEnded) {
  AgentSession session(GetParam(), place_);
  session.Send(session.Probe(0, {"child", "exit", "0"}));
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  const auto empty = session.Finish();
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->adopted, 1U);
  ExpectNothingLeft(session);
}

TEST_P(Conformance, LeavesNothingBehindWhenItFinishes) {
  AgentSession session(GetParam(), place_);
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

TEST_P(Conformance, ReportsThatAHostIsClearBeforeTheAgentsCommandHasEnded) {
  const bool commanded = GetParam().name == "dial" || GetParam().name == "slurm";
  const TempDir folder(place_.parent);
  if (commanded) {
    const std::string agent = folder / "agent";
    std::ofstream(agent) << "#!/bin/sh\n" + AgentPath() + " \"$@\"\ncode=$?\nwhile [ ! -e " + folder.path() +
                                "/go ]; do sleep 0.02; done\nexit $code\n";
    ASSERT_EQ(::chmod(agent.c_str(), 0755), 0);
    place_.settings.agent_program = agent;
  }
  AgentSession session(GetParam(), place_);
  ASSERT_TRUE(session.Await<AgentReady>());
  session.Send(Finish{});
  if (commanded) {
    ASSERT_TRUE(session.Await<HostCleared>());
    EXPECT_TRUE(session.All<AgentEmpty>().empty());
    std::ofstream(folder / "go") << "\n";
  }
  const auto empty = session.Await<AgentEmpty>();
  ASSERT_TRUE(empty);
  for (const HostCleared& cleared : session.All<HostCleared>()) EXPECT_EQ(cleared.empty, *empty);
  ExpectNothingLeft(session);
}

TEST_P(Conformance, ReapsOrphansWhileItRuns) {
  AgentSession session(GetParam(), place_);
  session.Send(session.Probe(0, {"orphans", "50", "print", "ready", "wait"}));
  const auto ready = session.Await<AgentReady>();
  ASSERT_TRUE(ready && session.Await<ProcessStarted>(0));
  ASSERT_TRUE(AwaitLine(session.Log(0), "ready"));
  // The orphans have no environment of their own any more; their parent knows them as its children. Each turn
  // starts another process, so that there is no waiting for a time.
  const std::string children =
      Proc() + "/" + std::to_string(ready->pid) + "/task/" + std::to_string(ready->pid) + "/children";
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
  AgentSession session(GetParam(), place_);
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
    AgentSession session(GetParam(), place_);
    for (ProcessId process = 0; process < 100; ++process) {
      session.Send(session.Probe(process, {"daemon", "ignore-term", "wait"}));
    }
    ASSERT_TRUE(session.Until([&] { return session.All<ProcessStarted>().size() >= after; }));
    session.Send(Finish{});
    // An agent that there was no way to yet is not waited for.
    ASSERT_TRUE(
        session.Until([&] { return !session.All<AgentEmpty>().empty() || !session.All<AgentUnreachable>().empty(); }));
    for (const AgentEmpty& empty : session.All<AgentEmpty>()) EXPECT_EQ(empty.started, empty.reaped);
    EXPECT_TRUE(after == 0 || session.All<AgentEmpty>().size() == 1U);
    ExpectNothingLeft(session);
  }
}

TEST_P(Conformance, LeavesNothingBehindWhenTheHeadGivesUp) {
  AgentSession session(GetParam(), place_);
  for (ProcessId process = 0; process < 8; ++process) {
    session.Send(session.Probe(process, {"daemon", "ignore-term", "print", "ready", "wait"}));
    ASSERT_TRUE(session.Await<ProcessStarted>(process));
    ASSERT_TRUE(AwaitLine(session.Log(process), "ready"));
  }
  session.CloseChannel();
  ExpectNothingLeft(session);
}

TEST_P(Conformance, EndsWhatAnEarlierAttemptLeftBehindBeforeTheNextOne) {
  AgentSession session(GetParam(), place_);
  // Of this test alone: others run beside it.
  const std::string process = "MUSTER_PROCESS=run" + std::to_string(::getpid()) + "/worker.";
  StartProcess first = session.Probe(0, {"daemon", "print", "left", "exit", "3"});
  first.env = {process + "0.0", session.token().replace(0, 14, "TOKEN")};
  StartProcess other = session.Probe(1, {"daemon", "print", "left", "wait"});
  other.env = {process + "1.0"};
  session.Send(other);
  session.Send(first);
  ASSERT_TRUE(session.Await<ProcessExited>(0));
  ASSERT_TRUE(AwaitLine(session.Log(1), "left"));
  EXPECT_GE(ProcessesWith(process + "1.0").size(), 2U);
  StartProcess second = session.Probe(0, {"print", "again", "wait"}, 1);
  second.env = {process + "0.1"};
  session.Send(second);
  ASSERT_TRUE(session.Await<ProcessStarted>(0, 1));
  EXPECT_TRUE(ProcessesWith(process + "0.0").empty());
  EXPECT_GE(ProcessesWith(process + "1.0").size(), 2U) << "another process's are its own";
  const auto empty = session.Finish();
  ASSERT_TRUE(empty);
  EXPECT_GE(empty->adopted, 2U);
  EXPECT_TRUE(ProcessesWith(process + "1.0").empty());
}

TEST_P(Conformance, ReportsAnAgentThatRefusesToGoOn) {
  AgentSession session(GetParam(), place_);
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
