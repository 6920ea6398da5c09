// Tests muster init: it writes a valid recipe and overwrites no file.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"
#include "launchers/read_line.h"
#include "launchers/recipe_of_call.h"
#include "support/file_content.h"
#include "support/golden.h"

namespace muster::testing {
namespace {

CommandResult InitFrom(const std::string& folder, const std::string& launcher, const std::vector<std::string>& call) {
  std::vector<std::string> words = {"init", folder, "--from", launcher, "--"};
  words.insert(words.end(), call.begin(), call.end());
  return Muster(words);
}

struct Translated {
  const char* launcher;
  const char* file;
  std::vector<std::string> call;
  std::size_t processes;
};

class InitFromLauncher : public ::testing::TestWithParam<Translated> {};

TEST_P(InitFromLauncher, WritesARecipeThatStartsTheSameProcesses) {
  const TempDir folder;
  const Translated& one = GetParam();
  const CommandResult made = InitFrom(folder.path(), one.launcher, one.call);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string recipe = folder / one.file;
  ExpectGolden(ContentOf(recipe), std::string("tests/golden/init/") + one.launcher + "." + one.file);
  const CommandResult planned = Muster({"plan", "--json", recipe});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_EQ(planned.err, "");
  EXPECT_EQ(nlohmann::json::parse(planned.out)["processes"].size(), one.processes);
}

INSTANTIATE_TEST_SUITE_P(
    Launchers, InitFromLauncher,
    ::testing::Values(Translated{"torchrun",
                                 "train.lua",
                                 {"torchrun", "--nnodes", "2:4", "--nproc_per_node=8", "--rdzv-endpoint", "h:29400",
                                  "--max_restarts", "3", "train.py", "--lr", "0.1", "a \"b\"\n", "--nnodes", "1"},
                                 32},
                      Translated{
                          "torchrun",
                          "pkg-train.lua",
                          {"python3", "-m", "torch.distributed.run", "--nproc-per-node", "gpu", "-m", "pkg.train"},
                          1},
                      Translated{"torchrun", "solve.lua", {"--standalone", "--no_python", "./solve"}, 1},
                      Translated{"msrun",
                                 "train.lua",
                                 {"msrun", "--worker_num", "16", "--local_worker_num=8", "--master_port", "8118",
                                  "--cluster_time_out", "600", "--join", "True", "train.py"},
                                 17},
                      Translated{"deepspeed",
                                 "train.lua",
                                 {"deepspeed", "--hostfile", "tests/launchers/files/myhostfile", "--master_port",
                                  "29500", "train.py", "--deepspeed"},
                                 8},
                      Translated{"shell", "net.lua", {"bash", "tests/launchers/files/run_dynamic_cluster.sh"}, 9},
                      Translated{"mpirun",
                                 "solve.lua",
                                 {"mpirun", "-np", "4", "-x", "A=1", "-x", "B", "--bind-to", "none", "--mca", "btl",
                                  "self,tcp", "-wdir", "/tmp", "./solve", "in.dat"},
                                 1}));

TEST(Init, WritesARecipeThatRunsUnchanged) {
  const TempDir folder;
  const CommandResult made = Muster({"init", folder / "new"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string recipe = folder / "new/recipe.lua";
  EXPECT_NE(made.out.find("written        " + recipe + "\n"), std::string::npos) << made.out;
  EXPECT_EQ(Muster({"check", recipe}).exit_code, 0);
  const CommandResult run = Muster({"run", "--run-dir", folder / "run", recipe, "name=you"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(ContentOf(folder / "run/logs/worker.1.0.log"), "hello you from rank 1 of 2\n");
  EXPECT_EQ(ContentOf(folder / "new/.gitignore"), "/runs/\n/sweeps/\n");
  const auto settings = nlohmann::json::parse(ContentOf(folder / "new/.luarc.json"));
  const std::filesystem::path definitions = settings["workspace.library"][0].get<std::string>();
  EXPECT_TRUE(std::filesystem::exists(definitions / "muster.lua")) << definitions;
}

TEST(Init, OverwritesNoFile) {
  const TempDir folder;
  std::ofstream(folder / ".gitignore") << "mine\n";
  ASSERT_EQ(Muster({"init", folder.path()}).exit_code, 0);
  EXPECT_EQ(ContentOf(folder / ".gitignore"), "mine\n");
  std::ofstream(folder / "recipe.lua") << "mine\n";
  std::filesystem::remove(folder / ".luarc.json");
  const CommandResult again = Muster({"init", folder.path()});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_EQ(again.err, "muster: error: \"" + (folder / "recipe.lua") +
                           "\" already exists; nothing was written\nhint: name another folder: muster init FOLDER\n");
  EXPECT_EQ(ContentOf(folder / "recipe.lua"), "mine\n");
  EXPECT_FALSE(std::filesystem::exists(folder / ".luarc.json"));
}

struct Refused {
  const char* launcher;
  std::vector<std::string> call;
  const char* says;
};

// Prevents: options that torchrun would have read from the caller's environment are lost.
TEST(Init, TakesTheOptionsThatTorchrunReadsFromExportedVariables) {
  const TempDir folder;
  const auto recipe = [&](const std::string& name, const char* launcher, const std::vector<std::string>& line) {
    std::vector<std::string> words = {MusterProgram(), "init", folder / name, "--from", launcher, "--"};
    words.insert(words.end(), line.begin(), line.end());
    const CommandResult made =
        RunCommand({words, {"PATH=/usr/bin:/bin", "PET_NPROC_PER_NODE=4", "PET_NNODES=3"}, folder.path()});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return ContentOf(folder / (name + "/train.lua"));
  };
  const auto processes = [&](const std::string& name) {
    const CommandResult planned = Muster({"plan", "--json", folder / (name + "/train.lua")});
    return nlohmann::json::parse(planned.out)["processes"].size();
  };
  const std::string exported = recipe("exported", "torchrun", {"torchrun", "train.py"});
  EXPECT_NE(exported.find("PET_NNODES=3 PET_NPROC_PER_NODE=4 torchrun train.py"), std::string::npos) << exported;
  EXPECT_EQ(processes("exported"), 12U);
  recipe("line", "torchrun", {"PET_NNODES=1", "torchrun", "--nproc_per_node", "2", "train.py"});
  EXPECT_EQ(processes("line"), 2U) << "the line counts";
  recipe("other", "msrun", {"msrun", "--worker_num", "2", "train.py"});
  EXPECT_EQ(processes("other"), 3U) << "other launchers read no such variables";
}

TEST(Init, RefusesUnknownCommandLines) {
  const TempDir folder;
  const Refused cases[] = {
      {"srun", {"srun", "a.py"}, "--from \"srun\": unknown launcher\nhint: torchrun, msrun, mpirun, "},
      {"torchrun", {}, "torchrun: there is no program\nhint: give the whole command line"},
      {"torchrun", {"torchrun", "--nnodes", "2"}, "torchrun: there is no program"},
      {"torchrun", {"torchrun", "--nodes", "2", "a.py"}, "unknown option \"--nodes\"\nhint: did you mean"},
      {"msrun", {"--worker_num", "ten", "a.py"}, "--worker_num \"ten\": expected a whole number of at least 1"},
      {"mpirun", {"mpirun", "-np", "four", "./a"}, "-np \"four\": expected a whole number of at least 1"},
      {"shell", {"bash", "no/such.sh"}, "shell: the script cannot be read"},
  };
  for (const Refused& one : cases) {
    const CommandResult result = InitFrom(folder / "none", one.launcher, one.call);
    EXPECT_EQ(result.exit_code, 2) << one.says;
    EXPECT_NE(result.err.find(one.says), std::string::npos) << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "none"));
  }
  const CommandResult whose = Muster({"init", folder / "none", "--", "deepspeed", "a.py"});
  EXPECT_EQ(whose.exit_code, 2);
  EXPECT_EQ(whose.err,
            "muster: error: `--from LAUNCHER` is required before `--`\n"
            "hint: muster init --from deepspeed -- deepspeed a.py\n");
}

// Prevents: the recipe of a command line from a launcher's documentation has no plan, or one with another number of
// processes.
TEST(InitFromDocumentedLine, HasAPlanWithItsProcesses) {
  const std::string files = std::string(MUSTER_SOURCE_DIR) + "/tests/launchers/files";
  std::istringstream lines(ContentOf(std::string(MUSTER_SOURCE_DIR) + "/tests/launchers/documented_lines.txt"));
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("$ ")) continue;
    ++count;
    line.erase(0, 2);
    const auto call = ReadDocumentedLine(line);
    ASSERT_TRUE(call.has_value()) << line;
    const TempDir folder;
    std::filesystem::copy_file(files + "/rank_table_8pcs.json", folder / "rank_table_8pcs.json");
    Command init;
    init.argv = {MusterProgram(), "init", folder.path(), "--from", LauncherOfLine(line), "--"};
    const auto words = ShellWords(line);
    init.argv.insert(init.argv.end(), words->begin(), words->end());
    init.cwd = files;
    const CommandResult made = RunCommand(init);
    ASSERT_EQ(made.exit_code, 0) << line << "\n" << made.err;
    const CommandResult planned = Muster({"plan", "--json", folder / (NameOfProgram(*call) + ".lua")});
    ASSERT_EQ(planned.exit_code, 0) << line << "\n" << planned.err;
    EXPECT_EQ(planned.err, "") << line;
    EXPECT_EQ(nlohmann::json::parse(planned.out)["processes"].size(), static_cast<std::size_t>(ProcessesOfPlan(*call)))
        << line;
  }
  EXPECT_GE(count, 40);
}

}  // namespace
}  // namespace muster::testing
