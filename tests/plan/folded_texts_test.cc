#include "plan/text/folded_texts.h"

#include <functional>

#include <gtest/gtest.h>

#include "muster/plan.h"

namespace muster {
namespace {

// Eight workers on two hosts in four stages.
Plan Workers(std::uint32_t count = 8) {
  Plan plan;
  plan.roles.push_back({});
  plan.roles[0].name = "worker";
  for (std::uint32_t i = 0; i < count; ++i) {
    Process process;
    process.index = process.rank.emplace(i);
    process.local_rank = i % 4;
    process.host = i / 4;
    process.stage = i / 2;
    process.rank_in_stage = i % 2;
    plan.processes.push_back(process);
  }
  return plan;
}

std::vector<FoldedText> Fold(const Plan& plan, const std::function<std::string(const Process&)>& text) {
  std::vector<ProcessText> texts;
  for (std::uint32_t i = 0; i < plan.processes.size(); ++i) texts.push_back({i, text(plan.processes[i])});
  return FoldTexts(plan, texts);
}

std::string OneRule(const std::function<std::string(const Process&)>& text) {
  const std::vector<FoldedText> folded = Fold(Workers(), text);
  return folded.size() == 1 && folded[0].rule ? folded[0].text : "no rule";
}

TEST(FoldedTexts, ShowSharedTextsOnce) {
  const auto folded = Fold(Workers(), [](const Process&) { return "same 7"; });
  ASSERT_EQ(folded.size(), 1);
  EXPECT_EQ(folded[0].text, "same 7");
  EXPECT_FALSE(folded[0].rule);
  EXPECT_EQ(ProcessesText(Workers(), folded[0].processes), "worker 0-7");
}

TEST(FoldedTexts, FindAFormulaOfThePosition) {
  EXPECT_EQ(OneRule([](const Process& p) { return std::to_string(*p.rank); }), "{rank}");
  EXPECT_EQ(OneRule([](const Process& p) { return std::to_string(p.local_rank); }), "{local_rank}");
  EXPECT_EQ(OneRule([](const Process& p) { return std::to_string(p.stage * 16); }), "{stage × 16}");
  EXPECT_EQ(OneRule([](const Process& p) { return std::to_string(9'000 + *p.rank); }), "{rank + 9000}");
  EXPECT_EQ(OneRule([](const Process& p) { return std::to_string(7 - *p.rank); }), "{rank × -1 + 7}");
  EXPECT_EQ(OneRule([](const Process& p) { return std::to_string(*p.rank / 2 % 2); }), "{rank / 2 mod 2}");
}

TEST(FoldedTexts, FindNumbersInsideTexts) {
  EXPECT_EQ(OneRule([](const Process& p) {
              return "run/worker." + std::to_string(p.index) + " on 10.0.0." + std::to_string(p.host * 1);
            }),
            "run/worker.{rank} on 10.0.0.{host}");
}

TEST(FoldedTexts, ShowNoFormulaThatDoesNotHoldForAll) {
  const auto folded = Fold(Workers(), [](const Process& p) { return *p.rank == 3 ? "99" : std::to_string(*p.rank); });
  EXPECT_EQ(folded.size(), 8);
  EXPECT_FALSE(folded[0].rule);
}

TEST(FoldedTexts, ShowNoFormulaForOnlyTwoPoints) {
  const auto folded = Fold(Workers(2), [](const Process& p) { return *p.rank == 0 ? "40" : "47"; });
  EXPECT_EQ(folded.size(), 2);
}

TEST(FoldedTexts, GroupEqualTextsWithoutAFormula) {
  const auto folded = Fold(Workers(), [](const Process& p) { return *p.rank < 4 || *p.rank == 7 ? "a" : "b"; });
  ASSERT_EQ(folded.size(), 2);
  EXPECT_EQ(ProcessesText(Workers(), folded[0].processes), "worker 0-3,7");
  EXPECT_EQ(ProcessesText(Workers(), folded[1].processes), "worker 4-6");
}

TEST(FoldedTexts, IgnoreNumbersThatDoNotRoundTrip) {
  const auto folded = Fold(Workers(3), [](const Process& p) { return "00" + std::to_string(*p.rank); });
  EXPECT_EQ(folded.size(), 3) << "007 is not a number";
}

TEST(FoldedTexts, NameARolesOnlyProcessByItsRole) {
  const std::vector<std::uint32_t> first = {0};
  EXPECT_EQ(ProcessesText(Workers(1), first), "worker");
  EXPECT_EQ(ProcessesText(Workers(2), first), "worker 0");
}

TEST(FoldedTexts, CountProcessesInsteadOfALongList) {
  EXPECT_EQ(ShortProcessesText("worker 0-3,7"), "worker 0-3,7");
  EXPECT_EQ(ShortProcessesText("worker"), "worker");
  EXPECT_EQ(ShortProcessesText("worker 1,3,5,7,9,11-13"), "8 of worker 1-13");
}

}  // namespace
}  // namespace muster
