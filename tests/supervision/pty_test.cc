// Tests `run --pty` on a terminal: how the process uses it, what muster does meanwhile, and the terminal's state after
// every exit.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

#include "spawn/leftovers/leftovers.h"
#include "supervision/job.h"
#include "support/on_terminal.h"

namespace muster::testing {
namespace {

class Pty : public ::testing::Test, public RunFolder {
 protected:
  // Processes of a killed head become this process's children, not those of a container's init.
  Pty() { EXPECT_TRUE(BecomeSubreaper()); }
  ~Pty() override {
    AwaitNothingLeft();
    EXPECT_TRUE(ProcessesWith(Folder()).empty());
    KillDescendants({});
  }

  // Returns the command line of a run with this plan function.
  Words Run(const std::string& body, const Words& more = {"--pty", "worker:0"}, const std::string& fields = "") const {
    WriteRecipe(body, fields);
    return RunWords(more);
  }

  // Waits until the journal records this process's exit.
  ::testing::AssertionResult AwaitExit(int process) const {
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
    ::inotify_add_watch(watch.get(), (RunDir() + "/journal.jsonl").c_str(), IN_MODIFY);
    for (;;) {
      for (const json& record : Records("process_exited")) {
        if (record["process"] == process) return ::testing::AssertionSuccess();
      }
      char events[4096];
      if (!AwaitReadable(watch.get()) || ::read(watch.get(), events, sizeof events) < 0) {
        return ::testing::AssertionFailure() << "process " << process << " does not end";
      }
    }
  }
};

std::size_t CountOf(char byte, const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), byte));
}

constexpr const char* kConversing = "job:workers { count = 1, command = { probe, 'converse' } }";

TEST_F(Pty, IsTheTerminalOfOneProcessOnly) {
  OnTerminal run(Run("job:workers { count = 2, command = { probe, 'terminal' } }"), Folder(), 31, 110);
  EXPECT_EQ(run.End(), 0);
  const json its = json::parse(Log("worker.0.0"));
  EXPECT_EQ(its, (json{{"ttys", {true, true, true}},
                       {"controlling", true},
                       {"leads", true},
                       {"foreground", true},
                       {"rows", 31},
                       {"columns", 110}}));
  EXPECT_EQ(json::parse(Log("worker.1.0"))["ttys"], (json{false, false, false}));
  EXPECT_NE(run.written.find(Log("worker.0.0")), std::string::npos) << "shown as it is written";
  EXPECT_EQ(run.written.find("worker.0 | "), std::string::npos) << "and not once more";
  EXPECT_TRUE(run.ModesAreAsFound());
  ASSERT_EQ(Records("pty_closed").size(), 1U);
  EXPECT_EQ(Records("pty_closed")[0]["bytes"], Log("worker.0.0").size());
  EXPECT_EQ(Records("pty_closed")[0]["unlogged"], 0);
}

TEST_F(Pty, PassesKeysCtrlCAndTheWindowSize) {
  OnTerminal run(Run(kConversing), Folder());
  ASSERT_TRUE(run.Shows("ready"));
  EXPECT_FALSE(run.ModesAreAsFound()) << "keys are the process's";
  run.Press("héllo\r");
  ASSERT_TRUE(run.Shows("heard héllo"));
  run.Press("\x03");
  ASSERT_TRUE(run.Shows("interrupted"));
  run.Resize(40, 120);
  ASSERT_TRUE(run.Shows("window 40 120"));
  run.Press("bye\r");
  EXPECT_EQ(run.End(), 0);
  EXPECT_TRUE(run.ModesAreAsFound());
  EXPECT_TRUE(Records("stop_requested").empty()) << "Ctrl-C was the process's";
  // The log has everything that was shown, including the echo of keys.
  EXPECT_NE(Log("worker.0.0").find("héllo\r\nheard héllo\r\n"), std::string::npos) << Log("worker.0.0");
  EXPECT_NE(run.written.find(Log("worker.0.0")), std::string::npos);
}

