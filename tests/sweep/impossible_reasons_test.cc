#include <gtest/gtest.h>

#include "sweep/record/sweep_status.h"

namespace muster {
namespace {

TEST(ImpossibleReasons, AreReportedOnceEachUpToALimit) {
  ImpossibleReasons reasons;
  reasons.Keep({0, 2, {{"4 stages need 4 hosts", "gpt.lua:26", {}}, {"4 stages need 4 hosts", "gpt.lua:26", {}}}});
  reasons.Keep({2, 3, {{"second", "", {}}, {"third", "", {}}, {"fourth", "", {}}}});
  EXPECT_EQ(
      reasons.Text(),
      "no point is possible: 4 stages need 4 hosts (gpt.lua:26); second; third; `--preview` counts the points that "
      "each condition rejects");
}

TEST(ImpossibleReasons, AreOmittedIfUnknown) {
  EXPECT_EQ(ImpossibleReasons().Text(),
            "no point is possible; `--preview` counts the points that each condition rejects");
}

}  // namespace
}  // namespace muster
