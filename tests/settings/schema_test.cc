// The schema as a lookup, and the shipped records.
#include "muster/mindspore/schema.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "settings/real_schema.h"

namespace muster {
namespace {

TEST(Schema, ShortReleaseNamesMeanTheNewestOfTheLine) {
  Schema schema;
  ASSERT_TRUE(schema
                  .AddReleases(Value::List{Value::Map{{"1", "2.3.0-rc2"}, {"described", true}},
                                           Value::Map{{"1", "2.3.1"}, {"short", "2.3"}, {"described", true}}},
                               {})
                  .empty());
  EXPECT_EQ(*schema.FindRelease("2.3", {}), (Release{2, 3, 1}));
  EXPECT_EQ(*schema.FindRelease("2.3.1", {}), (Release{2, 3, 1}));
  EXPECT_EQ(*schema.FindRelease("2.3.0-rc2", {}), (Release{2, 3, 0, 2}));
}

TEST(Schema, RefusesReleasesThatAreUnknownOrNotDescribed) {
  const auto unknown = RealSchema().FindRelease("1.7", At(4));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().front().kind, "release");
  EXPECT_EQ(unknown.error().front().place, At(4));
  EXPECT_NE(unknown.error().front().hint.find("1.6"), std::string::npos);
}

TEST(Schema, RefusesReleaseRecordsThatAreWrongOrRepeated) {
  Schema schema;
  EXPECT_TRUE(schema.AddReleases(Value::List{Value::Map{{"1", "1.6.2"}, {"short", "1.6"}}}, {}).empty());
  EXPECT_FALSE(schema.AddReleases(Value::List{Value::Map{{"1", "1.6.2"}}}, {}).empty());
  EXPECT_FALSE(schema.AddReleases(Value::List{Value::Map{{"1", "1.6.1"}, {"short", "1.6"}}}, {}).empty());
  EXPECT_FALSE(schema.AddReleases(Value::List{Value::Map{{"1", "new"}}}, {}).empty());
  EXPECT_FALSE(schema.AddReleases(Value::List{Value::Map{{"1", "1.9.0"}, {"shrot", "1.9"}}}, {}).empty());
  EXPECT_FALSE(schema.AddReleases(Value(3), {}).empty());
  EXPECT_EQ(schema.releases().size(), 1U);
  const auto not_described = schema.FindRelease("1.6", {});
  ASSERT_FALSE(not_described);
  EXPECT_EQ(not_described.error().front().kind, "release");
}

TEST(Schema, RefusesTwoRecordsForOneAttributeAndRelease) {
  Schema schema;
  const Value first = Value::Map{{"1", "mode"}, {"kind", "int"}, {"until", "1.6"}};
  const Value second = Value::Map{{"1", "mode"}, {"kind", "int"}, {"since", "1.6.2"}};
  const Value third = Value::Map{{"1", "mode"}, {"kind", "int"}, {"since", "1.7"}};
  EXPECT_TRUE(schema.Add("set_context", Value::List{first, third}, {}).empty());
  EXPECT_EQ(Only(schema.Add("set_context", Value::List{second}, {})).kind, "schema");
}

TEST(Schema, KnowsWhichFunctionAnAttributeBelongsTo) {
  const Schema& schema = RealSchema();
  EXPECT_EQ(schema.OtherFunctionWith("set_context", "pipeline_stages", Release16()), "set_auto_parallel_context");
  EXPECT_EQ(schema.OtherFunctionWith("set_context", "mode", Release16()), std::nullopt);
  EXPECT_TRUE(schema.Knows("set_ps_context"));
  EXPECT_FALSE(schema.Knows("set_fl_context"));
}

TEST(Schema, KnowsWhichReleaseHasAFunction) {
  const Schema& schema = RealSchema();
  EXPECT_FALSE(schema.Knows("set_ps_context", {0, 3, 1}));
  EXPECT_TRUE(schema.Knows("set_ps_context", {1, 0, 1}));
  EXPECT_TRUE(schema.Knows("set_auto_parallel_context", {0, 3, 1}));
  EXPECT_FALSE(schema.Knows("set_fl_context", {1, 6, 2}));
  EXPECT_EQ(schema.FirstRelease("set_ps_context"), (Release{1, 0, 0}));
  EXPECT_EQ(schema.FirstRelease("set_fl_context"), std::nullopt);
}

TEST(Schema, KnowsWhichReleaseHasAConstant) {
  const Schema& schema = RealSchema();
  const auto missing = [&](const char* name, const char* release) {
    return schema.MissingConstant(name, *ParseRelease(release), At(3));
  };
  for (const char* name : {"ParallelMode", "ParallelMode.AUTO_PARALLEL", "ParallelMode.MODE_LIST"}) {
    const auto error = missing(name, "0.3.1");
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->kind, "release");
    EXPECT_EQ(error->place, At(3));
    EXPECT_NE(error->message.find(std::string("context.") + name + " is not in MindSpore 0.3.1: only from 1.0.0 on"),
              std::string::npos)
        << error->message;
    EXPECT_NE(error->hint.find("parallel_mode"), std::string::npos) << error->hint;
    for (const char* release : {"1.0.1", "1.6.2", "2.4.0"}) EXPECT_FALSE(missing(name, release)) << name << release;
  }
  EXPECT_NE(missing("ParallelMode.AUTO_PARALLEL", "0.3.1")->hint.find("\"auto_parallel\""), std::string::npos);
  EXPECT_TRUE(missing("STRICT", "1.9.0"));
  EXPECT_FALSE(missing("STRICT", "2.3.1"));
  EXPECT_TRUE(missing("DEBUG", "1.6.2"));
  EXPECT_FALSE(missing("GRAPH_MODE", "0.3.1"));
  EXPECT_FALSE(missing("NO_MODE", "0.3.1"));
}

