// Tests reading ranks assigned by a framework from the logs of its processes.
#include <gtest/gtest.h>

#include "run/report/context_report.h"

namespace muster {
namespace {

TEST(AssignedRank, IsReadFromTheLogInsteadOfTheIndex) {
  const char* worker =
      "[10:00:00] src/van.cc:291: Bind to role=worker, ip=127.0.0.1, port=40123, is_recovery=0\n"
      "[10:00:00] src/van.cc:230: W[11] is connected to others\nW[9] is the scheduler's first\n";
  EXPECT_EQ(AssignedRank("ps-lite", "worker", worker), 1U);
  EXPECT_EQ(AssignedRank("byteps", "worker", worker), 1U);
  EXPECT_EQ(AssignedRank("ps-lite", "server", "[10:00:00] src/van.cc:230: S[8] is connected to others\n"), 0U);
  EXPECT_EQ(AssignedRank("ps-lite", "server", "S[12] is connected to others"), 2U);
}

TEST(AssignedRank, IsUnknownIfTheLogDoesNotNameIt) {
  for (const char* log : {"", "W[9] is connected", "W[x] is connected to others", "W[8] is connected to others",
                          "S[8] is connected to others", "W[9 ] is connected to others", "] is connected to others"}) {
    EXPECT_EQ(AssignedRank("ps-lite", "worker", log), std::nullopt) << log;
  }
  EXPECT_EQ(AssignedRank("torch", "worker", "W[9] is connected to others"), std::nullopt);
  EXPECT_EQ(AssignedRank("ps-lite", "scheduler", "W[9] is connected to others"), std::nullopt);
}

}  // namespace
}  // namespace muster