TEST_F(Pty, StopsTheRunByItsKeys) {
  OnTerminal run(Run("job:workers { count = 1, command = { probe, 'ignore-term', 'converse' },\n"
                     "  stop = { grace = '1h' } }"),
                 Folder());
  ASSERT_TRUE(run.Shows("ready"));
  run.Press("\x1d\x1d\x1d");
  ASSERT_TRUE(run.Shows("muster: stopping"));
  EXPECT_FALSE(run.ModesAreAsFound()) << "the process has its grace, and the terminal";
  run.Press("\x1d\x1d\x1d");
  EXPECT_EQ(run.End(), 130);
  EXPECT_TRUE(run.ModesAreAsFound());
  EXPECT_EQ(json::parse(ContentOf(RunDir() + "/report.json"))["outcome"], "stopped");
}

TEST_F(Pty, KeepsMusterAndTheOthersQuietUntilItsEnd) {
  OnTerminal run(
      Run("job:workers { count = 3, command = { probe, 'print', 'loud', 'exit', '0' }, each = function(process)\n"
          "  if process.index == 0 then process.command = { probe, 'converse' } end\n"
          "end }"),
      Folder());
  ASSERT_TRUE(run.Shows("ready"));
  ASSERT_TRUE(AwaitExit(1));
  ASSERT_TRUE(AwaitExit(2));
  const std::size_t before = run.written.find("ready");
  run.Press("still here\r");
  ASSERT_TRUE(run.Shows("heard still here"));
  EXPECT_EQ(run.written.substr(before), "ready\r\nstill here\r\nheard still here\r\n");
  run.Press("bye\r");
  EXPECT_EQ(run.End(), 0);
  EXPECT_NE(run.screen.Text().find("worker.1 | loud"), std::string::npos) << run.screen.Text();
  EXPECT_NE(run.screen.Text().find("worker.2 | loud"), std::string::npos) << run.screen.Text();
}

// The other process exceeds the limits of its time, the job's time and its readiness: they are suspended.
TEST_F(Pty, SuspendsDeadlines) {
  OnTerminal run(Run("job:workers { count = 2, limits = { time = '1s', silent = '1s' },\n"
                     "  ready = { line = 'never', timeout = '1s' },\n"
                     "  command = { 'sleep', '1.5' }, each = function(process)\n"
                     "  if process.index == 0 then process.command = { probe, 'converse' } end\n"
                     "end }",
                     {"--pty", "worker:0"}, "limits = { time = '1s', start = '1s', silent = '1s' },"),
                 Folder());
  ASSERT_TRUE(run.Shows("ready"));
  ASSERT_TRUE(AwaitExit(1));
  run.Press("bye\r");
  EXPECT_EQ(run.End(), 0);
  EXPECT_TRUE(Records("limit_passed").empty());
}

TEST_F(Pty, SupportsADebugger) {
  if (::access("/usr/bin/gdb", X_OK) != 0) GTEST_SKIP() << "no gdb here";
  OnTerminal run(
      Run(kConversing, {"--pty", "worker:0", "--wrap", "worker:0=gdb -q -nx -iex 'set debuginfod enabled off' --args"}),
      Folder());
  ASSERT_TRUE(run.Shows("(gdb)"));
  run.Press("print 6*7\r");
  ASSERT_TRUE(run.Shows("$1 = 42"));
  run.Press("run\r");
  if (!run.Awaits([&] { return run.screen.Text().find("\nready") != std::string::npos; })) {
    if (run.written.find("ptrace") == std::string::npos) FAIL() << run.screen.Text();
    run.Press("\x1d\x1d\x1d");
    run.End();
    GTEST_SKIP() << "the kernel lets nobody trace here";
  }
  // The program is in the foreground; gdb sees the signal that stops it.
  run.Press("\x03");
  ASSERT_TRUE(run.Shows("SIGINT"));
  run.Press("kill\r");
  ASSERT_TRUE(run.Shows("(y or n)"));
  run.Press("y\r");
  ASSERT_TRUE(run.Shows("killed]"));
  run.Press("quit\r");
  EXPECT_EQ(run.End(), 0);
  EXPECT_TRUE(run.ModesAreAsFound());
}

