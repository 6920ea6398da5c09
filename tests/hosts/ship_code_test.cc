// Tests shipping code to hosts without a shared folder, once per host.
#include <filesystem>

#include <gtest/gtest.h>

#include "hosts/called_run.h"

namespace muster::testing {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// A folder that no host sees, with a program that needs a file beside it.
std::string MakeCode(const HostsTestbed& testbed, int hosts) {
  const std::string folder = fs::canonical(testbed.own_folder()).string() + "/code";
  fs::create_directories(folder + "/lib");
  std::ofstream(folder + "/train.sh") << "#!/bin/sh\ncat lib/words.txt\npwd\n\"$1\"\necho \"$LIB\"\n";
  std::ofstream(folder + "/lib/words.txt") << "words of the library\n";
  std::ofstream(folder + "/say.sh") << "#!/bin/sh\necho said on $(hostname)\n";
  fs::create_symlink("say.sh", folder + "/link.sh");
  for (const char* program : {"/train.sh", "/say.sh"}) fs::permissions(folder + program, fs::perms(0755));
  WriteRecipe(folder, hosts,
              "    job:workers { per_host = 1, devices = 0, env = { LIB = muster.here 'lib' },\n"
              "      command = { muster.here 'train.sh', muster.here 'link.sh' } }");
  return folder;
}

TEST(ShippedCode, RunsOnHostsWithoutASharedFolderAndIsSentOnce) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const std::string folder = MakeCode(testbed, 2);
  const CalledRun first(testbed, folder, "first", {"--host", "n[1-2]", "--ship-code", "."});
  ASSERT_EQ(first.result.exit_code, 0) << first.result.err;
  const auto shipped = first.Journal("code_shipped");
  ASSERT_EQ(shipped.size(), 2U);
  const std::string hash = shipped[0]["hash"];
  const std::string there = "/root/.cache/muster/code/" + hash;
  EXPECT_EQ(shipped[0]["folder"], there);
  EXPECT_EQ(shipped[0]["sent"], shipped[0]["bytes"]);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(first.Log("worker." + std::to_string(rank)),
              "words of the library\n" + there + "\nsaid on n" + std::to_string(rank + 1) + "\n" + there + "/lib\n");
  }
  EXPECT_EQ(json::parse(first.Read("binding.json"))["code"], hash);
  EXPECT_NE(first.Read("report.txt").find("shipped   " + hash.substr(0, 12)), std::string::npos)
      << first.Read("report.txt");

  const CalledRun second(testbed, folder, "second", {"--host", "n[1-2]", "--ship-code", folder});
  ASSERT_EQ(second.result.exit_code, 0) << second.result.err;
  for (const json& host : second.Journal("code_shipped")) {
    EXPECT_EQ(host["hash"], hash);
    EXPECT_EQ(host["sent"], 0);
  }
  // The plan does not depend on where the code is.
  EXPECT_EQ(first.Journal("run_began")[0]["plan"], second.Journal("run_began")[0]["plan"]);

  // Of a changed version only the changed file is sent.
  std::ofstream(folder + "/lib/words.txt") << "other words\n";
  const CalledRun third(testbed, folder, "third", {"--host", "n[1-2]", "--ship-code", "."});
  ASSERT_EQ(third.result.exit_code, 0) << third.result.err;
  for (const json& host : third.Journal("code_shipped")) {
    EXPECT_NE(host["hash"], hash);
    EXPECT_EQ(host["sent"], 12);
  }
  EXPECT_TRUE(third.Log("worker.0").starts_with("other words\n")) << third.Log("worker.0");
}

// As the start does, the checks before it look in the shipped copy.
TEST(ShippedCode, IsWhereARelativeProgramIsLookedFor) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  const std::string folder = MakeCode(testbed, 1);
  for (const char* program : {"./say.sh", "lib/../say.sh"}) {
    WriteRecipe(folder, 1,
                "    job:workers { per_host = 1, devices = 0, command = { '" + std::string(program) + "' } }");
    const CalledRun run(testbed, folder, program[0] == '.' ? "here" : "below", {"--host", "n1", "--ship-code", "."});
    EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
    EXPECT_EQ(run.Log("worker.0"), "said on n1\n");
  }
  WriteRecipe(folder, 1, "    job:workers { per_host = 1, devices = 0, command = { '../elsewhere.sh' } }");
  const CalledRun outside(testbed, folder, "outside", {"--host", "n1", "--ship-code", "."});
  EXPECT_EQ(outside.result.exit_code, 3);
  EXPECT_NE(outside.result.err.find("../elsewhere.sh cannot be started"), std::string::npos) << outside.result.err;
}

