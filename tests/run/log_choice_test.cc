// Tests the selection of processes and logs by the user's arguments.
#include "run/logs/log_choice.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/values/rank_set.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"

namespace muster {
namespace {

TEST(RankSet, ParsesNumbersAndRanges) {
  const auto set = RankSet::Parse("0-3,7,9-9");
  ASSERT_TRUE(set);
  std::vector<std::uint32_t> held;
  for (std::uint32_t rank = 0; rank < 12; ++rank) {
    if (set->Contains(rank)) held.push_back(rank);
  }
  EXPECT_EQ(held, (std::vector<std::uint32_t>{0, 1, 2, 3, 7, 9}));
  EXPECT_TRUE(RankSet::Parse("0-4294967295")->Contains(4294967295U));
}

TEST(RankSet, RefusesEverythingElse) {
  for (const char* text :
       {"", ",", "1,", ",1", "-1", "1-", "3-1", "1--2", "1 2", " 1", "1, 2", "a", "0x1", "4294967296"}) {
    EXPECT_FALSE(RankSet::Parse(text)) << text;
  }
}

Report TwoRoles() {
  Report report;
  report.processes.push_back({.role = "scheduler",
                              .index = 0,
                              .rank = {},
                              .host = {},
                              .devices = {},
                              .cores = {},
                              .attempts = {},
                              .verdict = {}});
  for (std::uint32_t index = 0; index < 4; ++index) {
    report.processes.push_back({.role = "worker",
                                .index = index,
                                .rank = index + 10,
                                .host = {},
                                .devices = {},
                                .cores = {},
                                .attempts = {},
                                .verdict = {}});
  }
  return report;
}

std::vector<std::string> Prefixes(const std::vector<LogFile>& files) {
  std::vector<std::string> prefixes;
  for (const LogFile& file : files) prefixes.push_back(file.prefix);
  return prefixes;
}

TEST(LogChoice, FindsLogsInTheOrderOfThePlanAndOfTheirAttempts) {
  const ScratchFolder logs;
  for (const char* name : {"worker.3.0.log", "worker.2.10.log", "worker.2.2.log", "scheduler.0.0.log", "worker.2.2.idx",
                           "worker.9.0.log", "worker.2.x.log", "worker.2.log", ".log", "core"}) {
    PutFile(logs / name, "");
  }
  std::filesystem::create_symlink(logs / "core", logs / "worker.0.0.log");
  const auto choice = LogChoice::Of(TwoRoles(), {});
  ASSERT_TRUE(choice);
  EXPECT_EQ(Prefixes(choice->In(logs.path())),
            (std::vector<std::string>{"scheduler.0", "worker.2 rank 12 attempt 2", "worker.2 rank 12 attempt 10",
                                      "worker.3 rank 13"}));
}

TEST(LogChoice, SelectsByGlobalRankAndAttempt) {
  LogFilter filter;
  filter.ranks = RankSet::Parse("0,12-13");
  filter.attempt = 1;
  const auto choice = LogChoice::Of(TwoRoles(), filter);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->processes(), 2U);
  EXPECT_TRUE(choice->Find("worker.2.1.log"));
  EXPECT_FALSE(choice->Find("worker.2.0.log"));
  EXPECT_FALSE(choice->Find("worker.0.1.log"));
  EXPECT_FALSE(choice->Find("scheduler.0.1.log")) << "it has no rank";
}

TEST(LogChoice, ReportsWhatItDoesNotFind) {
  LogFilter filter;
  filter.role = "workers";
  const auto unknown = LogChoice::Of(TwoRoles(), filter);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().front().kind, "logs");
  EXPECT_EQ(unknown.error().front().hint, "did you mean \"worker\"?");
  filter.role = "worker";
  filter.ranks = RankSet::Parse("3");
  EXPECT_FALSE(LogChoice::Of(TwoRoles(), filter));
}

TEST(Tee, SelectsRanksOrIndicesOfARoleWithoutRanks) {
  const Plan plan = SamplePlan({{"scheduler"}, {"server", 3}, {"worker", 12}});
  using Ids = std::set<ProcessId>;
  EXPECT_EQ(*TeedProcesses(plan, {}), Ids{});
  EXPECT_EQ(*TeedProcesses(plan, {"server:1-2", "scheduler"}), (Ids{0, 2, 3}));
  EXPECT_EQ(*TeedProcesses(plan, {"worker:3,11"}), (Ids{7, 15}));
}

TEST(Tee, RefusesProcessesOutsideThePlan) {
  const Plan plan = SamplePlan({{"worker", 2}});
  for (const char* word : {"workers", "worker:2", "worker:", "worker:x", "", ":0"}) {
    const auto teed = TeedProcesses(plan, {word});
    ASSERT_FALSE(teed) << word;
    EXPECT_EQ(teed.error().front().kind, "tee") << word;
  }
}

TEST(ProcessAtTerminal, MustBeASingleProcess) {
  const Plan plan = SamplePlan({{"scheduler"}, {"server", 3}, {"worker", 12}});
  EXPECT_EQ(*ProcessAtTerminal(plan, "worker:11"), 15U);
  EXPECT_EQ(*ProcessAtTerminal(plan, "server:2"), 3U);
  EXPECT_EQ(*ProcessAtTerminal(plan, "scheduler"), 0U);
  for (const char* word : {"worker", "worker:0-1", "worker:12", "wroker:1", ""}) {
    const auto refused = ProcessAtTerminal(plan, word);
    ASSERT_FALSE(refused) << word;
    EXPECT_EQ(refused.error().front().kind, "pty") << word;
  }
  EXPECT_EQ(ProcessAtTerminal(plan, "server").error().front().hint, "for example --pty server:0");
}

}  // namespace
}  // namespace muster
