// Tests muster run over two hosts, one of which lies: the real program, agent and protocol.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/command.h"
#include "support/file_content.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

class HostileHost : public ::testing::Test {
 protected:
  // Runs one worker with that command on each of the hosts "good" and `bad`.
  CommandResult Run(const std::string& bad, const std::string& command) {
    std::ofstream(folder_ / "recipe.lua")
        << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", plan = function(p, job)\n"
           "  job:workers { per_host = 1, devices = 0, command = "
        << command << " }\nend }\n";
    Command words;
    words.argv = {MusterProgram(), "run",     folder_ / "recipe.lua", "--host", "good," + bad,
                  "--run-dir",     run_dir(), "--no-preflight"};
    words.env = {"PATH=/usr/bin:/bin", "HOME=" + folder_.path(), "XDG_STATE_HOME=" + folder_.path(),
                 "MUSTER_TEST_GO=" + go(), "MUSTER_SSH=" MUSTER_TESTS_DIR "/frames_host"};
    words.cwd = folder_.path();
    return RunCommand(words);
  }
  std::string go() const { return folder_ / "go"; }
  std::string run_dir() const { return folder_ / "run"; }

  TempDir folder_;
};

TEST_F(HostileHost, CannotReportExitsOfTheOtherHostsProcesses) {
  const CommandResult result =
      Run("bad-exit", "{ '" MUSTER_TESTS_DIR "/probe', 'await', '" + go() + "', 'exit', '7' }");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.err.find("worker.0 (rank 0) on good exited with code 7"), std::string::npos) << result.err;
  EXPECT_NE(ContentOf(run_dir() + "/journal.jsonl").find("\"event\":\"host_stray\""), std::string::npos);
}

TEST_F(HostileHost, CannotUseACommandAsItsAddress) {
  const CommandResult result = Run("bad-address",
                                   "{ 'true' }, each = function(process) process.command = "
                                   "muster.shell('echo ' .. process.host.address) end");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(result.err.find("the address of its host is invalid"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(go()));
  EXPECT_EQ(ContentOf(run_dir() + "/journal.jsonl").find("\"event\":\"start_ordered\""), std::string::npos);
}

TEST_F(HostileHost, CannotWriteTheOtherHostsLogsNorFarBeyondAnEnd) {
  const CommandResult result = Run("bad-file", "{ 'echo', 'true words' }");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ContentOf(run_dir() + "/logs/worker.0.0.log"), "true words\n");
  EXPECT_LT(std::filesystem::file_size(run_dir() + "/logs/worker.1.0.log"), 1'000U);
}

}  // namespace
}  // namespace muster::testing