// Writes more than all buffers hold while the terminal accepts nothing for a while: the process waits, muster does not.
TEST_F(Pty, LosesNoByte) {
  constexpr std::size_t kBytes = 2U << 20;
  OnTerminal run(Run("job:workers { count = 2, command = { probe, 'exit', '0' }, each = function(process)\n"
                     "  if process.index == 0 then process.command = { probe, 'fill', '" +
                     std::to_string(kBytes) +
                     "', 'await', here .. '/go' } end\n"
                     "end }"),
                 Folder());
  ASSERT_TRUE(run.Shows("xxx"));
  ASSERT_TRUE(AwaitExit(1)) << "nobody reads the terminal, and muster goes on";
  EXPECT_NE(Muster({"top", RunDir(), "--once"}).out.find("worker.0"), std::string::npos);
  ASSERT_TRUE(run.Awaits([&] { return CountOf('x', run.written) >= kBytes; }));
  std::ofstream(Folder() + "/go") << "go";
  EXPECT_EQ(run.End(), 0);
  EXPECT_EQ(Log("worker.0.0"), std::string(kBytes, 'x'));
  EXPECT_NE(run.written.find(Log("worker.0.0")), std::string::npos) << "in one piece";
}

TEST_F(Pty, BuffersKeysUntilTheProcessReadsThem) {
  std::string typed;
  for (int line = 0; line < 400; ++line) typed += std::to_string(line) + std::string(100, '-') + "\r";
  OnTerminal run(
      Run("job:workers { count = 1, command = { probe, 'print', 'waits', 'await', here .. '/go', 'converse' } }"),
      Folder());
  ASSERT_TRUE(run.Shows("waits"));
  // More than the process's terminal buffers.
  run.Press(typed);
  std::ofstream(Folder() + "/go") << "go";
  ASSERT_TRUE(run.Awaits([&] { return run.written.find("heard 399-") != std::string::npos; }));
  run.Press("bye\r");
  EXPECT_EQ(run.End(), 0);
  for (int line = 0; line < 400; ++line) {
    EXPECT_NE(Log("worker.0.0").find("heard " + std::to_string(line) + "-"), std::string::npos) << line;
  }
}

TEST_F(Pty, HasAnOrdinaryReportIfItsProcessIsKilled) {
  OnTerminal run(Run("job:workers { count = 2, command = { probe, 'wait' }, each = function(process)\n"
                     "  if process.index == 0 then process.command = { probe, 'print', 'last words', 'die', '9' } end\n"
                     "end }"),
                 Folder());
  EXPECT_EQ(run.End(), 1);
  EXPECT_TRUE(run.ModesAreAsFound());
  EXPECT_NE(run.screen.Text().find("worker.0 was killed by SIGKILL"), std::string::npos) << run.screen.Text();
  EXPECT_NE(run.screen.Text().find("last words"), std::string::npos) << run.screen.Text();
  EXPECT_EQ(Log("worker.0.0"), "last words\r\n");
}

TEST_F(Pty, IsNewForTheNextAttempt) {
  OnTerminal run(Run("job:workers { count = 1, restart = { max = 1 }, command = { probe, 'converse', 'exit', '1' } }"),
                 Folder());
  ASSERT_TRUE(run.Shows("ready"));
  run.Press("one\r");
  ASSERT_TRUE(run.Shows("heard one"));
  run.Press("bye\r");
  ASSERT_TRUE(run.Awaits([&] { return run.written.find("ready", run.written.find("bye\r\n")) != std::string::npos; }));
  run.Press("two\r");
  ASSERT_TRUE(run.Shows("heard two"));
  run.Press("bye\r");
  EXPECT_EQ(run.End(), 1);
  EXPECT_TRUE(run.ModesAreAsFound());
  EXPECT_EQ(Records("pty_opened").size(), 2U);
  EXPECT_NE(Log("worker.0.0").find("heard one"), std::string::npos);
  EXPECT_NE(Log("worker.0.1").find("heard two"), std::string::npos);
}

TEST_F(Pty, RestoresTheTerminalOnASignal) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
    OnTerminal run(Run(kConversing), Folder());
    ASSERT_TRUE(run.Shows("ready"));
    run.Signal(signal);
    EXPECT_EQ(run.End(), 128 + signal);
    EXPECT_TRUE(run.ModesAreAsFound()) << signal;
    std::filesystem::remove_all(RunDir());
  }
  OnTerminal run(Run(kConversing), Folder());
  ASSERT_TRUE(run.Shows("ready"));
  run.Signal(SIGQUIT);
  EXPECT_EQ(run.End(), 128 + SIGQUIT);
  EXPECT_TRUE(run.ModesAreAsFound());
}

TEST_F(Pty, KeepsTheGraceOfAStop) {
  OnTerminal run(
      Run("job:workers { count = 1, command = { probe, 'ignore-term', 'converse' }, stop = { grace = '50ms' } }"),
      Folder());
  ASSERT_TRUE(run.Shows("ready"));
  EXPECT_EQ(Muster({"stop", RunDir(), "--wait"}).exit_code, 0);
  EXPECT_EQ(run.End(), 143);
  EXPECT_TRUE(run.ModesAreAsFound());
}

TEST_F(Pty, CanBeSuspendedToTheShell) {
  const Words words = Run(kConversing);
  Words shell_words = {"/bin/sh", "-c", "set -m; \"$@\"; echo asleep; read word; echo \"got $word\"; fg; echo over $?",
                       "sh"};
  shell_words.insert(shell_words.end(), words.begin(), words.end());
  OnTerminal shell(shell_words, Folder());
  ASSERT_TRUE(shell.Shows("ready"));
  const json began = Records("run_began").at(0);
  ASSERT_EQ(::kill(began["pid"].get<pid_t>(), SIGTSTP), 0);
  ASSERT_TRUE(shell.Shows("asleep"));
  EXPECT_TRUE(shell.ModesAreAsFound());
  shell.Resize(50, 70);
  shell.Press("line\n");
  ASSERT_TRUE(shell.Shows("got line"));
  ASSERT_TRUE(shell.Shows("window 50 70"));
  shell.Press("again\r");
  ASSERT_TRUE(shell.Shows("heard again"));
  shell.Press("bye\r");
  EXPECT_TRUE(shell.Shows("over 0"));
  EXPECT_EQ(shell.End(), 0);
}

TEST_F(Pty, LeavesNothingBehindIfHeadOrAgentIsKilled) {
  for (const char* whom : {"run_began", "agent_connected"}) {
    OnTerminal run(Run("job:workers { count = 1, command = { probe, 'daemon', 'converse' } }"), Folder());
    ASSERT_TRUE(run.Shows("ready"));
    ASSERT_EQ(::kill(Records(whom).at(0)["pid"].get<pid_t>(), SIGKILL), 0);
    const int exit_code = run.End();
    EXPECT_EQ(exit_code, std::string(whom) == "run_began" ? 128 + SIGKILL : 3);
    EXPECT_TRUE(run.ModesAreAsFound() || exit_code != 3);
    AwaitNothingLeft();
    EXPECT_TRUE(ProcessesWith(Folder()).empty()) << whom;
    std::filesystem::remove_all(RunDir());
  }
}

TEST_F(Pty, IsRefusedWhereImpossible) {
  const std::string two = "job:workers { count = 2, command = { probe, 'exit', '0' } }";
  const auto refused = [&](const Words& more, const std::string& why) {
    OnTerminal run(Run(two, more), Folder(), 24, 200);
    EXPECT_EQ(run.End(), 2);
    EXPECT_NE(run.screen.Text().find(why), std::string::npos) << run.screen.Text();
    EXPECT_FALSE(std::filesystem::exists(RunDir()));
  };
  refused({"--pty", "worker"}, "--pty \"worker\": it names 2 processes, and there is one terminal");
  refused({"--pty", "worker:2"}, "--pty \"worker:2\": the plan has no such process");
  refused({"--pty", "worker:x"}, "--pty \"worker:x\": what follows the colon is not a rank");
  refused({"--pty", "wroker:0"}, "did you mean \"worker\"?");
  refused({"--pty", "worker:0", "--detach"}, "a run in the background has no terminal");
  const CommandResult piped = RunCommand({Run(two), {"PATH=/usr/bin:/bin"}, Folder()});
  EXPECT_EQ(piped.exit_code, 2);
  EXPECT_NE(piped.err.find("--pty \"worker:0\": stdin is not a terminal"), std::string::npos) << piped.err;
}

}  // namespace
}  // namespace muster::testing
