// Tests the list of the files of a run directory: it is that of docs/run_directory.md.
#include "wire/files/run_layout.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "support/described_files.h"

namespace muster::testing {
namespace {

TEST(RunLayout, IsTheTableOfThePage) {
  std::set<std::string> listed;
  for (const RunEntry& entry : RunEntries()) {
    EXPECT_TRUE(listed.insert(entry.name).second) << entry.name << " is listed twice";
  }
  EXPECT_EQ(listed, DescribedFiles("run_directory.md", "plan.json"));
}

TEST(RunLayout, FindsAnEntryByTheFirstPartOfAPath) {
  ASSERT_NE(RunEntryOf("logs/worker.0.0.log"), nullptr);
  EXPECT_STREQ(RunEntryOf("logs/worker.0.0.log")->name, "logs");
  ASSERT_NE(RunEntryOf("usage.jsonl"), nullptr);
  EXPECT_TRUE(RunEntryOf("usage.jsonl")->watched);
  EXPECT_EQ(RunEntryOf("logs2/x"), nullptr);
  EXPECT_EQ(RunEntryOf(""), nullptr);
}

TEST(RunLayout, KnowsReplacementsOfLogs) {
  EXPECT_TRUE(IsNextLog("logs/worker.0.0.log.next"));
  EXPECT_FALSE(IsNextLog("logs/worker.0.0.log"));
  EXPECT_FALSE(IsNextLog("checkpoints/step.next"));
}

}  // namespace
}  // namespace muster::testing