TEST(ShippedSchema, DescribesTenReleases) {
  const std::pair<const char*, const char*> names[] = {
      {"0.3", "0.3.1"},           {"1.0", "1.0.1"},   {"1.6", "1.6.2"}, {"1.9", "1.9.0"},
      {"2.3.0-rc2", "2.3.0-rc2"}, {"2.3.1", "2.3.1"}, {"2.3", "2.3.1"}, {"2.4", "2.4.0"},
      {"2.5", "2.5.0"},           {"2.6", "2.6.0"},   {"2.7", "2.7.0"}};
  for (const auto& [name, release] : names) {
    const auto found = RealSchema().FindRelease(name, At(1));
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(ReleaseText(*found), release);
  }
  EXPECT_EQ(RealSchema().releases().size(), 10U);
}

// Every attribute of every described release.
std::vector<std::pair<Release, const Attribute*>> EveryAttribute() {
  std::vector<std::pair<Release, const Attribute*>> all;
  for (const ReleaseFacts& facts : RealSchema().releases()) {
    for (const std::string& api : RealSchema().Functions()) {
      for (const std::string& name : RealSchema().Names(api, facts.release)) {
        all.emplace_back(facts.release, RealSchema().Find(api, name, facts.release));
      }
    }
  }
  return all;
}

TEST(ShippedSchema, SaysWhatEveryAttributeIs) {
  for (const auto& [release, attribute] : EveryAttribute()) {
    const std::string what = ReleaseText(release) + " " + attribute->name;
    EXPECT_FALSE(attribute->doc.empty()) << what;
    EXPECT_FALSE(attribute->group.empty()) << what;
    const bool has_default = !attribute->default_value.IsNull() || !attribute->default_text.empty();
    EXPECT_TRUE(has_default || attribute->reads == ReadBack::kNever) << what;
    for (const std::string& other : {attribute->divides, attribute->below, attribute->shares, attribute->tells_if_set,
                                     attribute->same_as.substr(0, attribute->same_as.find('.'))}) {
      EXPECT_TRUE(other.empty() || RealSchema().Find(attribute->api, other, release) != nullptr)
          << what << ": " << other;
    }
    for (const Attribute& key : attribute->keys) {
      EXPECT_FALSE(key.doc.empty()) << what << "." << key.name;
      EXPECT_TRUE(key.same_as.empty() || RealSchema().Find(attribute->api, key.same_as, release) != nullptr) << what;
    }
  }
}

// What a default would do to the check of its own attribute shows mistakes of records.
TEST(ShippedSchema, TakesItsOwnDefaults) {
  for (const auto& [release, attribute] : EveryAttribute()) {
    const Value& value = attribute->default_value;
    const bool not_set = value.IsNull() || value == Value("") || value == Value(Value::List{});
    // "nothing" in the words of MindSpore, which can not be set
    const bool nothing = attribute->name == "ms_role" || attribute->name == "server_num" || value == Value("0");
    if (not_set || nothing || !attribute->tells_if_set.empty()) continue;
    Context context(RealSchema(), release);
    const Diagnostics diagnostics = context.Apply(attribute->api, {{attribute->name, value}}, At(1));
    EXPECT_FALSE(HasErrors(diagnostics)) << ReleaseText(release) << " " << attribute->name << ": "
                                         << diagnostics.front().message;
  }
}

}  // namespace
}  // namespace muster
