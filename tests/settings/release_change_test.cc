// What is different on another release.
#include <gtest/gtest.h>

#include "settings/real_schema.h"
#include "settings/schema/schema_text.h"

namespace muster {
namespace {

std::vector<std::string> Changes(const char* from, const char* to, const Value::Map& set) {
  std::vector<std::string> texts;
  for (const DefaultChange& change : DefaultChanges(RealSchema(), *ParseRelease(from), *ParseRelease(to), set)) {
    texts.push_back(change.function + "." + change.name + ": " + change.before + " -> " + change.after);
  }
  return texts;
}

bool Holds(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool Mentions(const std::vector<std::string>& texts, const std::string& name) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find("." + name + ":") != std::string::npos; });
}

TEST(DefaultChanges, NameTheDefaultsThatARecipeUses) {
  const auto changes = Changes("1.6.2", "2.3.1", {});
  EXPECT_TRUE(Holds(changes, "set_context.mode: 0 (GRAPH_MODE) -> 1 (PYNATIVE_MODE)"));
  EXPECT_TRUE(Changes("1.6.2", "1.6.2", {}).empty());
}

TEST(DefaultChanges, LeaveOutWhatTheRecipeSets) {
  EXPECT_FALSE(Mentions(Changes("1.6.2", "2.3.1", {{"set_context.mode", Value(0)}}), "mode"));
}

TEST(DefaultChanges, LookIntoOtherFunctionsOnlyIfTheyAreUsed) {
  EXPECT_FALSE(Mentions(Changes("1.6.2", "2.3.1", {}), "search_mode"));
  const Value::Map used = {{"set_auto_parallel_context.device_num", Value(8)}};
  EXPECT_TRUE(Holds(Changes("1.6.2", "2.3.1", used),
                    "set_auto_parallel_context.search_mode: \"dynamic_programming\" -> \"recursive_programming\""));
}

TEST(DefaultChanges, KnowTwoNamesOfOneValue) {
  const Value::Map old_name = {{"set_auto_parallel_context.auto_parallel_search_mode", Value("dynamic_programming")}};
  const auto changes = Changes("1.6.2", "2.3.1", old_name);
  EXPECT_FALSE(Mentions(changes, "search_mode"));
  EXPECT_FALSE(Mentions(changes, "auto_parallel_search_mode"));
}

TEST(DefaultChanges, CountValuesThatReadAlikeAsTheSame) {
  EXPECT_FALSE(Mentions(Changes("1.6.2", "2.3.1", {}), "save_graphs")) << "false and 0";
}

TEST(DefaultChanges, LeaveOutWhatNoDocumentNames) {
  EXPECT_FALSE(Mentions(Changes("2.6.0", "2.7.0", {}), "recompute_comm_overlap")) << "false became \"\"";
}

TEST(DefaultChanges, LookIntoTablesThatTheRecipeSets) {
  const std::string name = "set_auto_parallel_context.parallel_optimizer_config";
  const Value::Map other_key = {{name, Value(Value::Map{{"parallel_optimizer_threshold", Value(1)}})}};
  EXPECT_TRUE(Holds(Changes("1.9.0", "2.3.1", other_key), name + ".gradient_accumulation_shard: true -> false"));
  const Value::Map same_key = {{name, Value(Value::Map{{"gradient_accumulation_shard", Value(true)}})}};
  EXPECT_FALSE(Mentions(Changes("1.9.0", "2.3.1", same_key), "parallel_optimizer_config.gradient_accumulation_shard"));
}

TEST(DefaultChanges, AreThoseOfTheDeviceInUse) {
  Schema schema;
  const auto record = [](const char* text) { return Value(text); };
  ASSERT_TRUE(schema
                  .Add("set_context",
                       Value(Value::List{Value(Value::Map{
                           {"1", record("level")},
                           {"kind", record("int")},
                           {"default", Value(0)},
                           {"changed",
                            Value(Value::Map{
                                {"2.0", Value(Value::Map{{"default_on", Value(Value::Map{{"GPU", Value(1)}})}})}})}})}),
                       {})
                  .empty());
  const Release from{1, 0, 0};
  const Release to{2, 0, 0};
  EXPECT_EQ(DefaultChanges(schema, from, to, {{"set_context.device_target", Value("CPU")}}),
            std::vector<DefaultChange>());
  EXPECT_EQ(DefaultChanges(schema, from, to, {{"set_context.device_target", Value("GPU")}}),
            (std::vector<DefaultChange>{{"set_context", "level", "0", "1"}}));
}

TEST(NewFindings, AreThoseThatTheOtherReleaseDoesNotHave) {
  const Place place{"r.lua", 3};
  const Diagnostic here = Warning("deprecated", place, "x is deprecated in MindSpore 1.6.2", "use y instead");
  const Diagnostic same = Warning("deprecated", place, "x is deprecated in MindSpore 2.3.0-rc2", "use y instead");
  const Diagnostic elsewhere = Warning("deprecated", {"r.lua", 4}, same.message, same.hint);
  const Diagnostic worse = Error("deprecated", place, same.message, same.hint);
  const Diagnostic sentence = Error("release", place, "x is not in MindSpore 2.3.1: only from 2.4.0 on");
  EXPECT_EQ(NewFindings({here}, {same}), Diagnostics{});
  EXPECT_EQ(NewFindings({here}, {same, elsewhere, worse, sentence}), (Diagnostics{elsewhere, worse, sentence}));
  EXPECT_EQ(NewFindings({}, {same}), Diagnostics{same});
  const Diagnostic stop = Warning("k", place, "taken by MindSpore 1.6.2. More");
  const Diagnostic stop_there = Warning("k", place, "taken by MindSpore 2.4.0. More");
  EXPECT_EQ(NewFindings({stop}, {stop_there}), Diagnostics{}) << "the full stop is the sentence's";
  const Diagnostic other = Warning("k", place, "taken by MindSpore drops it");
  EXPECT_EQ(NewFindings({stop}, {other}), Diagnostics{other});
}

}  // namespace
}  // namespace muster
