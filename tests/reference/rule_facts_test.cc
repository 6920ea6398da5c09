// Tests which rules an attribute's page lists, and their wording.
#include <set>

#include <gtest/gtest.h>

#include "reference/attribute_page.h"
#include "reference/own_reference.h"
#include "settings/schema/schema.h"

namespace muster {
namespace {

const std::vector<Release>& AllReleases() {
  static const std::vector<Release> releases = DescribedReleases(OwnSchemaForTests());
  return releases;
}

// Of the setters and of the functions with parameters.
std::vector<AttributeHistory> AllHistories() {
  std::vector<AttributeHistory> all;
  std::vector<std::string> functions = OwnSchemaForTests().Functions();
  for (const auto& [name, unused] : OwnSchemaForTests().calls()) functions.push_back(name);
  for (const std::string& function : functions) {
    for (AttributeHistory& history : Histories(OwnSchemaForTests(), function, AllReleases()))
      all.push_back(std::move(history));
  }
  return all;
}

RuleIndex OwnRules() { return {OwnSchemaForTests(), AllHistories(), AllReleases()}; }

Rule RuleOf(const Value::Map& fields) {
  Value::Map record = {{"1", Value("name")},
                       {"kind", Value("conflict")},
                       {"about", Value("set_context.a")},
                       {"source", Value(Value::Map{{"document", Value("a page")}})}};
  for (const auto& [name, value] : fields) record[name] = value;
  auto rule = RuleFromValue(Value(record), {});
  if (!rule) ADD_FAILURE() << rule.error().front().message;
  return rule ? *rule : Rule();
}

std::string LineOf(const Rule& rule) {
  const std::vector<std::string> lines = RuleLines({&rule}, AllReleases());
  return lines.size() == 1 ? lines.front() : "";
}

TEST(Rules, AreAllListed) {
  const RuleIndex index = OwnRules();
  EXPECT_EQ(index.all().size(), OwnSchemaForTests().rules().size());
  std::set<const Rule*> reported;
  for (const std::string& function : OwnSchemaForTests().Functions()) {
    for (const Rule* rule : index.Naming(function)) reported.insert(rule);
  }
  for (const AttributeHistory& history : AllHistories()) {
    for (const Rule* rule : index.Naming(KeyOf(history.function, history.path))) reported.insert(rule);
  }
  EXPECT_EQ(reported.size(), index.all().size());
}

TEST(Rules, AreListedForAllAttributesTheyName) {
  const RuleIndex index = OwnRules();
  EXPECT_TRUE(index.Naming("set_context.jit_config").empty()) << "those are its sub-keys'";
  EXPECT_EQ(index.Naming("set_context.jit_config.infer_boost").size(), 1U);
  EXPECT_EQ(index.NamedBelow("set_context.jit_config"),
            (std::vector<std::string>{"set_context.jit_config.infer_boost", "set_context.jit_config.jit_level"}));
  EXPECT_EQ(index.Naming("set_context.graph_kernel_flags").size(), 2U) << "an option in its text has no page";
  EXPECT_EQ(index.Naming("set_auto_parallel_context").size(), 1U) << "one that blames the whole function";
  EXPECT_FALSE(index.Naming("set_ps_context.enable_ps").empty()) << "an exception is named as well";
}

TEST(Rules, OfOneReleaseAreThoseThatApply) {
  const std::vector<Release> one = {*ParseRelease("0.3.1")};
  const RuleIndex index(OwnSchemaForTests(), AllHistories(), one);
  EXPECT_LT(index.all().size(), OwnRules().all().size());
  for (const Rule* rule : index.all()) EXPECT_TRUE(rule->HoldsIn(one.front())) << rule->name;
}

TEST(Rules, DescribeTheirConditions) {
  const Value::Map when = {
      {"set_context.a", Value(true)},
      {"set_context.b", Value(Value::Map{{"above", Value(3)}})},
      {"set_context.c", Value(Value::Map{{"none_of", Value(Value::List{Value("x"), Value("y")})}})},
      {"job.workers", Value(Value::Map{{"above", Value(1)}})},
  };
  const Rule rule =
      RuleOf({{"when", Value(when)},
              {"unless", Value(Value::Map{{"set_context.d", Value(0)}})},
              {"says", Value("{a} with {b}, {c} and {workers} workers in {release}, as {release} says")}});
  EXPECT_EQ(LineOf(rule),
            "warning: `a = true` with `b` above 3, `c` other than `\"x\"` or `\"y\"` and more than 1 workers, as "
            "MindSpore says (not with `d = 0`; a page)");
}

TEST(Rules, DescribeTheirScopeAndEffect) {
  const Rule rule = RuleOf({{"when", Value(Value::Map{{"set_context.a", Value(1)}})},
                            {"says", Value("{a} fails")},
                            {"refused", Value(true)},
                            {"since", Value("1.6")},
                            {"until", Value("1.9")},
                            {"source", Value(Value::Map{{"behaviour", Value("ends")}})}});
  EXPECT_EQ(LineOf(rule), "error in 1.6.2 to 1.9.0: `a = 1` fails (MindSpore ends)");
}

TEST(Rules, ThatDifferInTheLastValueAreOneLine) {
  std::vector<Rule> rules;
  for (const char* other : {"b", "c", "d"}) {
    const std::string path = std::string("set_context.a.") + other;
    rules.push_back(RuleOf({{"when", Value(Value::Map{{"set_context.a.x", Value(Value::Map{{"set", Value(true)}})},
                                                      {path, Value(Value::Map{{"set", Value(true)}})}})},
                            {"says", Value("{x} is overruled by {" + std::string(other) + "}")}}));
  }
  Rules all;
  for (const Rule& rule : rules) all.push_back(&rule);
  EXPECT_EQ(RuleLines(all, AllReleases()),
            std::vector<std::string>{"warning: `x` is overruled by `b`, `c` or `d` (a page)"})
      << "and the table that all of it lies in is not repeated";
}

TEST(Rules, AreFieldsInJson) {
  const Rule rule = RuleOf({{"when", Value(Value::Map{{"set_context.a", Value(Value::Map{{"set", Value(true)}})}})},
                            {"says", Value("{a} in {release}")},
                            {"until", Value("1.0")}});
  EXPECT_EQ(RuleData(rule, AllReleases()),
            Value(Value::Map{
                {"name", Value("name")},
                {"kind", Value("conflict")},
                {"severity", Value("warning")},
                {"about", Value("set_context.a")},
                {"says", Value("`a`")},
                {"hint", Value()},
                {"when", Value(Value::Map{{"set_context.a", Value(Value::Map{{"set", Value(true)}})}})},
                {"unless", Value(Value::Map{})},
                {"releases", Value(Value::List{Value("0.3.1"), Value("1.0.1")})},
                {"document", Value("a page")},
                {"behaviour", Value()},
            }));
}

}  // namespace
}  // namespace muster
