#include <gtest/gtest.h>

#include "run/history_of.h"
#include "run/report/report.h"

namespace muster {
namespace {

std::string TextOf(const std::vector<JournalEntry>& entries) {
  JournalContents journal;
  for (const JournalEntry& entry : entries) journal.records.push_back({journal.records.size() + 1, "", 0, entry});
  return CodeText(HistoryOf({}, std::move(journal)).code);
}

TEST(CodeReport, ShowsTheStateOfTheCodeInOneLine) {
  EXPECT_EQ(TextOf({CodeSeen{"/home/u", "9f3c1d20a1b2c3d4", "main", 3, 1, {"a.py"}}}),
            "  code      9f3c1d20a1b2 (main), 3 files changed, 1 untracked\n");
  EXPECT_EQ(TextOf({}), "") << "nobody knew";
}

TEST(CodeReport, ShowsShippedCodeAndTheBytesSent) {
  const CodeShipped first{0, "ab12cd34ef56ab12", "/home/u/job", "/root/.cache/muster/code/ab12", 12, 2'000'000, 0};
  CodeShipped second = first;
  second.host = 1;
  EXPECT_EQ(TextOf({first, second}),
            "  shipped   ab12cd34ef56 of /home/u/job: 12 files, 1.9 MiB, to 2 hosts, which had it already\n");
  second.sent = 500'000;
  EXPECT_EQ(TextOf({first, second}),
            "  shipped   ab12cd34ef56 of /home/u/job: 12 files, 1.9 MiB, to 2 hosts (490 KiB sent)\n");
}

}  // namespace
}  // namespace muster
