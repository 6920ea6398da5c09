// Tests muster logs for a run over several hosts, while it is running and after it has ended.
#include <algorithm>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "hosts/hosts_run.h"

namespace muster::testing {
namespace {

std::vector<std::string> Sorted(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

CommandResult Logs(const HostsRun& run, std::vector<std::string> options) {
  options.insert(options.begin(), {MusterProgram(), "logs", run.run_dir()});
  return RunCommand({.argv = std::move(options)});
}

using Lines = std::vector<std::string>;

TEST(LogsOverHosts, AreShownDuringAndAfterTheRun) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  // A folder that all hosts see: the processes continue when this file exists.
  const std::string go = testbed.folder() + "/go";
  HostsRun run(
      testbed,
      Recipe(3, "    job:workers { count = 3, devices = 0, cwd = '" + testbed.folder() + "', command = { '" +
                    std::string(MUSTER_TESTS_DIR) + "/probe', 'print', 'up', 'await', 'go', 'print', 'over' } }"),
      {"--host", "n[1-3]"});
  ASSERT_TRUE(run.Await("process_started", 3)) << run.Result().err;
  const std::string shown = testbed.own_folder() + "/shown";
  std::ofstream(shown).close();
  CommandResult followed;
  std::thread follower([&] {
    followed = RunCommand({.argv = {MusterProgram(), "logs", run.run_dir(), "--follow"}, .stdout_path = shown});
  });
  for (const char* line : {"worker.0 rank 0 | up", "worker.1 rank 1 | up", "worker.2 rank 2 | up"})
    EXPECT_TRUE(AwaitLine(shown, line));
  const Lines up = {"worker.0 rank 0 | up", "worker.1 rank 1 | up", "worker.2 rank 2 | up"};
  EXPECT_EQ(Sorted(Logs(run, {}).out), up) << "during the run, from all hosts";
  EXPECT_EQ(Logs(run, {"--rank", "1"}).out, "up\n");
  EXPECT_EQ(Sorted(Logs(run, {"--merge"}).out), up);

  std::ofstream(go) << "go";
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().err;
  follower.join();
  EXPECT_EQ(followed.exit_code, 0) << followed.err;
  const Lines all = {"worker.0 rank 0 | over", "worker.0 rank 0 | up",   "worker.1 rank 1 | over",
                     "worker.1 rank 1 | up",   "worker.2 rank 2 | over", "worker.2 rank 2 | up"};
  EXPECT_EQ(Sorted(ContentOf(shown)), all) << "who follows misses nothing, and ends with the run";
  EXPECT_EQ(Sorted(Logs(run, {}).out), all);
  EXPECT_EQ(Logs(run, {"--rank", "1-2", "--tail", "1"}).out, "worker.1 rank 1 | over\nworker.2 rank 2 | over\n");
  EXPECT_EQ(Logs(run, {"--role", "worker", "--index", "2"}).out, "up\nover\n");
  EXPECT_EQ(Logs(run, {"--rank", "0", "--raw"}).out, "up\nover\n");
  EXPECT_EQ(Logs(run, {"--grep", "^o", "--attempt", "0"}).out,
            "worker.0 rank 0 | over\nworker.1 rank 1 | over\nworker.2 rank 2 | over\n");
  EXPECT_EQ(Sorted(Logs(run, {"--since", "1h"}).out), all);
  const CommandResult merged = Logs(run, {"--merge"});
  EXPECT_EQ(Sorted(merged.out), all);
  EXPECT_LT(merged.out.rfind(" | up\n"), merged.out.find(" | over\n")) << merged.out;
  EXPECT_EQ(merged.err, "") << "times are known of all";
}

}  // namespace
}  // namespace muster::testing
