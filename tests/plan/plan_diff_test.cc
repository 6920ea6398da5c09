#include "plan/text/plan_diff.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "plan/plan/roles.h"
#include "plan/sample_plan.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

using Kind = PlanChange::Kind;

const PlanChange* Find(const std::vector<PlanChange>& changes, Kind kind, const std::string& name) {
  const auto found = std::find_if(changes.begin(), changes.end(),
                                  [&](const PlanChange& change) { return change.kind == kind && change.name == name; });
  return found == changes.end() ? nullptr : &*found;
}

TEST(PlanDiff, FindsNothingBetweenAPlanAndItself) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    Plan plan = RandomPlan(random);
    Plan other = Unfolded(plan, random);
    Fold(plan);
    Fold(other);
    EXPECT_EQ(DiffPlans(plan, other), std::vector<PlanChange>()) << PlanText(plan);
  }
}

// Every change of a plan's id must be reported as a difference.
TEST(PlanDiff, FindsADifferenceWheneverIdsDiffer) {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    Plan a = RandomPlan(random);
    Plan b = RandomPlan(random);
    Fold(a);
    Fold(b);
    ASSERT_NE(PlanId(a), PlanId(b));
    EXPECT_FALSE(DiffPlans(a, b).empty()) << PlanText(a) << PlanText(b);
  }
}

TEST(PlanDiff, FindsEveryKindOfChange) {
  const Plan plan = ParameterServerPlan();
  const auto changed = [&](auto change) {
    Plan other = plan;
    change(other);
    Fold(other);
    EXPECT_NE(PlanId(other), PlanId(plan));
    return DiffPlans(plan, other);
  };
  EXPECT_NE(Find(changed([](Plan& p) { p.framework = "torch"; }), Kind::kPlan, "plan framework"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.time_limit_ms = 5; }), Kind::kPlan, "plan time"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.hosts[0].devices = 9; }), Kind::kHosts, "devices of each host"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.files["a.txt"].content = "x\n"; }), Kind::kFile, "a.txt"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.roles[0].stop.signal = "INT"; }), Kind::kRole, "stop"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.roles[0].unset.push_back("X"); }), Kind::kRole, "unset"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.roles[0].env["NEW"] = "1"; }), Kind::kVariable, "NEW"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.roles[0].cwd = "/elsewhere"; }), Kind::kFolder, "cwd"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.roles[0].command.emplace_back("more"); }), Kind::kCommand, "command"),
            nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.roles[0].command[0] = "other"; }), Kind::kCommand, "command[0]"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.processes.pop_back(); }), Kind::kRole, "processes"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.processes[0].devices = {3}; }), Kind::kPlace, "devices"), nullptr);
  EXPECT_NE(Find(changed([](Plan& p) { p.ports["scheduler"].number = 7; }), Kind::kPlan, "port scheduler"), nullptr);
}

// Prevents: only the first differing line of a generated file is shown.
TEST(PlanDiff, HasAllChangedLinesOfAFile) {
  Plan a = ParameterServerPlan();
  a.files["conf.txt"].content = "a\nb\nc\nd\ne\nf\ng\nh\n";
  Plan b = a;
  b.files["conf.txt"].content = "a\nB\nc\nd\ne\nf\ng\nH\ni\n";
  const auto changes = DiffPlans(a, b);
  const PlanChange* change = Find(changes, Kind::kFile, "conf.txt");
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->lines, (std::vector<std::string>{"@@ -1,8 +1,9 @@", " a", "-b", "+B", " c", " d", " e", " f", " g",
                                                     "-h", "+H", "+i"}));
  PlanDifference diff;
  diff.a = {"a", "1"};
  diff.b = {"b", "2"};
  diff.changes = changes;
  EXPECT_NE(DiffText(diff).find("conf.txt  2 lines removed, 3 added\n    @@ -1,8 +1,9 @@\n     a\n    -b\n    +B\n"),
            std::string::npos)
      << DiffText(diff);
  EXPECT_NE(DiffText(diff).find("    -h\n    +H\n    +i\n"), std::string::npos) << DiffText(diff);
  EXPECT_NE(DiffJson(diff).find("\"+i\""), std::string::npos) << DiffJson(diff);
}

TEST(PlanDiff, NamesAWordByTheFlagBeforeIt) {
  Plan a = ParameterServerPlan();
  a.roles[2].command = {"train", "--lr", "0.1"};
  Plan b = a;
  b.roles[2].command[2] = "0.2";
  const std::vector<PlanChange> changes = DiffPlans(a, b);
  ASSERT_EQ(changes.size(), 1);
  EXPECT_EQ(changes[0].name, "--lr");
  ASSERT_EQ(changes[0].texts.size(), 1);
  EXPECT_EQ(changes[0].texts[0].processes, "worker 0-3");
  EXPECT_EQ(changes[0].texts[0].before, "0.1");
  EXPECT_EQ(changes[0].texts[0].after, "0.2");
}

