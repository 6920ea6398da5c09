// Tests explanations, with plans computed in this file instead of by an evaluator.
#include "explain/explain.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace muster {
namespace {

const Place kDivided{"r.lua", 9};

// A job of four parameters: `per` = total / parts, refused unless it divides evenly. Two workers get SHARE = index ×
// per; `twins` tells which of two equal numbers was used.
Result<Evaluation> Plan(const std::vector<Override>& more) {
  std::map<std::string, std::int64_t> p = {{"idle", 5}, {"parts", 2}, {"total", 12}, {"twin", 2}, {"workers", 3}};
  for (const Override& override : more) p[override.name] = *override.value.AsInt();
  if (p["total"] % p["parts"] != 0) return Fail(Error("division", kDivided, "parts does not divide total"));
  const std::int64_t per = p["total"] / p["parts"];
  Evaluation evaluation;
  evaluation.name = "t";
  muster::Plan& plan = evaluation.plan;
  plan.framework = "none";
  plan.hosts.push_back({"host0", 4});
  for (const auto& [name, value] : p) {
    ParameterState state;
    state.parameter.name = name;
    state.parameter.type = ParameterType::kInt;
    state.parameter.min = 1;
    state.parameter.place = {"r.lua", 3};
    state.value = Value(value);
    evaluation.parameters.push_back(state);
    plan.params[name] = Value(value);
  }
  plan.derived["per"] = Value(per);
  evaluation.origins.derived["per"] = kDivided;
  evaluation.origins.divisions.push_back({kDivided, "all", p["total"], {{"pieces", p["parts"]}}, per});
  evaluation.origins.roles["worker"] = {"r.lua", 20};
  plan.roles.push_back({});
  plan.roles[0].name = "worker";
  plan.roles[0].plays = "worker";
  plan.roles[0].command = {"train", "--twin", std::to_string(p["twin"])};
  evaluation.provenance["worker"]["SHARE"] = {Layer::kEach, {"r.lua", 30}};
  for (std::int64_t i = 0; i < p["workers"]; ++i) {
    Process process;
    process.index = process.rank.emplace(static_cast<std::uint32_t>(i));
    process.env["SHARE"] = std::to_string(i * per);
    plan.processes.push_back(process);
  }
  return evaluation;
}

Explanation Explained(const std::string& name, ProcessFilter processes = {}) {
  auto explanation =
      Explain({name, std::move(processes)}, nullptr,
              [](const std::vector<Override>& more, const std::string&, EvaluationDepth) { return Plan(more); });
  EXPECT_TRUE(explanation) << (explanation ? "" : explanation.error().front().message);
  return explanation ? *explanation : Explanation();
}

std::vector<std::string> Names(const Explanation& explanation, Dependence::Kind kind) {
  std::vector<std::string> names;
  for (const Dependence& one : explanation.dependences) {
    if (one.kind == kind) names.push_back(one.name);
  }
  return names;
}

using Strings = std::vector<std::string>;

TEST(Explain, NamesTheParametersThatADerivedValueDependsOn) {
  const Explanation explanation = Explained("per");
  EXPECT_EQ(explanation.formula, "all 12 / pieces 2");
  EXPECT_EQ(Names(explanation, Dependence::Kind::kChanges), (Strings{"parts", "total"}));
  EXPECT_EQ(Names(explanation, Dependence::Kind::kNone), (Strings{"idle", "twin", "workers"}));
}

TEST(Explain, IdentifiesAnAliasOfAParameterByItsValues) {
  const Explanation explanation = Explained("per");
  ASSERT_EQ(explanation.chain.size(), 2);
  EXPECT_EQ(explanation.chain[0].name, "all = total");
  EXPECT_EQ(explanation.chain[1].name, "pieces = parts") << "twin is 2 as well, but did not change with it";
  EXPECT_EQ(explanation.chain[1].source, "default");
}

TEST(Explain, NamesTheParameterOfACommandWord) {
  const Explanation explanation = Explained("command:--twin");
  ASSERT_EQ(explanation.values.size(), 1);
  EXPECT_EQ(explanation.values[0].text, "--twin 2");
  ASSERT_EQ(explanation.chain.size(), 1);
  EXPECT_EQ(explanation.chain[0].name, "twin");
}

TEST(Explain, FoldsAVariableAndKeepsItsSource) {
  const Explanation explanation = Explained("SHARE");
  ASSERT_EQ(explanation.values.size(), 1);
  EXPECT_EQ(explanation.values[0].text, "{rank × 6}");
  EXPECT_EQ(explanation.values[0].processes, "worker 0-2");
  EXPECT_EQ(explanation.values[0].source, "each");
  EXPECT_EQ(explanation.values[0].place.line, 30);
  EXPECT_EQ(Names(explanation, Dependence::Kind::kChanges), (Strings{"parts", "total"}));
  EXPECT_EQ(Names(explanation, Dependence::Kind::kProcesses), Strings{"workers"});
  ASSERT_FALSE(explanation.chain.empty());
  EXPECT_EQ(explanation.chain[0].name, "per");
}

TEST(Explain, ExplainsOneRankOnly) {
  ProcessFilter rank;
  rank.rank = 0;
  const Explanation explanation = Explained("SHARE", rank);
  ASSERT_EQ(explanation.values.size(), 1);
  EXPECT_EQ(explanation.values[0].text, "0");
  EXPECT_EQ(Names(explanation, Dependence::Kind::kChanges), Strings()) << "nothing changes zero";
}

TEST(Explain, ListsWhatAParameterChanges) {
  const Explanation explanation = Explained("parts");
  Strings led;
  for (const PlanChange& change : explanation.leads_to) led.push_back(change.name);
  EXPECT_EQ(led, (Strings{"per", "SHARE"}));
  EXPECT_EQ(explanation.own.kind, Dependence::Kind::kChanges);
}

TEST(Explain, ReportsAParameterWithoutEffect) {
  const Explanation explanation = Explained("idle");
  EXPECT_EQ(explanation.own.kind, Dependence::Kind::kNone);
  EXPECT_NE(ExplanationText(explanation).find("nothing: other values give the same plan"), std::string::npos);
}

TEST(Explain, FindsThePossibleNumbersAndWhatRefusesTheOthers) {
  const Explanation explanation = Explained("parts");
  ASSERT_TRUE(explanation.possible);
  EXPECT_EQ(explanation.possible->numbers, (std::vector<std::int64_t>{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(explanation.possible->refusals, (std::vector<Refusal>{{"r.lua:9", 58}}));
}

TEST(Explain, ReportsParametersThatCouldNotBeVaried) {
  auto explanation =
      Explain({"per", {}}, nullptr, [](const std::vector<Override>& more, const std::string&, EvaluationDepth) {
        if (!more.empty() && more.back().name == "workers") {
          return Result<Evaluation>(Fail(Error("check", {"r.lua", 40}, "always three")));
        }
        return Plan(more);
      });
  ASSERT_TRUE(explanation);
  EXPECT_EQ(Names(*explanation, Dependence::Kind::kUntried), Strings{"workers"});
  EXPECT_NE(
      ExplanationText(*explanation).find("workers: no other value that was tried gives a plan: r.lua:40: always three"),
      std::string::npos)
      << ExplanationText(*explanation);
}

TEST(Explain, SuggestsTheNearestNameForAnUnknownOne) {
  const auto explanation =
      Explain({"SHAER", {}}, nullptr,
              [](const std::vector<Override>& more, const std::string&, EvaluationDepth) { return Plan(more); });
  ASSERT_FALSE(explanation);
  EXPECT_EQ(explanation.error().front().kind, "unknown_name");
  EXPECT_EQ(explanation.error().front().hint, "did you mean \"SHARE\"?");
}

TEST(Explain, FailsIfTheMachineFailsBetweenItsPlans) {
  int plans = 0;
  const auto plan_again = [&](const std::vector<Override>& more, const std::string&,
                              EvaluationDepth) -> Result<Evaluation> {
    if (++plans == 3) return Fail(MachineError("evaluator", "the evaluator ended without an answer"));
    return Plan(more);
  };
  const auto explanation = Explain({"per", {}}, nullptr, plan_again);
  ASSERT_FALSE(explanation) << "a parameter would be listed as one whose values are refused";
  EXPECT_EQ(explanation.error().front().kind, "evaluator");
}

TEST(Explain, ListsTheMeaningsOfAnAmbiguousName) {
  const auto plan_again = [](const std::vector<Override>& more, const std::string&, EvaluationDepth) {
    auto evaluation = Plan(more);
    if (evaluation) {
      ContextValues& context = evaluation->plan.roles[0].context;
      context["set_context.mode"] = Value(0);
      context["set_context.total"] = Value(1);
      context["set_ps_context.mode"] = Value(1);
    }
    return evaluation;
  };
  const auto ambiguous = Explain({"mode", {}}, nullptr, plan_again);
  ASSERT_FALSE(ambiguous);
  EXPECT_EQ(ambiguous.error().front().kind, "ambiguous_name");
  EXPECT_EQ(ambiguous.error().front().hint,
            "name one of them: attribute:set_context.mode, attribute:set_ps_context.mode");
  const auto first = Explain({"total", {}}, nullptr, plan_again);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->subject.kind, SubjectKind::kParameter);
  EXPECT_EQ(first->also, (std::vector<Subject>{{SubjectKind::kAttribute, "set_context.total"}}));
  const auto chosen = Explain({"attribute:total", {}}, nullptr, plan_again);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->subject.kind, SubjectKind::kAttribute);
}

}  // namespace
}  // namespace muster
