// Tests valid and invalid values for every attribute of every release: the tables in cases/values_*.txt.
#include <set>

#include <gtest/gtest.h>

#include "settings/case_file.h"
#include "settings/real_schema.h"

namespace muster {
namespace {

// What a "kind: part" outcome asks of the diagnostics of one severity.
void ExpectSaid(const Case& test, const std::string& outcome, Severity severity, const Diagnostics& diagnostics) {
  const std::size_t colon = outcome.find(": ");
  ASSERT_NE(colon, std::string::npos) << test.where;
  const std::string kind = outcome.substr(0, colon);
  const std::string part = outcome.substr(colon + 2);
  std::size_t found = 0;
  for (const Diagnostic& each : diagnostics) {
    if (each.severity != severity || each.kind != kind || each.message.find(part) == std::string::npos) continue;
    ++found;
    EXPECT_EQ(each.place, At(9)) << test.where;
    EXPECT_NE(each.message.find(test.attribute), std::string::npos) << test.where << Shown(diagnostics);
    if (each.message.find("MindSpore ") != std::string::npos) {
      EXPECT_NE(each.message.find("MindSpore " + ReleaseText(test.release)), std::string::npos)
          << test.where << Shown(diagnostics);
    }
  }
  EXPECT_EQ(found, 1U) << test.where << Shown(diagnostics);
}

void Check(const Case& test) {
  Context context = Prepared(test);
  const auto before = context.Settled();
  const Diagnostics diagnostics = context.Apply(test.api, {{test.attribute, LuaValue(test.value)}}, At(9));
  if (test.outcome == "ok") {
    EXPECT_TRUE(diagnostics.empty()) << test.where << Shown(diagnostics);
    EXPECT_TRUE(context.Settled().contains(test.api + "." + test.attribute)) << test.where;
  } else if (test.outcome.starts_with("warn ")) {
    EXPECT_FALSE(HasErrors(diagnostics)) << test.where << Shown(diagnostics);
    ExpectSaid(test, test.outcome.substr(5), Severity::kWarning, diagnostics);
  } else {
    std::size_t errors = 0;
    for (const Diagnostic& each : diagnostics) errors += each.severity == Severity::kError ? 1 : 0;
    EXPECT_EQ(errors, 1U) << test.where << Shown(diagnostics);
    ExpectSaid(test, test.outcome, Severity::kError, diagnostics);
    EXPECT_EQ(context.Settled(), before) << test.where;
  }
}

void CheckFile(const std::string& file, std::size_t at_least) {
  const std::vector<Case> cases = ReadCases(file);
  EXPECT_GE(cases.size(), at_least);
  for (const Case& test : cases) Check(test);
}

TEST(Values, OfSetContextAreTakenAndRefusedAsTheReleaseDoes) { CheckFile("values_context.txt", 2000); }
TEST(Values, OfSetContextAreTakenAndRefusedAsReleasesFrom25Do) { CheckFile("values_context_from_25.txt", 1000); }
TEST(Values, OfSetAutoParallelContextAreTakenAndRefusedAsTheReleaseDoes) {
  CheckFile("values_auto_parallel.txt", 1200);
}
TEST(Values, OfSetAutoParallelContextAreTakenAndRefusedAsReleasesFrom25Do) {
  CheckFile("values_auto_parallel_from_25.txt", 700);
}
TEST(Values, OfSetPsContextAreTakenAndRefusedAsTheReleaseDoes) { CheckFile("values_ps.txt", 450); }
TEST(Values, OfSetPsContextAreTakenAndRefusedAsReleasesFrom25Do) { CheckFile("values_ps_from_25.txt", 200); }
TEST(Values, OfNestedTablesAreTakenAndRefusedAsTheReleaseDoes) { CheckFile("values_nested.txt", 850); }
TEST(Values, OfNestedTablesAreTakenAndRefusedAsReleasesFrom25Do) { CheckFile("values_nested_from_25.txt", 700); }

// The tables leave no attribute and no sub-key out: each is set by a case that is taken and by one that is refused.
TEST(Values, AreGivenForEveryAttributeOfEveryRelease) {
  std::set<std::string> taken;
  std::set<std::string> refused;
  for (const char* file : {"values_context.txt", "values_auto_parallel.txt", "values_ps.txt", "values_nested.txt",
                           "values_context_from_25.txt", "values_auto_parallel_from_25.txt", "values_ps_from_25.txt",
                           "values_nested_from_25.txt"}) {
    for (const Case& test : ReadCases(file)) {
      const bool is_taken = test.outcome == "ok" || test.outcome.starts_with("warn ");
      const bool skipped = test.outcome.starts_with("warn wrong_device");
      if (skipped) continue;
      const std::string key = ReleaseText(test.release) + " " + test.api + " " + test.attribute;
      (is_taken ? taken : refused).insert(key);
      const Value value = LuaValue(test.value);
      // A list of layouts has their sub-keys.
      for (const Value& table : value.AsList() == nullptr ? Value::List{value} : *value.AsList()) {
        if (table.AsMap() == nullptr) continue;
        for (const auto& [sub_key, unused] : *table.AsMap()) (is_taken ? taken : refused).insert(key + "." + sub_key);
      }
    }
  }
  for (const ReleaseFacts& facts : RealSchema().releases()) {
    for (const std::string& api : RealSchema().Functions()) {
      for (const std::string& name : RealSchema().Names(api, facts.release)) {
        const Attribute& attribute = *RealSchema().Find(api, name, facts.release);
        const std::string key = ReleaseText(facts.release) + " " + api + " " + name;
        EXPECT_TRUE(taken.contains(key) || !attribute.tells_if_set.empty()) << key << " has no value that is taken";
        EXPECT_TRUE(refused.contains(key)) << key << " has no value that is refused";
        for (const Attribute& sub : attribute.keys) {
          if (!sub.ExistsIn(facts.release)) continue;
          EXPECT_TRUE(taken.contains(key + "." + sub.name)) << key << "." << sub.name << " has no value that is taken";
          EXPECT_TRUE(refused.contains(key + "." + sub.name)) << key << "." << sub.name << " has no value refused";
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster
