// Tests muster on a terminal: the keys of `top`, and the terminal's state after every exit.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "support/on_terminal.h"
#include "support/run_folder.h"

namespace muster::testing {
namespace {

// A run in the background; it ends with the test.
class TopOnATerminal : public ::testing::Test, public RunFolder {
 protected:
  ~TopOnATerminal() override {
    Muster({"stop", RunDir(), "--now", "--wait"});
    AwaitNothingLeft();
    EXPECT_TRUE(ProcessesWith(Folder()).empty());
  }

  // Returns once the first worker has printed its lines.
  void Detach(const std::string& body) {
    WriteRecipe(body);
    const CommandResult begun = Muster({"run", "recipe.lua", "--detach", "--run-dir", RunDir()});
    ASSERT_EQ(begun.exit_code, 0) << begun.err;
  }

  Words TopWords() const { return {MusterProgram(), "top", RunDir()}; }
};

constexpr const char* kThree =
    "job:role 'server' { count = 1, done = 'never', command = { probe, 'print', 'serving', 'wait' } }\n"
    "job:workers { count = 2, command = { probe, 'flood', '200', '20', 'line', 'print', '\\27[31mred', 'wait' } }";

TEST_F(TopOnATerminal, ShowsARunAndObeysKeys) {
  Detach(kThree);
  OnTerminal top(TopWords(), Folder());
  EXPECT_TRUE(top.Shows("worker.1"));
  EXPECT_TRUE(top.Shows("\\x1b[31mred"));
  EXPECT_TRUE(top.Shows("serving"));
  EXPECT_TRUE(top.ShowsNoMore("starting"));
  EXPECT_TRUE(top.Shows("3 of 3"));
  EXPECT_FALSE(top.ModesAreAsFound()) << "keys come one by one";

  top.Press("r");
  EXPECT_TRUE(top.Shows("1 of 3  role server"));
  EXPECT_TRUE(top.ShowsNoMore("worker.1"));
  top.Press("\x1b");
  EXPECT_TRUE(top.Shows("3 of 3"));
  top.Press("o");
  EXPECT_TRUE(top.Shows("0 of 3  outliers only"));
  top.Press("o/RED\r");
  EXPECT_TRUE(top.Shows("2 of 3  /RED"));

  top.Press("\x1b[B\r");
  EXPECT_TRUE(top.Shows("worker.1 rank 1  running  log at its end"));
  EXPECT_TRUE(top.Shows("line 199"));
  top.Press("g");
  EXPECT_TRUE(top.Shows("line 0"));
  EXPECT_TRUE(top.ShowsNoMore("line 199"));
  top.Press("q");
  EXPECT_TRUE(top.Shows("2 of 3  /RED"));
  top.Press("q");
  EXPECT_EQ(top.End(), 0);
  EXPECT_TRUE(top.ModesAreAsFound());
  EXPECT_TRUE(top.written.ends_with("\x1b[?25h\x1b[?1049l")) << "the cursor and the user's screen are back";
}

TEST_F(TopOnATerminal, StaysWhenTheRunEndsAndShowsTheOutcome) {
  Detach(kThree);
  OnTerminal top(TopWords(), Folder());
  ASSERT_TRUE(top.Shows("3 of 3"));
  EXPECT_EQ(Muster({"stop", RunDir(), "--wait"}).exit_code, 0);
  EXPECT_TRUE(top.Shows("stopped"));
  EXPECT_TRUE(top.Shows("SIGTERM"));
  top.Press("q");
  EXPECT_EQ(top.End(), 0);
  EXPECT_TRUE(top.ModesAreAsFound());
}

TEST_F(TopOnATerminal, FitsTheWindow) {
  Detach(kThree);
  OnTerminal top(TopWords(), Folder(), 24, 100);
  ASSERT_TRUE(top.Awaits([&] { return top.screen.Line(23).find("q quit") != std::string::npos; }));
  top.Resize(12, 60);
  EXPECT_TRUE(top.Awaits([&] { return top.screen.Line(11).find("q quit") != std::string::npos; }));
  EXPECT_TRUE(top.Awaits([&] { return top.screen.Line(23).empty(); }));
  top.Press("q");
  EXPECT_EQ(top.End(), 0);
}

TEST_F(TopOnATerminal, RestoresTheTerminalWhenKilledByASignal) {
  Detach(kThree);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    OnTerminal top(TopWords(), Folder());
    ASSERT_TRUE(top.Shows("3 of 3"));
    if (signal == SIGINT) {
      top.Press("\x03");
    } else {
      top.Signal(signal);
    }
    EXPECT_EQ(top.End(), 128 + signal);
    EXPECT_TRUE(top.ModesAreAsFound()) << signal;
    EXPECT_TRUE(top.written.ends_with("\x1b[?1049l")) << signal;
  }
}

TEST_F(TopOnATerminal, CanBeSuspendedAndContinued) {
  Detach(kThree);
  OnTerminal shell(
      {"/bin/sh", "-c", "set -m; \"$0\" top \"$1\"; echo asleep; read word; echo \"got $word\"; fg; echo over $?",
       MusterProgram(), RunDir()},
      Folder());
  ASSERT_TRUE(shell.Shows("3 of 3"));
  shell.Press("\x1a");
  ASSERT_TRUE(shell.Shows("asleep"));
  EXPECT_TRUE(shell.ModesAreAsFound());
  shell.Press("line\n");
  // muster's output replaces the shell's.
  ASSERT_TRUE(shell.Awaits([&] { return shell.written.find("got line") != std::string::npos; }));
  EXPECT_TRUE(
      shell.Awaits([&] { return shell.written.find("3 of 3", shell.written.find("got line")) != std::string::npos; }));
  shell.Press("q");
  EXPECT_TRUE(shell.Shows("over 0"));
  EXPECT_EQ(shell.End(), 0);
}

TEST_F(TopOnATerminal, PrintsATableOrJsonWithoutATerminal) {
  Detach(kThree);
  OnTerminal top(TopWords(), Folder());  // until muster knows the processes
  ASSERT_TRUE(top.Shows("red"));
  ASSERT_TRUE(top.ShowsNoMore("starting"));
  top.Press("q");
  EXPECT_EQ(top.End(), 0);
  const CommandResult table = Muster({"top", RunDir(), "--role", "worker"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("\nPROCESS"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("\nworker.1     1  running"), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find("\nserver.0"), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find('\x1b'), std::string::npos);
  const CommandResult json = Muster({"top", RunDir(), "--json"});
  EXPECT_NE(json.out.find("\"state\":\"running\""), std::string::npos) << json.out;
  EXPECT_NE(json.out.find("\"live\":true"), std::string::npos) << json.out;
  const CommandResult unknown = Muster({"top", RunDir(), "--once", "--role", "wroker"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean \"worker\"?"), std::string::npos) << unknown.err;
  EXPECT_EQ(Muster({"stop", RunDir(), "--wait"}).exit_code, 0);
  const CommandResult over = Muster({"top", RunDir(), "--once"});
  EXPECT_EQ(over.exit_code, 0) << over.err;
  EXPECT_NE(over.out.find("  stopped  "), std::string::npos) << over.out;
  const CommandResult none = Muster({"top"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("no active run"), std::string::npos) << none.err;
}

// --- rows of a waiting muster run ---

class RunOnATerminal : public TopOnATerminal {
 protected:
  Words RunOf(const std::string& body, const Words& more = {}) const {
    WriteRecipe(body);
    return RunWords(more);
  }
};

constexpr const char* kMany =
    "job:role 'server' { count = 1, done = 'never', command = { probe, 'wait' } }\n"
    "job:workers { count = 10, command = { probe, 'print', 'said', 'wait' } }";

TEST_F(RunOnATerminal, HasARowForEachRoleUntilTheEnd) {
  OnTerminal run(RunOf(kMany), Folder());
  EXPECT_TRUE(run.Shows("\nserver  1 running  "));
  EXPECT_TRUE(run.Shows("\nworker  10 running  "));
  EXPECT_TRUE(run.Shows("worker.0: said"));
  // The process is running, and the role keeps its one row.
  EXPECT_TRUE(run.Awaits([&] {
    const std::size_t first = run.written.find("worker  10 running");
    return first != std::string::npos && run.written.find("worker  10 running", first + 1) != std::string::npos;
  }));
  const std::string text = run.screen.Text();
  EXPECT_EQ(text.find("worker  10 running"), text.rfind("worker  10 running")) << text;
  run.Press("\x03");
  EXPECT_EQ(run.End(), 130);
  const std::string left = run.screen.Text();
  EXPECT_EQ(left.find("server  1 running"), std::string::npos) << left;
  EXPECT_EQ(left.find("worker  10 running"), std::string::npos) << left;
  EXPECT_NE(left.find("muster: stopping"), std::string::npos) << left;
  EXPECT_NE(left.find("stopped"), std::string::npos) << left;
}

TEST_F(RunOnATerminal, LetsOutputScrollAboveTheRows) {
  OnTerminal run(RunOf(kMany, {"--tee", "worker:2"}), Folder());
  EXPECT_TRUE(run.Shows("worker  10 running"));
  EXPECT_TRUE(run.Shows("worker.2 | said"));
  const std::string text = run.screen.Text();
  EXPECT_LT(text.find("worker.2 | said"), text.find("worker  10 running")) << text;
  run.Press("\x03");
  EXPECT_EQ(run.End(), 130);
  EXPECT_NE(run.screen.Text().find("worker.2 | said"), std::string::npos) << "what was said stays";
}

TEST_F(RunOnATerminal, HasNoRowsIfDisabled) {
  OnTerminal run(
      RunOf("job:workers { count = 10, command = { probe, 'await', '" + Folder() + "/go' } }", {"--no-progress"}),
      Folder());
  EXPECT_TRUE(run.Shows("worker: 10 started"));
  Muster({"stop", RunDir()});
  EXPECT_EQ(run.End(), 143);
  EXPECT_EQ(run.written.find("worker  10 running"), std::string::npos) << run.written;
  EXPECT_EQ(run.written.find("\x1b[J"), std::string::npos) << run.written;
}

// A suspended terminal (Ctrl-S) accepts no output; the head must continue all the same.
TEST_F(RunOnATerminal, ContinuesWhileTheTerminalIsSuspended) {
  OnTerminal run(RunOf("job:workers { count = 10, command = { probe, 'await', '" + Folder() + "/go' } }"), Folder());
  EXPECT_TRUE(run.Shows("worker  10 running"));
  run.Press("\x13");
  std::ofstream(Folder() + "/go") << "go";
  const CommandResult watched = Muster({"watch", RunDir()});
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
  run.Press("\x11");
  EXPECT_EQ(run.End(), 0);
  EXPECT_NE(run.screen.Text().find("10 succeeded"), std::string::npos) << run.screen.Text();
}

}  // namespace
}  // namespace muster::testing
