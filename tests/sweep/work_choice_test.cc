// Tests which of a run and a sweep a word names: no processes, no files.
#include "sweep/index/work_choice.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

WorkFound ARun(bool live, const char* stamp = "20261120-120000") { return {"run", live, stamp, 1}; }
WorkFound ASweep(bool live, const char* stamp = "20261120-120000") { return {"sweep", live, stamp, 1}; }

TEST(WorkChoice, NamesNothingWhereThereIsNothing) {
  EXPECT_EQ(ChooseWork({}, {}, true, Prefer::kLive), std::nullopt);
  EXPECT_EQ(ChooseWork(ARun(false), {}, true, Prefer::kLive), (NamedWork{"run", false}));
  EXPECT_EQ(ChooseWork({}, ASweep(false), false, Prefer::kNewest), (NamedWork{"sweep", true}));
}

TEST(WorkChoice, ANameOfBothMeansWhatRuns) {
  for (const Prefer prefer : {Prefer::kLive, Prefer::kNewest}) {
    EXPECT_TRUE(ChooseWork(ARun(false), ASweep(true), true, prefer)->is_sweep);
    EXPECT_FALSE(ChooseWork(ARun(true), ASweep(false), true, prefer)->is_sweep);
    EXPECT_FALSE(ChooseWork(ARun(true), ASweep(true), true, prefer)->is_sweep);
    EXPECT_FALSE(ChooseWork(ARun(false), ASweep(false, "20261121-120000"), true, prefer)->is_sweep);
  }
}

TEST(WorkChoice, WithoutANameTheNewerOneIsMeant) {
  const WorkFound newer = ASweep(false, "20261121-120000");
  EXPECT_TRUE(ChooseWork(ARun(false), newer, false, Prefer::kNewest)->is_sweep);
  EXPECT_FALSE(ChooseWork(ARun(false), ASweep(false, "20261119-120000"), false, Prefer::kNewest)->is_sweep);
  WorkFound of_same_second = ASweep(false);
  of_same_second.made_ns = 2;
  EXPECT_TRUE(ChooseWork(ARun(false), of_same_second, false, Prefer::kNewest)->is_sweep);
}

TEST(WorkChoice, WithoutANameNothingThatIsOverIsSteeredBesideWhatRuns) {
  EXPECT_FALSE(ChooseWork(ARun(true), ASweep(false, "20261121-120000"), false, Prefer::kLive)->is_sweep);
  EXPECT_TRUE(ChooseWork(ARun(false, "20261121-120000"), ASweep(true), false, Prefer::kLive)->is_sweep);
}

}  // namespace
}  // namespace muster
