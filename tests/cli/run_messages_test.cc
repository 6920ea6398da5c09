// Tests what is printed for runs that fail by a user's mistake: each cause is named once, with what to write, and fits
// the terminal.
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/values/utf8_text.h"
#include "cli/muster_command.h"
#include "support/on_terminal.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A folder in which muster is called.
class RunMessages : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((fs::path(folder_.path()) / name).parent_path());
    std::ofstream(fs::path(folder_.path()) / name) << text;
  }
  void Recipe(const std::string& body, const std::string& fields = {}) const {
    Write("t.lua", "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", " + fields +
                       "\nplan = function(p, job)\n" + body + "\nend }\n");
  }
  CommandResult Call(std::vector<std::string> words, const std::string& below = {},
                     const std::vector<std::string>& variables = {}) const {
    Command command;
    command.argv = {MusterProgram()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.env = {"PATH=/usr/bin:/bin", "HOME=" + folder_.path()};
    command.env.insert(command.env.end(), variables.begin(), variables.end());
    command.cwd = (fs::path(folder_.path()) / below).string();
    return RunCommand(command);
  }

  TempDir folder_;
};

// Prevents: PATH, or the whole cause, once for each process on each level.
TEST_F(RunMessages, NameAMissingProgramOnce) {
  Recipe("job:workers { count = 3, command = { 'pyhton3', 'train.py' } }");
  const CommandResult run = Call({"run", "t.lua"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(Count(run.err, "is not on PATH"), 1U) << run.err;
  EXPECT_EQ(Count(run.err, "did you mean \"python3\"?"), 1U) << run.err;
  EXPECT_FALSE(Has(run.err, "/usr/bin:/bin")) << run.err;
  const CommandResult report = Call({"report"});
  EXPECT_EQ(Count(report.out, "is not on PATH"), 1U) << report.out;
}

// Prevents: a third of the lines about a failure are times of muster itself.
TEST_F(RunMessages, OfFailuresHaveNoTimesOfMusterUnlessAskedFor) {
  Recipe("job:workers { count = 2, command = { 'false' } }");
  const CommandResult run = Call({"run", "t.lua"});
  EXPECT_TRUE(Has(run.err, "t failed: worker.")) << run.err;
  EXPECT_TRUE(Has(run.err, "  worker    1 failed first, 1 ended because of it\n")) << run.err;
  const std::string report = Call({"report"}).out;
  for (const char* part : {"  start-up ", "  time ", "  receipt "}) {
    EXPECT_FALSE(Has(run.err, part)) << part << run.err;
    EXPECT_TRUE(Has(report, part)) << part << report;
  }
  EXPECT_TRUE(Has(Call({"run", "-v", "t.lua"}).err, "  start-up "));
}

TEST_F(RunMessages, OfCommandsThatAreWrittenAsOneWordShowTheWords) {
  Recipe("job:workers { count = 1, command = { 'python3 train.py' } }");
  EXPECT_TRUE(Has(Call({"check", "t.lua"}).err, "hint: each word stands by itself: { \"python3\", \"train.py\" }\n"));
  EXPECT_TRUE(
      Has(Call({"run", "t.lua"}).err, "\"python3 train.py\" is not on PATH (each word of a command stands by itself)"));
  const std::string script = Call({"run", "@torch", "--", "train.py"}).err;
  EXPECT_TRUE(Has(script, "\"train.py\" is not on PATH (did you mean \"python3\", \"train.py\"?)")) << script;
  EXPECT_TRUE(Has(Call({"run", "@torch", "train.py", "--lr=1"}).err, "there is no option --lr=1"));
  EXPECT_TRUE(Has(Call({"run", "@torch", "train.py"}).err,
                  "hint: words of the program stand behind --: muster run @torch -- python3 train.py\n"));
}

// Prevents: Python's message about a path that the user did not write.
TEST_F(RunMessages, OfScriptsBesideTheRecipeNameTheWorkingFolder) {
  Recipe("job:workers { count = 1, command = { 'python3', 'train.py' } }");
  Write("train.py", "");
  fs::create_directory(folder_ / "below");
  const std::string check = Call({"check", "../t.lua"}, "below").err;
  EXPECT_TRUE(Has(check, "role worker: the script \"train.py\" is not in ")) << check;
  EXPECT_TRUE(Has(check, "hint: it is beside the recipe: muster.here \"train.py\"\n")) << check;
  EXPECT_EQ(Call({"check", "t.lua"}).err, "");
  const std::string run = Call({"run", "../t.lua"}, "below").err;
  EXPECT_TRUE(Has(run,
                  "  hint      processes run in the folder that muster is called from; a file beside the recipe is "
                  "muster.here \"train.py\"\n"))
      << run;
}

TEST_F(RunMessages, OfLongWordsNameTheLimitOnce) {
  Recipe("job:workers { count = 1, command = { 'echo', ('x'):rep(300006) } }");
  const CommandResult run = Call({"run", "t.lua"});
  EXPECT_EQ(Count(run.err, "has 300007 bytes, and Linux takes 128 KiB: write long texts to a file (job:file)"), 1U)
      << run.err;
}

TEST_F(RunMessages, OfFoldersThatCannotBeMadeNameAnotherPlace) {
  Recipe("job:workers { count = 1, command = { 'true' } }");
  const CommandResult missing = Call({"run", "t.lua", "--run-dir", "a/b/c"});
  EXPECT_EQ(missing.err, "muster: error: cannot make \"a/b/c\": there is no folder \"a/b\"\nhint: mkdir -p a/b\n");
  const CommandResult refused = Call({"run", "t.lua"}, {}, {"MUSTER_HOME=/sys"});  // nobody can write there
  EXPECT_TRUE(Has(refused.err, "cannot make \"/sys/runs\": ")) << refused.err;
  EXPECT_TRUE(Has(refused.err,
                  "hint: another place: MUSTER_HOME=FOLDER for all runs and sweeps, or --run-dir FOLDER "
                  "for one run\n"))
      << refused.err;
}

TEST_F(RunMessages, OfDevicesThatTheHostLacksNameThoseItHas) {
  Recipe("job:workers { count = 2, devices = 1, command = { 'true' } }", "cluster = { device_kind = 'cuda' },");
  const CommandResult run = Call({"run", "t.lua", "--devices", "4-7"}, {}, {"MUSTER_HOST_DEVICES=2"});
  EXPECT_TRUE(Has(run.err, "the job uses devices 4-5, and muster may use 0-1 (this host has 2)")) << run.err;
  const std::string built_in = Call({"plan", "@torch", "--devices", "0-1", "--", "true"}).err;
  EXPECT_TRUE(Has(built_in, "hint: in a recipe of your own: return muster.load(\"@torch\"):extend { cluster = "))
      << built_in;
}

TEST_F(RunMessages, OfPatternsSayWhatRe2Lacks) {
  Recipe("job:workers { count = 1, command = { 'true' } }", "params = { lr = muster.float { 1 } },");
  struct Refused {
    const char* pattern;
    const char* hint;
  };
  for (const Refused& test : {Refused{"(?!x)loss: (\\S+)", "RE2 has no lookahead, lookbehind or atomic groups"},
                              {"(?<=x)loss: (\\S+)", "RE2 has no lookahead, lookbehind or atomic groups"},
                              {"loss: (\\S+", "each ( is closed by a ); the character itself is written \\("},
                              {"loss: (\\S+) [", "each [ is closed by a ]"},
                              {"loss: (\\S++)", "RE2 has no possessive repetitions"},
                              {"*loss: (\\S+)", "any text is .*"},
                              {"(\\S+) \\1", "no references to groups (\\1)"}}) {
    const CommandResult sweep = Call(
        {"sweep", "t.lua", "--grid", "lr=1,2", "--minimize", "loss", "--metric", std::string("loss=") + test.pattern});
    EXPECT_EQ(sweep.exit_code, 2) << test.pattern;
    EXPECT_TRUE(Has(sweep.err, "is not a valid regular expression")) << sweep.err;
    EXPECT_TRUE(Has(sweep.err, test.hint)) << test.pattern << "\n" << sweep.err;
    EXPECT_FALSE(fs::exists(folder_ / "sweeps")) << test.pattern;
  }
}

TEST_F(RunMessages, OfHostsShowTheHintAfterTheError) {
  Recipe("job:workers { count = 1, command = { 'true' } }");
  Write("ssh", "#!/bin/sh\necho 'ssh: Could not resolve hostname nohost: Name or service not known' >&2\nexit 255\n");
  fs::permissions(folder_ / "ssh", fs::perms::owner_all);
  const CommandResult run = Call({"run", "t.lua", "--host", "nohost"}, {}, {"MUSTER_SSH=" + (folder_ / "ssh")});
  const std::size_t error = run.err.find("nohost: there is no host of that name");
  const std::size_t hint = run.err.find("hint: check the name");
  EXPECT_LT(error, hint) << run.err;
  EXPECT_NE(hint, std::string::npos) << run.err;
}

// One word for each end, of runs and sweeps alike.
TEST_F(RunMessages, CallSweepsThatASignalEndsStoppedAsRuns) {
  Recipe("job:workers { count = 1, command = { 'sh', '-c', 'echo started; exec sleep 600' } }",
         "params = { lr = muster.float { 1 } },");
  OnTerminal run({MusterProgram(), "run", "t.lua"}, folder_.path(), 24, 80);
  ASSERT_TRUE(run.Shows("started"));
  run.Signal(SIGTERM);
  EXPECT_EQ(run.End(), 143);
  EXPECT_TRUE(Has(run.written, "stopped: ended by SIGTERM")) << run.written;
  EXPECT_EQ(Count(Call({"report"}).out, "  worker    1 stopped\n"), 1U);
  OnTerminal sweep({MusterProgram(), "sweep", "t.lua", "--grid", "lr=1,2"}, folder_.path(), 24, 80);
  ASSERT_TRUE(sweep.Shows("running (no devices)"));  // prevents: "1 running on 0 of 1 devices"
  sweep.Signal(SIGTERM);
  EXPECT_EQ(sweep.End(), 143);
  EXPECT_TRUE(Has(sweep.written, "t stopped: ended by SIGTERM")) << sweep.written;
  EXPECT_TRUE(Has(Call({"ls"}).out, "  stopped  "));
  EXPECT_TRUE(Has(Call({"show"}).out, "state        stopped: ended by SIGTERM\n"));
}

TEST_F(RunMessages, FitTheTerminal) {
  Recipe("job:workers { count = 2, command = { 'pyhton3' } }", "params = { lr = muster.float { 1 } },");
  Write("bad.lua",
        "local muster = require \"muster\"\nreturn muster.recipe { name = \"bad\", plan = function(p, job)\n"
        "job:workers { count = 1, command = { 'true' }, no_such_option_of_a_role = 1, another_one_that_there_is_not = "
        "2 }\nend }\n");
  Call({"run", "-q", "t.lua"});
  Call({"sweep", "-q", "t.lua", "--grid", "lr=0.1234567,0.2345678"});
  // Of its own: ps lists what runs on this machine, and the path of a trial elsewhere is longer than a line.
  const std::string heads = folder_ / "heads";
  std::filesystem::create_directory(heads);
  std::filesystem::permissions(heads, std::filesystem::perms::owner_all);
  for (const unsigned short columns : {std::uint16_t{80}, std::uint16_t{200}}) {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"run", "t.lua"},
                                               {"report"},
                                               {"ls"},
                                               {"ls", "t"},
                                               {"ls", "--recipes"},
                                               {"ps", "--all"},
                                               {"show"},
                                               {"check", "t.lua"},
                                               {"check", "bad.lua"},
                                               {"plan", "t.lua"},
                                               {"params", "t.lua"},
                                               {"explain", "t.lua", "lr"},
                                               {"docs", "muster.flags"},
                                               {"run", "--help"},
                                               {"sweep", "t.lua", "--grid", "lr=1,2"},
                                               {"run", "t.lua", "--timeout", "3"}}) {
      std::vector<std::string> argv = {"/usr/bin/env", "XDG_RUNTIME_DIR=" + heads, MusterProgram()};
      argv.insert(argv.end(), words.begin(), words.end());
      OnTerminal terminal(argv, folder_.path(), 50, columns);
      terminal.End();
      std::istringstream lines(terminal.written);
      for (std::string line; std::getline(lines, line);) {
        while (line.ends_with('\r')) line.pop_back();
        // Progress lines replace one another; lines of source and paths are not broken, so that they can be copied.
        if (line.find('\x1b') != std::string::npos || line.find('\r') != std::string::npos) continue;
        if (line.find(" | ") != std::string::npos || line.find(folder_.path()) != std::string::npos) continue;
        EXPECT_LE(Columns(line), columns) << words[0] << ": " << line;
      }
    }
  }
}

}  // namespace
}  // namespace muster::testing
