// Tests the recipe reference: each field is described, its parameters and defaults match the engine, and its page in
// docs/ is current. stub_names_test.cc compares its names with those in recipes.
#include <set>

#include <gtest/gtest.h>

#include "base/values/number_text.h"
#include "base/values/value_json.h"
#include "lua/state/own_data.h"
#include "muster/plan.h"
#include "reference/context_topics.h"
#include "reference/own_reference.h"
#include "reference/page.h"
#include "settings/values/parameter.h"
#include "support/golden.h"

namespace muster {
namespace {

const Value& Fields() {
  static const Value fields = [] {
    auto read = OwnData("muster/recipe_fields.lua");
    if (!read) ADD_FAILURE() << read.error().front().message;
    return read ? *std::move(read) : Value();
  }();
  return fields;
}

const Topics& RecipeTopics() {
  static const Topics topics = [] {
    Topics all = LuaTopicsForTests();
    std::erase_if(all, [](const Topic& topic) { return topic.kind != "recipes"; });
    return all;
  }();
  return topics;
}

const Value& Named(const Value::List& records, const std::string& name) {
  static const Value nothing;
  for (const Value& record : records) {
    if (TextField(record, "name") == name) return record;
  }
  ADD_FAILURE() << "there is no " << name;
  return nothing;
}

const Value& Field(const std::string& section, const std::string& name) {
  return Named(ListField(Named(*Fields().AsList(), section), "fields"), name);
}

TEST(Freshness, TheRecipePageMatchesTheFields) {
  muster::testing::ExpectGolden(DocumentMarkdown(DocumentForTests("recipe-reference")), "docs/recipe-reference.md");
}

TEST(RecipeFields, AreDescribed) {
  ASSERT_NE(Fields().AsList(), nullptr);
  for (const Value& section : *Fields().AsList()) {
    const std::string of = TextField(section, "name");
    for (const char* key : {"name", "title", "doc", "example"})
      EXPECT_NE(TextField(section, key), "") << of << ": " << key;
    EXPECT_FALSE(ListField(section, "fields").empty()) << of;
    std::set<std::string> names;
    for (const Value& field : ListField(section, "fields")) {
      const std::string name = of + "." + ToText(ValueField(field, "name"));
      EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
      const std::string doc = TextField(field, "doc");
      EXPECT_TRUE(doc.size() > 5 && doc.ends_with(".")) << name << " has no sentence: " << doc;
      EXPECT_NE(TextField(field, "type").empty(), ListField(field, "words").empty()) << name << " has a type or words";
      EXPECT_NE(TextField(field, "example") + TextField(field, "declaration"), "") << name << " has no example";
      EXPECT_FALSE(TruthField(field, "required") && !TextField(field, "default").empty()) << name;
    }
  }
}

TEST(RecipeFields, HaveTheDefaultsOfThePlan) {
  const auto milliseconds = [](const Value& field) {
    const std::string text = TextField(field, "default");
    const auto seconds = text.size() > 2 ? ParseDuration(text.substr(1, text.size() - 2)) : std::nullopt;
    return seconds ? *seconds * 1000 : -1;
  };
  EXPECT_EQ(TextField(Field("stop", "signal"), "default"), "\"" + StopPolicy{}.signal + "\"");
  EXPECT_EQ(milliseconds(Field("stop", "grace")), StopPolicy{}.grace_ms);
  EXPECT_EQ(milliseconds(Field("restart", "backoff")), RestartPolicy{}.backoff_ms);
}

TEST(RecipeFields, HaveTheTypesAndOptionsOfParameters) {
  std::size_t types = 0;
  for (const Value& type : ListField(Named(*Fields().AsList(), "parameters"), "fields")) {
    const std::string name = TextField(type, "name");
    if (TextField(type, "declaration").empty()) continue;
    ++types;
    ASSERT_TRUE(ParameterTypeOf(name)) << name;
    for (const Value& option : ListField(Named(*Fields().AsList(), "options"), "fields")) {
      if (!TruthField(option, "limits")) continue;
      const auto read = ParameterFromValue("x",
                                           Value(Value::Map{{"type", Value(name)},
                                                            {"one_of", Value(Value::List{Value("a")})},
                                                            {TextField(option, "name"), Value(1)}}),
                                           {});
      const bool takes =
          read.has_value() || read.error().front().message.find("needs a number type") == std::string::npos;
      EXPECT_EQ(takes, TruthField(type, "limits")) << name << " with " << TextField(option, "name");
    }
  }
  EXPECT_EQ(types, static_cast<std::size_t>(ParameterType::kSecret) + 1) << "a type is missing";
}

TEST(RecipeTopics, AreFoundByTheNamesOfFields) {
  const Topics& topics = RecipeTopics();
  for (const char* name : {"recipe", "cluster", "limits", "logs", "checkpoint", "job", "job:activate", "job:file",
                           "job:port", "role", "ready", "readiness", "restart", "stop", "process", "parameters"}) {
    EXPECT_NE(PageText(PageOf(topics, name), {}), "") << name;
  }
  EXPECT_EQ(PageOf(topics, "role.cores").title, "Role");
  EXPECT_EQ(PageOf(topics, "per_host").title, "Role");
  EXPECT_EQ(PageOf(topics, "job:workers").title, "Members of `job`");
  EXPECT_EQ(PageOf(topics, "muster.int").title, "Parameter types");
  EXPECT_EQ(PageOf(topics, "role.limits").title, "Limits of a recipe");
}

TEST(RecipeTopics, ShowTypeDefaultSentenceAndExample) {
  const std::string text = PageText(PageOf(RecipeTopics(), "readiness"), {});
  EXPECT_NE(text.find("timeout  duration: \"90s\", \"1h30m\"; default: \"5m\"\n"
                      "           Time from the start; a process that is not ready by then has failed.\n"
                      "           timeout = \"30s\"\n"),
            std::string::npos)
      << text;
}

// A name of another kind of topic must not be one of the recipe reference.
TEST(RecipeTopics, TakeNoNameOfTheContext) {
  const Topics context = ContextTopics(OwnSchemaForTests(), OwnOutlineForTests(), std::nullopt);
  for (const Topic& topic : RecipeTopics()) {
    for (const Topic& other : context) EXPECT_NE(topic.name, other.name);
  }
}

}  // namespace
}  // namespace muster
