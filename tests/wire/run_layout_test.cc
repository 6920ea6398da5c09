// Tests the list of the files of a run directory: it is that of docs/run_directory.md.
#include "wire/files/run_layout.h"

#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "support/places.h"

namespace muster::testing {
namespace {

// The first parts of the paths in the first cells of the page's table of files.
std::set<std::string> DescribedEntries() {
  std::ifstream page(MUSTER_SOURCE_DIR "/docs/run_directory.md");
  std::set<std::string> entries;
  std::string line;
  while (std::getline(page, line) && !line.starts_with("| `plan.json`")) {
  }
  for (; line.starts_with("| `"); std::getline(page, line)) {
    const std::string cell = line.substr(0, line.find('|', 1));
    for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at + 1)) {
      const std::size_t end = cell.find('`', at + 1);
      const std::string path = cell.substr(at + 1, end - at - 1);
      entries.insert(path.substr(0, path.find('/')));
      at = end;
    }
  }
  return entries;
}

TEST(RunLayout, IsTheTableOfThePage) {
  std::set<std::string> listed;
  for (const RunEntry& entry : RunEntries()) {
    EXPECT_TRUE(listed.insert(entry.name).second) << entry.name << " is listed twice";
  }
  EXPECT_EQ(listed, DescribedEntries());
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
