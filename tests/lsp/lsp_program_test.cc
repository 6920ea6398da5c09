// Tests `muster lsp` as a program, by a scripted client and by Neovim.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/command.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

TEST(LspProgram, ServesAClientThatEditsARecipe) {
  const CommandResult result = RunCommand(
      {{"/usr/bin/python3", MUSTER_SOURCE_DIR "/tests/lsp/session.py", MusterProgram(), MUSTER_SOURCE_DIR "/recipes"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "ok\n");
}

TEST(LspProgram, EndsWithItsClient) {
  const CommandResult result = RunCommand({{MusterProgram(), "lsp"}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
}

TEST(LspProgram, ServesNeovim) {
  if (!std::filesystem::exists("/usr/bin/nvim")) GTEST_SKIP() << "neovim is missing";
  const TempDir folder;
  const std::string recipe = folder / "r.lua";
  std::ofstream(recipe) << "local muster = require \"muster\"\nreturn muster.recipe {\n  nme = \"r\",\n"
                           "  plan = function(p, job) job:workers { command = { \"true\" } } end,\n}\n";
  const std::string home = folder.path();
  const CommandResult result =
      RunCommand({{"nvim", "--clean", "--headless", "-n", "-S", MUSTER_SOURCE_DIR "/tests/lsp/neovim.lua"},
                  {"PATH=/usr/bin:/bin", "HOME=" + home, "XDG_CACHE_HOME=" + home, "XDG_STATE_HOME=" + home,
                   "XDG_DATA_HOME=" + home, "MUSTER=" + MusterProgram(), "NVIM_RECIPE=" + recipe},
                  home});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_NE(result.err.find("diagnostic unknown_key at 2:2"), std::string::npos) << result.out << result.err;
  EXPECT_NE(result.err.find("hover Describes the processes of the job"), std::string::npos) << result.out << result.err;
  EXPECT_NE(result.err.find("completion framework"), std::string::npos) << result.out << result.err;
}

}  // namespace
}  // namespace muster::testing
