// Tests reading a process's usage from /proc.
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/system/own_process.h"
#include "top/top_snapshots.h"

namespace muster {
namespace {

TEST(ProcStat, IsReadBehindAnyName) {
  const std::string fields = " S 1 2 3 0 -1 4194560 10 0 0 0 70 30 0 0 20 0 1 0 12345 9000000 512 18446744073709551615";
  for (const char* name : {"(sh)", "(a) b (c)", "()", "(\n)"}) {
    const auto stat = ParseProcStat("7 " + std::string(name) + fields);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->cpu_ticks, 100U);
    EXPECT_EQ(stat->start_ticks, 12'345U);
    EXPECT_EQ(stat->rss_pages, 512U);
  }
  for (const char* text : {"", "7 (sh", "7 (sh) S 1 2", "7 (sh) S 1 2 3 0 -1 4194560 10 0 0 0 x 30"}) {
    EXPECT_FALSE(ParseProcStat(text)) << text;
  }
}

TEST(LoadMeter, KnowsProcessesByTheirStart) {
  LoadMeter meter;
  for (int look = 0; look < 2; ++look) {
    meter.Next();
    const auto own = meter.Of(::getpid(), OwnStartTicks());
    ASSERT_TRUE(own);
    EXPECT_GT(own->memory_kib, 0U);
    EXPECT_GE(own->cpu_percent, 0);
    EXPECT_FALSE(meter.Of(::getpid(), OwnStartTicks() + 1)) << "another process that had this pid";
  }
}

}  // namespace
}  // namespace muster
