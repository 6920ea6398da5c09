// Tests metrics of processes on other hosts: they reach the head's run directory while the processes run.
#include <fstream>

#include <gtest/gtest.h>

#include "hosts/hosts_run.h"

namespace muster::testing {
namespace {

// Waits until the file, which need not exist yet, has a line with that prefix.
bool AwaitLineOf(const std::string& folder, const std::string& file, const std::string& prefix) {
  const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
  if (::inotify_add_watch(watch.get(), folder.c_str(), IN_CREATE | IN_MODIFY) < 0) return false;
  for (;;) {
    for (const std::string& line : LinesOf(folder + "/" + file)) {
      if (line.starts_with(prefix)) return true;
    }
    char events[4096];
    if (!AwaitReadable(watch.get()) || ::read(watch.get(), events, sizeof events) < 0) return false;
  }
}

TEST(MetricsOverHosts, ArriveWhileProcessesRun) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  // A folder that all hosts see: the processes continue when this file exists.
  const std::string go = testbed.folder() + "/go";
  const std::string report = MusterProgram() + " report-metric host=\"$MUSTER_RANK\" step=";
  HostsRun run(testbed,
               Recipe(2, "    job:workers { count = 2, devices = 0, cwd = '" + testbed.folder() +
                             "', command = muster.shell [[" + report + "1 && " + std::string(MUSTER_TESTS_DIR) +
                             "/probe await go && " + report + "2 ]] }"),
               {"--host", "n[1-2]"});
  ASSERT_TRUE(run.Await("process_started", 2)) << run.Result().err;
  for (const char* rank : {"0", "1"}) {
    EXPECT_TRUE(AwaitLineOf(run.run_dir() + "/metrics", std::string("worker.") + rank + ".0.jsonl",
                            std::string(R"({"host":)") + rank + R"(,"step":1})"))
        << "while it runs";
  }
  std::ofstream(go) << "go";
  const json report_json = run.Report();
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().err;
  EXPECT_EQ(ContentOf(run.run_dir() + "/metrics/worker.1.0.jsonl"),
            "{\"host\":1,\"step\":1}\n{\"host\":1,\"step\":2}\n");
  ASSERT_EQ(report_json["metrics"].size(), 1U);
  EXPECT_EQ(report_json["metrics"][0]["last"], (json{{"host", 0}, {"step", 2}}));
}

}  // namespace
}  // namespace muster::testing
