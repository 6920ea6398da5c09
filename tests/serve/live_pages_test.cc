// Tests the pages of `muster serve` in a real browser, and the command itself.
#include <gtest/gtest.h>

#include "support/command.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

TEST(LivePages, GrowAndSteerInABrowser) {
  const TempDir folder;
  const CommandResult browsed = RunCommand(
      {{"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/serve/browse_serve.py", MusterProgram(), folder.path()},
       {"PATH=/usr/bin:/bin"},
       folder.path()});
  if (browsed.exit_code == 77) GTEST_SKIP() << browsed.out;
  EXPECT_EQ(browsed.exit_code, 0) << browsed.out << browsed.err;
}

TEST(LivePages, GetEventsWhileDataIsBeingCollected) {
  const TempDir folder;
  const CommandResult collected = RunCommand(
      {{"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/serve/collect_serve.py", MusterProgram(), folder.path()},
       {"PATH=/usr/bin:/bin"},
       folder.path()});
  EXPECT_EQ(collected.exit_code, 0) << collected.out << collected.err;
}

}  // namespace
}  // namespace muster::testing
