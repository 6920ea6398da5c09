// Tests that no command prints a byte that a terminal obeys, whatever folders, recipes, values and words are called.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/values/quoting.h"
#include "cli/muster_command.h"
#include "support/on_terminal.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHostile = "a\x1b]0;b\x07\x1b[31m\xc2\x9b\x80";

class TerminalSafety : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    std::ofstream(folder_ + "/" + recipe_) << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", "
                                              "params = { s = muster.string { \"\" }, "
                                              "n = muster.int { 1 } }, plan = function(p, job)\njob:workers { count = "
                                              "p.n, env = { WORD = p.s }, command = { \"true\", p.s } }\nend }\n";
  }
  CommandResult Muster(const std::vector<std::string>& words) const {
    Command command;
    command.argv = {MusterProgram()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.cwd = folder_;
    return RunCommand(command);
  }

  const TempDir temp_;
  const std::string folder_ = temp_ / (std::string("team ") + kHostile);
  const std::string recipe_ = std::string("r") + kHostile + ".lua";
};

TEST_F(TerminalSafety, OfEveryCommandHoldsForHostileNames) {
  const std::string& recipe = recipe_;
  const std::string value = "s=x\x1b[2J\x07y\xc2\x9bz\x7f\xe2\x80\xae";
  const std::string option = std::string("--") + kHostile;
  const std::vector<std::vector<std::string>> calls = {
      {kHostile},
      {"run", option},
      {"run", recipe, "--tag", kHostile},
      {"run", recipe, "--tag"},
      {"run", recipe, std::string("--tag=") + kHostile, option},
      {"run", kHostile},
      {"run", recipe, "--run-dir", std::string("no/") + kHostile},
      {"run", recipe, "--devices", kHostile},
      {"run", recipe, "--host", kHostile},
      {"check", recipe, value},
      {"check", recipe, std::string("n=") + kHostile},
      {"check", recipe, std::string(kHostile) + "=1"},
      {"check", recipe, "--deep", value},
      {"check", recipe, value, "--json"},
      {"check", recipe, "--deep", value, "--json"},
      {"plan", recipe, value},
      {"plan", recipe, value, "--full"},
      {"plan", recipe, value, "--summary"},
      {"plan", recipe, value, "--json"},
      {"plan", recipe, value, "--env", "worker:0"},
      {"plan", recipe, value, "--env", "worker:0", "--json"},
      {"plan", recipe, value, "--shell"},
      {"plan", recipe, value, "--on", "slurm"},
      {"plan", recipe, value, "--on", "slurm", "--slurm", std::string("time=") + kHostile},
      {"plan", recipe, value, "--on", "pbs"},
      {"plan", recipe, value, "--on", "kubernetes", "--kubernetes", "image=x"},
      {"plan", recipe, "--on", kHostile},
      {"params", recipe, value},
      {"params", recipe, value, "--json"},
      {"explain", recipe, kHostile},
      {"explain", recipe, value, "WORD"},
      {"explain", recipe, value, "WORD", "--json"},
      {"diff", recipe, recipe, value},
      {"diff", recipe, recipe, value, "--json"},
      {"sweep", recipe, "--grid", "n=1,2", value, "--preview"},
      {"sweep", recipe, "--grid", "n=1,2", value, "--preview", "--json"},
      {"sweep", recipe, "--grid", std::string(kHostile) + "=1,2", "--preview"},
      {"run", recipe, value},
      {"rehearse", recipe, value, "--json"},
      {"doctor", recipe, value, "--json"},
      {"sweep", recipe, "--grid", "n=1,2", value, "--name", "swept"},
      {"ls", "--json"},
      {"ls", "--sweeps", "--json"},
      {"ps", "--all"},
      {"ps", "--all", "--json"},
      {"report", "t"},
      {"report", "t", "--json"},
      {"watch", "t"},
      {"watch", "t", "--json"},
      {"dump", "t", "--json"},
      {"top", "t", "--json"},
      {"show", "swept"},
      {"show", "swept", "--json"},
      {"best", "swept"},
      {"best", "swept", "--json"},
      {"top", "swept", "--json"},
      {"watch", "swept", "--json"},
      {"export", "swept", "--jsonl"},
      {"clean", "--older-than", "0s", "--json"},
      {"test", ".", "--json"},
      {"docs", kHostile, "--json"},
      {"docs", kHostile},
      {"ls", kHostile},
      {"ls", "--where", kHostile},
      {"logs", kHostile},
      {"report", kHostile},
      {"show", kHostile},
      {"stop", kHostile},
      {"clean", kHostile},
      {"init", kHostile},
      {"init", "--from", "torchrun", "--", "torchrun", kHostile},
      {"serve", "--port", kHostile},
      {"test", kHostile},
  };
  for (const auto& words : calls) {
    const CommandResult result = Muster(words);
    EXPECT_LT(result.exit_code, 128) << ::testing::PrintToString(words);
    EXPECT_EQ(PrintableLines(result.out), result.out) << ::testing::PrintToString(words);
    EXPECT_EQ(PrintableLines(result.err), result.err) << ::testing::PrintToString(words);
  }
}

// Programs get the values as they are, and a terminal does not.
TEST_F(TerminalSafety, OfExportedTablesHoldsOnATerminal) {
  fs::rename(folder_ + "/" + recipe_, folder_ + "/r.lua");  // a sweep's files cannot name one that is not UTF-8
  const CommandResult swept = Muster({"sweep", "r.lua", "--grid", "s=x\xc2\x9bz\x7f,y", "--name", "swept"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_NE(Muster({"export", "swept", "--csv"}).out.find("x\xc2\x9bz\x7f"), std::string::npos);
  OnTerminal exported({MusterProgram(), "export", "swept", "--csv"}, folder_);
  EXPECT_EQ(exported.End(), 0) << exported.written;
  std::string shown = exported.written;
  std::erase(shown, '\r');
  EXPECT_EQ(PrintableLines(shown), shown);
  EXPECT_NE(shown.find("x\\xc2\\x9bz\\x7f"), std::string::npos) << shown;
}

TEST_F(TerminalSafety, OfARewrittenRecipeHoldsOnATerminal) {
  std::ofstream(folder_ + "/m.lua")
      << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", framework "
         "= \"mindspore\", mindspore = \"2.3\", plan = function(p, job)\njob:workers { "
         "count = 1, command = { \"true\" } } end } -- \x1b[2J\xc2\x9b\n";
  const std::vector<std::string> words = {"check", "m.lua", "--mindspore", "2.6", "--rewrite"};
  const CommandResult piped = Muster(words);
  EXPECT_NE(piped.out.find("\x1b[2J\xc2\x9b"), std::string::npos) << piped.out << piped.err;
  OnTerminal shown({MusterProgram(), words[0], words[1], words[2], words[3], words[4]}, folder_);
  EXPECT_EQ(shown.End(), 0) << shown.written;
  EXPECT_NE(shown.written.find("\\x1b[2J\\xc2\\x9b"), std::string::npos) << shown.written;
  EXPECT_EQ(shown.written.find("\x1b[2J"), std::string::npos) << shown.written;
}

}  // namespace
}  // namespace muster::testing
