// Tests which events a run's reports become.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "tensorboard/event_file.h"
#include "tensorboard/read_events.h"

namespace muster::testing {
namespace {

using Lines = std::vector<std::string>;

class RunEvents : public ::testing::Test {
 protected:
  RunEvents() {
    run_.run_dirs = {folder_.path()};
    run_.began = 1000;
    run_.ended = 2000;
    run_.status = SessionStatus::kSuccess;
    std::filesystem::create_directory(folder_ / "metrics");
  }

  void Put(const std::string& name, const std::string& text) { std::ofstream(folder_ / ("metrics/" + name)) << text; }
  std::vector<nlohmann::json> Written() {
    std::ofstream file(folder_ / "events");
    written_ = WriteRunEvents(run_, [&](std::string_view record) {
      file << record;
      return true;
    });
    file.close();
    return EventsOf(folder_ / "events");
  }

  TempDir folder_;
  RunForTensorboard run_;
  WrittenEvents written_;
};

TEST_F(RunEvents, AreTheScalarsOfTheProcessThatCountsForItsRole) {
  Put("worker.0.0.jsonl",
      "{\"step\": 10, \"loss\": 4}\n{\"acc\": 0.5}\n{\"step\": 20, \"loss\": null, \"note\": \"x\"}\n");
  Put("worker.1.0.jsonl", "{\"step\": 10, \"loss\": 9}\n");
  const auto events = Written();
  EXPECT_EQ(ScalarsOf(events), (Lines{"acc 10 0.5", "loss 10 4.0", "loss 20 null"}));
  EXPECT_EQ(written_.scalars, 3U);
  EXPECT_EQ(SessionOf(events, "session_end_info")["status"], 1);
  EXPECT_NEAR(events[2]["wall_time"].get<double>(), 1000 + 1000 * 2.0 / 3, 1e-9)
      << "spread evenly: the second of three";
}

TEST_F(RunEvents, NameTheRoleIfSeveralReport) {
  Put("worker.0.0.jsonl", "{\"loss\": 1}\n");
  Put("server.2.0.jsonl", "{\"pushes\": 7}\n{\"pushes\": 8}\n");
  EXPECT_EQ(ScalarsOf(Written()), (Lines{"server/pushes 1 7.0", "server/pushes 2 8.0", "worker/loss 1 1.0"}));
}

TEST_F(RunEvents, LeaveOutWhatARestartRepeated) {
  Put("worker.0.0.jsonl", "{\"step\": 1, \"loss\": 5}\n{\"step\": 2, \"loss\": 4}\n{\"step\": 3, \"loss\": 3}\n");
  Put("worker.0.1.jsonl", "{\"step\": 2, \"loss\": 2}\n");
  EXPECT_EQ(ScalarsOf(Written()), (Lines{"loss 1 5.0", "loss 2 2.0"}));
}

TEST_F(RunEvents, CountReportsWhereStepsAreNoWholeNumbers) {
  Put("worker.0.0.jsonl", "{\"epoch\": 0.5, \"loss\": 5}\n{\"epoch\": 1, \"loss\": 4}\n");
  EXPECT_EQ(ScalarsOf(Written()), (Lines{"epoch 1 0.5", "epoch 2 1.0", "loss 1 5.0", "loss 2 4.0"}));
}

TEST_F(RunEvents, AreTheResultsIfNothingWasReported) {
  run_.results = {{"loss", 0.5}, {"step", 40}, {"note", "x"}};
  EXPECT_EQ(ScalarsOf(Written()), (Lines{"loss 40 0.5"}));
}

TEST_F(RunEvents, HaveNoEndWhileTheRunIsActive) {
  run_.status = SessionStatus::kRunning;
  run_.parameters = {{"lr", 0.1}};
  const auto events = Written();
  EXPECT_EQ(events.size(), 2U);
  EXPECT_EQ(SessionOf(events, "session_start_info")["hparams"]["lr"], 0.1);
}

// Longer than the parts in which a file is read.
TEST_F(RunEvents, HaveEveryReportOfALongFile) {
  constexpr int kReports = 90'000;
  std::string text = "{\"step\": 0}\n";
  for (int i = 1; i <= kReports; ++i) {
    text += i % 30'000 == 1 ? "{\"step\": " + std::to_string(i) + ", \"loss\": 2}\n" : "{\"loss\": 2}\n";
    if (i == 45'000) text += std::string(3U << 20, 'x') + "\n";
  }
  ASSERT_GT(text.size(), std::size_t{4} << 20);
  Put("worker.0.0.jsonl", text);
  Put("worker.0.1.jsonl", "{\"step\": 60001, \"loss\": 1}\n");
  const auto events = Written();
  const Lines scalars = ScalarsOf(events);
  // Each has the last step before it, also across parts; what the second attempt repeated is replaced.
  EXPECT_EQ(scalars.size(), 60'001U);
  EXPECT_EQ(scalars.front(), "loss 1 2.0");
  EXPECT_EQ(scalars[59'999], "loss 30001 2.0");
  EXPECT_EQ(scalars.back(), "loss 60001 1.0");
  EXPECT_EQ(written_.scalars, 60'001U);
}

TEST_F(RunEvents, EndWhereTheFileCannotBeWritten) {
  Put("worker.0.0.jsonl", "{\"loss\": 1}\n{\"loss\": 2}\n");
  int taken = 0;
  const auto written = WriteRunEvents(run_, [&](std::string_view) { return ++taken < 3; });
  EXPECT_EQ(taken, 3);
  EXPECT_EQ(written.scalars, 0U);
}

}  // namespace
}  // namespace muster::testing
