// Tests the description of attributes: every field of a record, and the releases in which it applies.
#include "reference/attribute_facts.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "lua/state/own_data.h"
#include "reference/own_reference.h"

namespace muster {
namespace {

// Fields described outside the facts: in title, text, list of releases, sub-keys or group.
const std::vector<std::string> kDescribedElsewhere = {"1",     "since", "until", "changed", "doc",
                                                      "group", "area",  "keys",  "keys_of"};

// The source of every rule must be listed together with the rule.
void ExpectEverySourceToReport(const Attribute& attribute) {
  for (const auto& [rule, unused] : attribute.sources) {
    Attribute without = attribute;
    without.sources.erase(rule);
    EXPECT_NE(FactsOf(attribute), FactsOf(without)) << attribute.name << ": nothing tells the source of " << rule;
  }
}

void ExpectEveryFieldDescribed(const Value::Map& record, const std::string& name) {
  const auto whole = AttributesFromValue("set_context", Value(record), {});
  ASSERT_TRUE(whole) << name << ": " << whole.error().front().message;
  for (const Attribute& attribute : *whole) ExpectEverySourceToReport(attribute);
  for (const auto& [field, unused] : record) {
    if (std::find(kDescribedElsewhere.begin(), kDescribedElsewhere.end(), field) != kDescribedElsewhere.end()) continue;
    Value::Map without = record;
    without.erase(field);
    const auto rest = AttributesFromValue("set_context", Value(without), {});
    if (!rest || rest->front() == whole->front()) continue;  // it is required, or has no content
    EXPECT_NE(FactsOf(whole->front()), FactsOf(rest->front())) << name << ": nothing tells its " << field;
  }
  if (const auto keys = record.find("keys"); keys != record.end()) {
    for (const Value& key : *keys->second.AsList())
      ExpectEveryFieldDescribed(*key.AsMap(), name + "." + *key.AsMap()->at("1").AsString());
  }
}

void ExpectEveryFieldDescribed(const Value& record) {
  Value::Map fields = *record.AsMap();
  const std::string name = *fields.at("1").AsString();
  ExpectEveryFieldDescribed(fields, name);
  const auto changed = fields.find("changed");
  if (changed == fields.end()) return;
  const Value::Map changes = *changed->second.AsMap();
  fields.erase("changed");
  for (const auto& [release, change] : changes) {
    // Adds the fields as a change after the first record: they must be described as well.
    Value::Map later = fields;
    for (const auto& [field, value] : *change.AsMap()) later[field] = value;
    if (AttributesFromValue("set_context", Value(later), {})) ExpectEveryFieldDescribed(later, name + " " + release);
  }
}

TEST(Facts, DescribeEveryFieldOfEveryRecord) {
  std::size_t records = 0;
  for (const char* file : {"context", "context_old", "context_native", "device_config", "auto_parallel",
                           "parallel_config", "ps", "files"}) {
    const auto read = OwnData(std::string("muster/schema/") + file + ".lua");
    ASSERT_TRUE(read) << file;
    for (const Value& record : *read->AsList()) {
      ++records;
      ExpectEveryFieldDescribed(record);
    }
  }
  EXPECT_GT(records, 80U);
}

TEST(Facts, ShowEveryFieldOfTheParametersOfFunctions) {
  std::size_t records = 0;
  for (const char* file : {"functions", "parallel"}) {
    const auto read = OwnData(std::string("muster/schema/") + file + ".lua");
    ASSERT_TRUE(read) << file;
    for (const Value& function : *read->AsList()) {
      const Value::List* parameters = function.AsMap()->at("parameters").AsList();
      for (const Value& parameter : parameters == nullptr ? Value::List() : *parameters) {
        ++records;
        ExpectEveryFieldDescribed(parameter);
      }
    }
  }
  EXPECT_GT(records, 40U);
}

AttributeHistory HistoryOf(const std::string& function, const std::string& path) {
  const auto histories = Histories(OwnSchemaForTests(), function, DescribedReleases(OwnSchemaForTests()));
  const auto found =
      std::find_if(histories.begin(), histories.end(), [&](const auto& history) { return history.path == path; });
  if (found == histories.end()) throw std::runtime_error(path);
  return *found;
}

std::vector<std::string> LinesOf(const std::string& function, const std::string& path, const std::string& label) {
  for (const Fact& fact : FactsOf(HistoryOf(function, path), DescribedReleases(OwnSchemaForTests())).facts) {
    if (fact.label == label) return fact.lines;
  }
  return {};
}

using Lines = std::vector<std::string>;

TEST(Facts, ThatNeverChangeAreOneLine) {
  EXPECT_EQ(LinesOf("set_context", "device_id", "range"), Lines{"0 to 4095"});
  EXPECT_EQ(LinesOf("set_context", "device_id", "releases"), Lines{"0.3.1 to 2.7.0"});
}

TEST(Facts, ThatChangeHaveALineForEachSpanOfReleases) {
  EXPECT_EQ(LinesOf("set_context", "mode", "default"),
            (Lines{"0.3.1 to 1.0.1: `1` (`context.PYNATIVE_MODE`)", "1.6.2 to 1.9.0: `0` (`context.GRAPH_MODE`)",
                   "2.3.0-rc2 and later: `1` (`context.PYNATIVE_MODE`)"}));
  EXPECT_EQ(LinesOf("set_context", "save_ms_model", "releases"), Lines{"0.3.1"});
}

TEST(Facts, CiteTheSourceOfTheirRule) {
  EXPECT_EQ(LinesOf("set_context", "graph_kernel_flags", "values").front(),
            "`--dump_as_text`, `--dump_as_text=true` or `--dump_as_text=false`; `--opt_level=0`, `--opt_level=1`, "
            "`--opt_level=2` or `--opt_level=3`; any number of these options, separated by blanks (API page of 1.6; "
            "MindSpore warns and ignores it when a graph is compiled)");
}

TEST(Facts, OfSubKeysAreFoundBelowTheirTables) {
  EXPECT_EQ(HistoryOf("set_context", "ascend_config.ge_options.global").depth, 2U);
  EXPECT_FALSE(LinesOf("set_context", "ascend_config.precision_mode", "behaviour").empty());
}

TEST(Releases, AreShownAsSpans) {
  const std::vector<Release> all = {{1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {1, 3, 0}};
  EXPECT_EQ(SpanText(all, all[0], all[3]), "1.0.0 to 1.3.0");
  EXPECT_EQ(SpanText(all, all[1], all[3]), "1.1.0 and later");
  EXPECT_EQ(SpanText(all, all[1], all[2]), "1.1.0 to 1.2.0");
  EXPECT_EQ(SpanText(all, all[3], all[3]), "1.3.0");
  AttributeHistory history;
  history.records = {{all[0], nullptr}, {all[2], nullptr}, {all[3], nullptr}};
  EXPECT_EQ(ReleasesText(history, all), "1.0.0, 1.2.0 and later") << "a gap stays one";
}

}  // namespace
}  // namespace muster
