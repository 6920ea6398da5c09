// Plans across a process border.
#include "plan/plan/plan_archive.h"

#include <gtest/gtest.h>

#include "plan/plan/fold.h"
#include "plan/sample_plan.h"

namespace muster {
namespace {

TEST(PlanArchive, GivesBackWhatItTook) {
  std::mt19937 random(31);
  for (int round = 0; round < 300; ++round) {
    Plan plan = RandomPlan(random);
    if (round % 2 == 0) Fold(plan);
    const auto back = Unarchived<Plan>(Archived(plan));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, plan);
  }
}

TEST(PlanArchive, RefusesEveryCutAndEveryLeftover) {
  const std::string bytes = Archived(ParameterServerPlan());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Unarchived<Plan>(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(Unarchived<Plan>(bytes + '\0'));
}

TEST(PlanArchive, SurvivesFlippedBytes) {
  const std::string bytes = Archived(ParameterServerPlan());
  std::mt19937 random(32);
  std::size_t refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    refused += Unarchived<Plan>(damaged) ? 0 : 1;
  }
  EXPECT_GT(refused, 0U);
}

TEST(PlanArchive, RefusesAnEndingThatDoesNotExist) {
  Plan plan = ParameterServerPlan();
  plan.roles[0].ending = static_cast<Ending>(7);
  EXPECT_FALSE(Unarchived<Plan>(Archived(plan)));
}

}  // namespace
}  // namespace muster
