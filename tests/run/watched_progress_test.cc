// Tests the rows of muster watch, computed from the records of a journal.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "run/console/watch.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

TEST(WatchedProgress, CountsFromTheJournalAndShowsTheNewestMetrics) {
  Plan plan;
  plan.roles.resize(1);
  plan.roles[0].name = "worker";
  plan.processes.resize(3);
  for (std::uint32_t index = 0; index < 3; ++index) plan.processes[index].index = index;
  WatchedProgress progress(plan);
  std::uint64_t seq = 0;
  const auto take = [&](JournalEntry entry) {
    JournalRecord record;
    record.seq = ++seq;
    record.wall = "2026-11-20T12:06:16.000000Z";
    record.entry = std::move(entry);
    progress.Take(record);
  };
  const testing::TempDir run;
  constexpr std::uint64_t kThreeSecondsLater = 1'795'176'379'000'000'000;
  take(RunBegan{});
  StartOrdered start;
  for (start.process = 0; start.process < 2; ++start.process) take(start);
  ProcessExited exited;
  exited.process = 1;
  take(exited);
  Progress now = progress.Now(run.path(), kThreeSecondsLater);
  ASSERT_EQ(now.roles.size(), 1U);
  EXPECT_EQ(now.seconds, 3);
  EXPECT_EQ(now.roles[0].count, (RoleStatus{"worker", 1, 1, 1, 0}));
  EXPECT_EQ(now.roles[0].metrics, "");

  RestartPlanned planned;
  planned.process = 1;
  take(planned);
  start.process = 1;
  start.attempt = 1;
  take(start);
  std::filesystem::create_directory(run / "metrics");
  std::ofstream(run / "metrics/worker.0.0.jsonl") << "{\"step\": 100, \"loss\": 0.25}\n";
  now = progress.Now(run.path(), kThreeSecondsLater);
  EXPECT_EQ(now.roles[0].count, (RoleStatus{"worker", 1, 2, 0, 1}));
  EXPECT_EQ(now.roles[0].metrics, "step 100, loss 0.25");
}

}  // namespace
}  // namespace muster
