// Tests whether a name means a run or a sweep: no processes, no files.
#include <gtest/gtest.h>

#include "sweep/index/sweep_view.h"

namespace muster {
namespace {

RunOrSweepMatch ARun(bool live, const char* stamp = "20261120-120000") { return {"run", live, stamp, 1}; }
RunOrSweepMatch ASweep(bool live, const char* stamp = "20261120-120000") { return {"sweep", live, stamp, 1}; }

TEST(WorkChoice, FindsNothingIfThereIsNothing) {
  EXPECT_EQ(ChooseRunOrSweep({}, {}, true, Prefer::kLive), std::nullopt);
  EXPECT_EQ(ChooseRunOrSweep(ARun(false), {}, true, Prefer::kLive), (NamedRunOrSweep{"run", false}));
  EXPECT_EQ(ChooseRunOrSweep({}, ASweep(false), false, Prefer::kNewest), (NamedRunOrSweep{"sweep", true}));
}

TEST(WorkChoice, ANameOfBothMeansTheRunningOne) {
  for (const Prefer prefer : {Prefer::kLive, Prefer::kNewest}) {
    EXPECT_TRUE(ChooseRunOrSweep(ARun(false), ASweep(true), true, prefer)->is_sweep);
    EXPECT_FALSE(ChooseRunOrSweep(ARun(true), ASweep(false), true, prefer)->is_sweep);
    EXPECT_FALSE(ChooseRunOrSweep(ARun(true), ASweep(true), true, prefer)->is_sweep);
    EXPECT_FALSE(ChooseRunOrSweep(ARun(false), ASweep(false, "20261121-120000"), true, prefer)->is_sweep);
  }
}

TEST(WorkChoice, WithoutANameChoosesTheNewerOne) {
  const RunOrSweepMatch newer = ASweep(false, "20261121-120000");
  EXPECT_TRUE(ChooseRunOrSweep(ARun(false), newer, false, Prefer::kNewest)->is_sweep);
  EXPECT_FALSE(ChooseRunOrSweep(ARun(false), ASweep(false, "20261119-120000"), false, Prefer::kNewest)->is_sweep);
  RunOrSweepMatch of_same_second = ASweep(false);
  of_same_second.made_ns = 2;
  EXPECT_TRUE(ChooseRunOrSweep(ARun(false), of_same_second, false, Prefer::kNewest)->is_sweep);
}

TEST(WorkChoice, WithoutANameControlsOnlyRunningWork) {
  EXPECT_FALSE(ChooseRunOrSweep(ARun(true), ASweep(false, "20261121-120000"), false, Prefer::kLive)->is_sweep);
  EXPECT_TRUE(ChooseRunOrSweep(ARun(false, "20261121-120000"), ASweep(true), false, Prefer::kLive)->is_sweep);
}

}  // namespace
}  // namespace muster
