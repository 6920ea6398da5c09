// Tests run/directory/usage_history.h: thinning keeps peaks and sums within bounds, and files are not trusted.
#include "run/directory/usage_history.h"

#include <algorithm>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/system/unique_fd.h"
#include "support/temp_dir.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// Samples every 5 s of a process that uses two cores and ever more memory, with one peak.
UsageHistory Long(std::uint64_t samples, std::uint64_t peak_at) {
  UsageHistory history(1);
  for (std::uint64_t i = 1; i <= samples; ++i) {
    const std::uint64_t memory = i == peak_at ? 1'000'000'000 : i;
    history.Add(0,
                {i * 5'000 + 300, 0, i * 5'000, i * 10'000, memory, i == peak_at ? std::optional(77U) : std::nullopt});
  }
  return history;
}

TEST(UsageHistory, KeepsEverySampleOfAShortRun) {
  const UsageHistory history = Long(100, 50);
  EXPECT_EQ(history.processes().at(0).size(), 100U);
}

TEST(UsageHistory, StaysSmallInARunOfDays) {
  const UsageHistory history = Long(100'000, 12'345);
  const auto& points = history.processes().at(0);
  EXPECT_LE(points.size(), history.most_points());
  EXPECT_GE(points.size(), history.most_points() / 2);
  EXPECT_EQ(points.back().at_ms, 100'000U * 5'000 + 300) << "the last sample is kept";
  const auto summary = SummaryOf(points);
  EXPECT_EQ(summary->peak_memory_kib, 1'000'000'000U);
  EXPECT_EQ(summary->peak_device_kib, 77U);
  for (const double cores : CoresOf(points)) EXPECT_DOUBLE_EQ(cores, 2);
  EXPECT_DOUBLE_EQ(summary->mean_cores, 2);
}

TEST(UsageHistory, KeepsFewerPointsOfEachOfManyProcesses) {
  constexpr std::size_t kProcesses = 1'000;
  UsageHistory history(kProcesses);
  for (std::uint64_t i = 1; i <= 500; ++i) {
    for (ProcessId process = 0; process < kProcesses; ++process) {
      history.Add(process, {i * 60'000, 0, i * 60'000, i * 60'000, 1U << 20, {}});
    }
  }
  std::size_t points = 0;
  for (const auto& [process, of] : history.processes()) points += of.size();
  EXPECT_LE(points, 60'000U);
  EXPECT_LT(history.Lines().size(), 3U << 20);
}

TEST(UsageHistory, StartsEachAttemptAnew) {
  UsageHistory history(1);
  history.Add(0, {5'000, 0, 4'000, 4'000, 10, {}});
  history.Add(0, {10'000, 1, 1'000, 3'000, 10, {}});
  history.Add(0, {12'000, 1, 3'000, 4'000, 10, {}});
  history.Add(0, {13'000, 1, 4'000, 3'900, 10, {}});  // a child that used 100 ms was not waited for
  EXPECT_EQ(CoresOf(history.processes().at(0)), (std::vector<double>{1, 3, 0.5, 0}));
}

TEST(UsageHistory, IsReadAsItWasWritten) {
  const UsageHistory history = Long(3'000, 7);
  UsageHistory again(1);
  again.Take(history.Lines());
  EXPECT_EQ(again.processes(), history.processes());
  EXPECT_EQ(UsageLine(5, {{3, {5, 1, 2, 3, 4, {}}}, {4, {5, 0, 2, 3, 4, 9}}}),
            "{\"at_ms\":5,\"usage\":[[3,1,2,3,4,null],[4,0,2,3,4,9]]}\n");
}

TEST(UsageHistory, TakesOnlyValidPointsFromAFile) {
  const testing::TempDir folder;
  const UniqueFd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(ReadUsage(fd.get(), 9).processes().empty()) << "a run without samples";
  std::ofstream(folder / kUsageEntry.name)
      << "\n{}\n[]\n\"\n{\"at_ms\":-1,\"usage\":[]}\n{\"at_ms\":1,\"usage\":7}\n"
      << "{\"at_ms\":1e300,\"usage\":[[0,0,1,1,1,null]]}\n"
      << "{\"at_ms\":1,\"usage\":[[9,0,1,1,1,null],[0,0,1,1,1],[0,0,1,1,1,\"\"],[0,-1,1,"
         "1,1,null],[4294967296,0,1,1,1,1]]}\n"
      << "{\"at_ms\":1,\"usage\":[[0,0,99999999999999999999,1,1,null],[0,0,1,0.5,1,null]"
         ",[[],{},null,1,1,null],7,null]}\n"
      << std::string(1U << 20, '[') << "\n"
      << "{\"at_ms\":7,\"usage\":[[8,0,1,2,3,null]]}\n"
      << "{\"at_ms\":6,\"usage\":[[8,0,1,2,3,null]]}\n"
      << "{\"at_ms\":9007199254740992,\"usage\":[[7,0,1,2,3,null]]}\n"
      << "{\"at_ms\":8,\"usage\":[[8,0,1,2,3";
  const UsageHistory read = ReadUsage(fd.get(), 9);
  EXPECT_EQ(read.processes(), (std::map<ProcessId, std::vector<UsagePoint>>{
                                  {7, {{9'007'199'254'740'992, 0, 1, 2, 3, {}}}}, {8, {{7, 0, 1, 2, 3, {}}}}}));
}

TEST(UsageHistory, FollowsNoLink) {
  const testing::TempDir folder;
  std::ofstream(folder / "elsewhere") << "{\"at_ms\":7,\"usage\":[[0,0,1,2,3,null]]}\n";
  std::filesystem::create_symlink("elsewhere", folder / kUsageEntry.name);
  const UniqueFd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(ReadUsage(fd.get(), 1).processes().empty());
}

}  // namespace
}  // namespace muster