TEST(ShippedCode, IsWhatGitKnowsAndOtherFilesAreReported) {
  SKIP_WITHOUT_TESTBED();
  if (RunCommand({.argv = {"git", "--version"}}).exit_code != 0) GTEST_SKIP() << "git is missing (tools/setup)";
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  const std::string folder = MakeCode(testbed, 1);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "all"}}) {
    std::vector<std::string> argv = {"git", "-c", "user.name=t", "-c", "user.email=t@t"};
    argv.insert(argv.end(), words.begin(), words.end());
    ASSERT_EQ(RunCommand({.argv = argv, .env = {"PATH=/usr/bin:/bin", "HOME=" + folder}, .cwd = folder}).exit_code, 0);
  }
  std::ofstream(folder + "/lib/words.txt") << "changed and not committed\n";
  std::ofstream(folder + "/notes.txt") << "nobody needs them\n";
  const CalledRun run(testbed, folder, "run", {"--host", "n1", "--ship-code", "."});
  ASSERT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_TRUE(run.Said("1 file that git does not know is not shipped: notes.txt")) << run.result.err;
  EXPECT_TRUE(run.Log("worker.0").starts_with("changed and not committed\n")) << run.Log("worker.0");
  const std::string there = run.Journal("code_shipped")[0]["folder"];
  EXPECT_EQ(RunCommand({.argv = testbed.On("n1", {"ls", there + "/notes.txt"})}).exit_code, 2);
  // The git state is recorded as an input of the run.
  ASSERT_EQ(run.Journal("code_seen").size(), 1U);
  EXPECT_EQ(run.Journal("code_seen")[0]["changed"], 1);
  EXPECT_EQ(run.Journal("code_seen")[0]["untracked"], 1);
  EXPECT_NE(run.Read("report.txt").find(" (main), 1 file changed, 1 untracked\n"), std::string::npos)
      << run.Read("report.txt");
}

TEST(ShippedCode, IsRefusedBeyondItsLimitBeforeAnyConnection) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  const std::string folder = MakeCode(testbed, 1);
  std::ofstream(folder + "/data.bin") << std::string(3'000'000, 'x');
  const CalledRun run(testbed, folder, "run", {"--host", "n1", "--ship-code", ".", "--ship-limit", "2MB"});
  EXPECT_EQ(run.result.exit_code, 2) << run.result.err;
  EXPECT_TRUE(run.Said("data.bin (3 MB)")) << run.result.err;
  EXPECT_FALSE(fs::exists(testbed.own_folder() + "/run"));
}

TEST(ShippedCode, ThatDoesNotFitOnAHostStartsNothing) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const std::string folder = MakeCode(testbed, 2);
  std::ofstream(folder + "/data.bin") << std::string(3'000'000, 'x');
  const std::string shrink = "mkdir -p /root/.cache && mount -t tmpfs -o size=1m tmpfs /root/.cache";
  ASSERT_EQ(RunCommand({.argv = testbed.On("n2", {"sh", "-c", shrink})}).exit_code, 0);
  const CalledRun run(testbed, folder, "run", {"--host", "n[1-2]", "--ship-code", "."});
  EXPECT_EQ(run.result.exit_code, 3) << run.result.err;
  EXPECT_TRUE(run.Said("the code cannot be shipped to n2: \"data.bin\": No space left on device")) << run.result.err;
  EXPECT_TRUE(run.Journal("start_ordered").empty());
  EXPECT_EQ(RunCommand({.argv = testbed.On("n2", {"sh", "-c", "ls /root/.cache/muster/code"})}).out, "")
      << "nothing half";
}

}  // namespace
}  // namespace muster::testing
