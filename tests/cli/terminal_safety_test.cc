// Tests that no command prints a byte that a terminal obeys, whatever folders, recipes, values and words are called.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/values/printable_lines.h"
#include "cli/muster_command.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHostile = "a\x1b]0;b\x07\x1b[31m\xc2\x9b\x80";

TEST(TerminalSafety, OfEveryCommandHoldsForHostileNames) {
  const TempDir temp;
  const std::string folder = temp / (std::string("team ") + kHostile);
  fs::create_directories(folder);
  const std::string recipe = std::string("r") + kHostile + ".lua";
  std::ofstream(folder + "/" + recipe) << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", "
                                          "params = { s = muster.string { \"\" }, "
                                          "n = muster.int { 1 } }, plan = function(p, job)\njob:workers { count = p.n, "
                                          "env = { WORD = p.s }, command = { "
                                          "\"true\", p.s } }\nend }\n";
  const std::string value = "s=x\x1b[2J\x07y";
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
      {"plan", recipe, value},
      {"plan", recipe, value, "--full"},
      {"plan", recipe, value, "--summary"},
      {"plan", recipe, value, "--env", "worker.0"},
      {"plan", recipe, value, "--shell", "worker.0"},
      {"plan", recipe, value, "--on", "slurm"},
      {"plan", recipe, value, "--on", "slurm", "--slurm", std::string("time=") + kHostile},
      {"plan", recipe, "--on", kHostile},
      {"params", recipe, value},
      {"explain", recipe, kHostile},
      {"explain", recipe, value, "WORD"},
      {"diff", recipe, recipe, value},
      {"sweep", recipe, "--grid", "n=1,2", value, "--preview"},
      {"sweep", recipe, "--grid", std::string(kHostile) + "=1,2", "--preview"},
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
    Command command;
    command.argv = {MusterProgram()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.cwd = folder;
    const CommandResult result = RunCommand(command);
    EXPECT_LT(result.exit_code, 128) << ::testing::PrintToString(words);
    EXPECT_EQ(PrintableLines(result.out), result.out) << ::testing::PrintToString(words);
    EXPECT_EQ(PrintableLines(result.err), result.err) << ::testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace muster::testing
