// Tests files with rules of verdicts.
#include "run/supervise/verdict_rules.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

std::vector<std::string> NamesIn(const std::string& text) {
  const auto rules = VerdictRulesFromJson(text, "rules.json");
  std::vector<std::string> names;
  if (!rules) {
    for (const Diagnostic& problem : rules.error()) names.push_back("wrong: " + problem.message);
    return names;
  }
  for (const VerdictRule& rule : *rules) names.push_back(rule.name);
  return names;
}

using RuleNames = std::vector<std::string>;

TEST(VerdictRules, AddToTheRulesOfMusterAndReorderThem) {
  RuleNames known;
  for (const VerdictRule& rule : DefaultVerdictRules()) known.push_back(rule.name);
  EXPECT_EQ(NamesIn(R"(["..."])"), known);
  RuleNames first = {"progress"};
  for (const std::string& name : known) {
    if (name != "progress") first.push_back(name);
  }
  EXPECT_EQ(NamesIn(R"(["progress", "..."])"), first);
  known.insert(known.begin(), "bad memory");
  EXPECT_EQ(NamesIn(R"([{"name": "bad memory", "verdict": "exclude_host", "mentions": "ECC", "because": "x"}, "..."])"),
            known);
  EXPECT_EQ(NamesIn(R"(["progress"])"), RuleNames{"progress"}) << "without the dots the others are left out";
}

TEST(VerdictRules, HaveAllConditions) {
  const auto rules = VerdictRulesFromJson(
      R"([{"name": "n", "verdict": "stop", "classes": ["exit"], "same": ["fingerprint", "step", "host", "shape"],
           "was_ready": false, "progress": true, "since_progress": true, "in_a_row": true, "elsewhere": true, "times": 3,
           "mentions": "m", "because": "b"}])",
      "rules.json");
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->front(), (VerdictRule{.name = "n",
                                         .verdict = RestartVerdict::kStop,
                                         .classes = {"exit"},
                                         .mentions = "m",
                                         .was_ready = false,
                                         .progress = true,
                                         .same_fingerprint = true,
                                         .same_step = true,
                                         .same_host = true,
                                         .same_shape = true,
                                         .since_progress = true,
                                         .in_a_row = true,
                                         .times = 3,
                                         .elsewhere = true,
                                         .because = "b"}));
}

TEST(VerdictRules, AreRefusedWithWhatIsWrong) {
  EXPECT_EQ(NamesIn("{}"), RuleNames{"wrong: the file must be a list of 1 to 200 rules"});
  EXPECT_EQ(NamesIn(R"(["progres"])"), RuleNames{"wrong: muster has no rule \"progres\""});
  EXPECT_EQ(NamesIn(R"(["progress", "progress"])"), RuleNames{"wrong: there are two rules \"progress\""});
  EXPECT_EQ(NamesIn("[7]"), RuleNames{"wrong: 7 is no rule"});
  EXPECT_EQ(
      NamesIn(R"([{"name": "n", "verdict": "halt", "because": "b", "tmes": 2, "times": 0}])"),
      (RuleNames{"wrong: \"times\" of rule 1 must be a whole number from 1 to 100, got 0",
                 "wrong: \"tmes\" of rule 1 is not known",
                 "wrong: \"verdict\" of rule 1 must be \"restart\", \"stop\" or \"exclude_host\", got \"halt\""}));
  EXPECT_EQ(NamesIn(R"([{"name": "n"}])"), RuleNames{"wrong: rule 1 needs name, verdict and because"});
  EXPECT_EQ(NamesIn(R"([{"name": "n", "verdict": "stop", "because": "b", "classes": ["exitt"]}])"),
            RuleNames{"wrong: \"classes\" of rule 1: there is no class \"exitt\""});
  EXPECT_EQ(NamesIn(R"([{"name": "n", "verdict": "stop", "because": "b", "classes": []}])"),
            RuleNames{"wrong: \"classes\" of rule 1 has no class: leave it out for all"});
  EXPECT_EQ(NamesIn(R"([{"name": "n", "verdict": "stop", "because": "on {node}", "classes": ["exit"]}])"),
            RuleNames{"wrong: \"because\" of rule 1 has \"{node}\", which nothing replaces"});
  EXPECT_EQ(NamesIn(R"(["...", "progress", "..."])"), RuleNames{"wrong: \"...\" is there twice"});
  EXPECT_EQ(NamesIn("["), RuleNames{"wrong: not valid JSON at column 1"});
}

TEST(VerdictRules, ThatCannotApplyAreRefusedWithTheReason) {
  const auto first = [](const std::string& text) {
    const auto rules = VerdictRulesFromJson(text, "rules.json");
    return rules ? std::string() : rules.error().front().message + "; " + rules.error().front().hint;
  };
  constexpr const char* kWhy = "leave it out: an allocation that ends stops the run, which is no failure";
  EXPECT_EQ(first(R"(["end of the allocation", "..."])"),
            std::string("muster has no rule \"end of the allocation\"; ") + kWhy);
  EXPECT_EQ(first(R"([{"name": "n", "verdict": "stop", "because": "b", "classes": ["exit", "engine"]}])"),
            std::string("\"classes\" of rule 1: there is no class \"engine\"; ") + kWhy);
  EXPECT_EQ(first(R"(["...", "none"])"),
            "\"none\" stands for no rule, where none applies: the verdict is \"restart\" then; leave it out");
  for (const std::string name : {"none", "..."}) {
    EXPECT_EQ(first(R"([{"name": ")" + name + R"(", "verdict": "stop", "because": "b"}])"),
              "rule 1 cannot have the name \"" + name + "\"; give it another one");
  }
}

TEST(VerdictRules, AreRefusedAtTheirLines) {
  const auto places = [](const std::string& text) {
    std::vector<std::string> found;
    const auto rules = VerdictRulesFromJson(text, "rules.json");
    if (rules) return found;
    for (const Diagnostic& problem : rules.error()) {
      found.push_back(problem.place.file + ":" + std::to_string(problem.place.line) + " " + problem.message);
    }
    return found;
  };
  EXPECT_EQ(places("\n{}"), RuleNames{"rules.json:1 the file must be a list of 1 to 200 rules"});
  EXPECT_EQ(places("[\"progress\",\n  \"...\",\n]"), RuleNames{"rules.json:3 not valid JSON at column 1"});
  EXPECT_EQ(
      places(R"([
  {"name": "n",
   "verdict": "stop",
   "classes": ["exit",
               "exitt"],
   "tmes": 2,
   "because": "on {node}"},
  "progres",
  7
  , {"name": "m",
     "because": "b"},
  "...",
  "progress", "..."
])"),
      (RuleNames{"rules.json:4 \"classes\" of rule 1: there is no class \"exitt\"",
                 "rules.json:6 \"tmes\" of rule 1 is not known",
                 "rules.json:7 \"because\" of rule 1 has \"{node}\", which nothing replaces",
                 "rules.json:8 muster has no rule \"progres\"", "rules.json:9 7 is no rule",
                 "rules.json:10 rule 4 needs name, verdict and because", "rules.json:13 \"...\" is there twice"}));
}

}  // namespace
}  // namespace muster
