// Tests the built-in recipes: @torch and the others.
#include <filesystem>

#include <gtest/gtest.h>

#include "supervision/job.h"

namespace muster::testing {
namespace {

CommandResult Muster(std::vector<std::string> words, const std::string& cwd) {
  Command command;
  command.argv = std::move(words);
  command.argv.insert(command.argv.begin(), MusterProgram());
  command.cwd = cwd;
  return RunCommand(command);
}

TEST(OwnRecipes, RunTheCommandAfterTheDashes) {
  const TempDir folder;
  const CommandResult result = Muster({"run", "@torch", "workers=3", "--run-dir", folder / "run", "--", "sh", "-c",
                                       "echo $RANK of $WORLD_SIZE: $*", "sh", "--lr", "0.1"},
                                      folder.path());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ContentOf(folder / ("run/logs/worker." + std::to_string(rank) + ".0.log")),
              std::to_string(rank) + " of 3: --lr 0.1\n");
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "run/recipe/@torch.lua")) << "the run keeps what made it";
  EXPECT_NE(ContentOf(folder / "run/inputs.json").find("\"@torch\""), std::string::npos);
}

TEST(OwnRecipes, UseTheDevicesOfTheCommandLine) {
  for (const std::string& recipe : {std::string("@torch"), std::string("@mindspore"), std::string("@mpi")}) {
    const TempDir folder;
    Command command;
    command.argv = {MusterProgram(), "plan", recipe, "workers=2", "--devices", "4-5", "--", "train"};
    command.env = {"PATH=/usr/bin:/bin", "MUSTER_HOST_DEVICES=8"};
    command.cwd = folder.path();
    const CommandResult result = RunCommand(command);
    EXPECT_EQ(result.exit_code, 0) << recipe << result.err;
    EXPECT_NE(result.out.find("devices 2\n"), std::string::npos) << result.out;
    if (recipe == "@mpi") continue;
    command.argv.insert(command.argv.begin() + 4, "devices=0");
    EXPECT_NE(RunCommand(command).err.find("no role takes a device"), std::string::npos);
  }
}

TEST(OwnRecipes, ArePlannedFromAnyFolder) {
  const TempDir folder;
  for (const char* name : {"@torch", "@mindspore", "@ps-lite", "@mpi"}) {
    const CommandResult result = Muster({"check", name, "workers=4", "--", "sh", "--fast"}, folder.path());
    EXPECT_EQ(result.exit_code, 0) << name << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(Muster({"params", name}, folder.path()).exit_code, 0);
    EXPECT_NE(Muster({"plan", "--help"}, folder.path()).out.find(name), std::string::npos);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(OwnRecipes, ReportMistakesAtTheirLines) {
  const TempDir folder;
  const CommandResult nothing = Muster({"plan", "@torch"}, folder.path());
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_TRUE(nothing.err.starts_with("@torch:")) << nothing.err;
  EXPECT_NE(nothing.err.find("| "), std::string::npos) << "the line is shown";
  EXPECT_NE(nothing.err.find("muster run @torch workers=8 -- python3 train.py"), std::string::npos);
  const CommandResult misspelt = Muster({"plan", "@troch"}, folder.path());
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_EQ(misspelt.err, "@troch: error: muster has no recipe @troch of its own\nhint: did you mean \"@torch\"?\n");
}

}  // namespace
}  // namespace muster::testing