TEST(PlanDiff, FoldsValuesOfSingleProcesses) {
  Plan a = ParameterServerPlan();
  Plan b = a;
  for (Process& process : a.processes) {
    if (process.role == 2) process.env["FIRST"] = std::to_string(process.index);
  }
  for (Process& process : b.processes) {
    if (process.role == 2) process.env["FIRST"] = std::to_string(process.index * 2);
  }
  const std::vector<PlanChange> changes = DiffPlans(a, b);
  ASSERT_EQ(changes.size(), 1);
  ASSERT_EQ(changes[0].texts.size(), 1);
  EXPECT_EQ(changes[0].texts[0].processes, "worker 1-3") << "that of rank 0 is the same";
  EXPECT_EQ(changes[0].texts[0].before, "{rank}");
  EXPECT_EQ(changes[0].texts[0].after, "{rank × 2}");
}

TEST(PlanDiff, ComparesTwoProcessesOfOnePlan) {
  const Plan plan = ParameterServerPlan();
  EXPECT_TRUE(DiffProcesses(plan, 4, 4).empty());
  const std::vector<PlanChange> changes = DiffProcesses(plan, 4, 5);
  const PlanChange* rank = Find(changes, Kind::kPlace, "rank");
  ASSERT_NE(rank, nullptr);
  EXPECT_EQ(rank->texts[0].before, "1");
  EXPECT_EQ(rank->texts[0].after, "2");
  EXPECT_EQ(rank->texts[0].processes, "");
}

// Thousands of processes with differing values must be compared within a test's ordinary time limit.
TEST(PlanDiff, ComparesThousandsOfProcesses) {
  Plan a = ParameterServerPlan();
  a.processes.resize(3);
  for (std::uint32_t i = 0; i < 4'096; ++i) {
    Process process;
    process.role = 2;
    process.index = process.rank.emplace(i);
    for (int v = 0; v < 20; ++v) process.env["OWN_" + std::to_string(v)] = std::to_string(i * 7 + 3);
    a.processes.push_back(process);
  }
  Plan b = a;
  for (Process& process : b.processes) {
    for (auto& [name, text] : process.env) text.marked += "x" + std::to_string(process.index % 5);
  }
  const std::vector<PlanChange> changes = DiffPlans(a, b);
  EXPECT_EQ(changes.size(), 20);
}

PlanChange Change(Kind kind, const std::string& name) { return {kind, "", name, {}}; }

TEST(PlanDiff, AttributesEveryChangeToItsSingleCause) {
  const std::vector<PlanChange> changes = {Change(Kind::kDerived, "a"), Change(Kind::kDerived, "b"),
                                           Change(Kind::kDerived, "ab"), Change(Kind::kDerived, "odd")};
  std::vector<PlanCause> causes(2);
  causes[0].name = "x";
  causes[0].alone = {{changes[0], changes[2]}};
  causes[1].name = "y";
  causes[1].alone = {{changes[1], changes[2]}};
  EXPECT_EQ(
      GroupByCause(changes, causes),
      (std::vector<CausedChanges>{{{0}, {0}, false}, {{1}, {1}, false}, {{0, 1}, {2}, false}, {{0, 1}, {3}, true}}));
}

TEST(PlanDiff, AttributesTheRestToCausesThatCouldNotBeTried) {
  const std::vector<PlanChange> changes = {Change(Kind::kDerived, "a"), Change(Kind::kDerived, "b")};
  std::vector<PlanCause> causes(2);
  causes[0].alone = {{changes[0]}};
  causes[1].why_not = "it breaks";
  EXPECT_EQ(GroupByCause(changes, causes), (std::vector<CausedChanges>{{{0}, {0}, false}, {{1}, {1}, false}}));
}

TEST(PlanDiff, AttributesEverythingToASingleCause) {
  const std::vector<PlanChange> changes = {Change(Kind::kDerived, "a"), Change(Kind::kPlan, "b")};
  EXPECT_EQ(GroupByCause(changes, std::vector<PlanCause>(1)), (std::vector<CausedChanges>{{{0}, {0, 1}, false}}));
  EXPECT_EQ(GroupByCause(changes, {}), (std::vector<CausedChanges>{{{}, {0, 1}, false}}));
}

TEST(PlanDiffText, EscapesTerminalControlSequences) {
  PlanDifference diff;
  diff.a = {"a\x1b[31m", "1"};
  diff.b = {"b", "2"};
  PlanChange change = Change(Kind::kVariable, "X");
  change.texts.push_back({"worker 0", {4}, "\x1b]0;title\x07", "\n"});
  diff.changes = {change};
  const std::string text = DiffText(diff);
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
}

}  // namespace
}  // namespace muster
