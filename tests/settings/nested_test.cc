// Tests attributes that are tables: sub-keys, and their dependencies.
#include <gtest/gtest.h>

#include "muster/mindspore/context.h"
#include "settings/real_schema.h"

namespace muster {
namespace {

Diagnostics Give(const char* name, const Value& value) {
  Context context(RealSchema(), Release16());
  return context.Apply(kAuto, {{name, value}}, At(7));
}

Value Fusion(Value::Map allreduce) { return Value::Map{{"allreduce", std::move(allreduce)}}; }

TEST(NestedTable, TakesWhatTheReleaseTakes) {
  EXPECT_TRUE(Give("parallel_optimizer_config", Value::Map{{"gradient_accumulation_shard", true}}).empty());
  EXPECT_TRUE(Give("comm_fusion", Fusion({{"mode", "size"}, {"config", 32}})).empty());
  EXPECT_TRUE(Give("comm_fusion", Fusion({{"mode", "size"}, {"config", 0}})).empty());
  EXPECT_TRUE(Give("comm_fusion", Fusion({{"mode", "auto"}, {"config", Value()}})).empty());
  EXPECT_TRUE(Give("comm_fusion", Fusion({{"mode", "index"}, {"config", Value::List{1, 5}}})).empty());
}

TEST(NestedTable, NamesTheSubKeyThatIsWrong) {
  struct Case {
    const char* name;
    Value value;
    const char* kind;
    const char* message_has;
  };
  const Case cases[] = {
      {"parallel_optimizer_config", Value::Map{}, "empty", "parallel_optimizer_config"},
      {"parallel_optimizer_config", true, "type", "a table of sub-keys"},
      {"parallel_optimizer_config", Value::List{1}, "type", "not the list"},
      {"parallel_optimizer_config", Value::Map{{"gradient_accumulation_shard", 1}}, "type",
       "parallel_optimizer_config.gradient_accumulation_shard"},
      {"parallel_optimizer_config", Value::Map{{"gradient_acumulation_shard", true}}, "unknown_subkey",
       "gradient_acumulation_shard"},
      {"parallel_optimizer_config", Value::Map{{"parallel_optimizer_threshold", 24}}, "release", "only from 1.9.0 on"},
      {"comm_fusion", Value::Map{{"allgather", Value::Map{}}}, "release", "allgather is not in MindSpore 1.6.2"},
      {"comm_fusion", Value::Map{{"allreduce", 3}}, "type", "comm_fusion.allreduce"},
      {"comm_fusion", Fusion({{"mode", "sise"}, {"config", 32}}), "enum", "comm_fusion.allreduce.mode"},
      {"comm_fusion", Fusion({{"mode", "size"}}), "missing_subkey", "\"config\""},
      {"comm_fusion", Fusion({{"mode", "size"}, {"config", -1}}), "range", "comm_fusion.allreduce.config"},
      {"comm_fusion", Fusion({{"mode", "size"}, {"config", "32"}}), "type", "comm_fusion.allreduce.config"},
      {"comm_fusion", Fusion({{"mode", "size"}, {"config", Value()}}), "type", "can not be null"},
      {"comm_fusion", Fusion({{"mode", "index"}, {"config", Value::List{5, 1}}}), "order", "1 follows 5"},
      {"comm_fusion", Fusion({{"mode", "index"}, {"config", 3}}), "type", "comm_fusion.allreduce.config"},
  };
  for (const Case& c : cases) {
    const Diagnostic diagnostic = Only(Give(c.name, c.value));
    EXPECT_EQ(diagnostic.kind, c.kind) << ToText(c.value) << ": " << diagnostic.message;
    EXPECT_NE(diagnostic.message.find(c.message_has), std::string::npos) << diagnostic.message;
  }
  EXPECT_EQ(Only(Give("parallel_optimizer_config", Value::Map{{"gradient_acumulation_shard", true}})).hint,
            "did you mean \"gradient_accumulation_shard\"?");
}

TEST(NestedTable, ReportsEveryMistake) {
  const Diagnostics diagnostics = Give("comm_fusion", Fusion({{"config", 3}, {"mod", "size"}}));
  std::vector<std::string> kinds;
  for (const Diagnostic& each : diagnostics) kinds.push_back(each.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"unknown_subkey", "missing_subkey"}));
}

TEST(NestedTable, CanAskForAnotherValueBesideIt) {
  Schema schema;
  const Value level = Value::Map{{"1", "jit_level"}, {"kind", "enum"}, {"choices", Value::List{"O0", "O1"}}};
  const Value boost = Value::Map{{"1", "infer_boost"},
                                 {"kind", "enum"},
                                 {"choices", Value::List{"on", "off"}},
                                 {"when", Value::Map{{"jit_level", "O0"}}}};
  const Value record = Value::Map{{"1", "jit_config"}, {"kind", "dict"}, {"keys", Value::List{level, boost}}};
  ASSERT_TRUE(schema.Add("set_context", Value::List{record}, {}).empty());
  const auto give = [&](Value::Map table) {
    Context context(schema, Release16());
    return context.Apply("set_context", {{"jit_config", std::move(table)}}, At(1));
  };
  EXPECT_TRUE(give({{"jit_level", "O0"}, {"infer_boost", "on"}}).empty());
  EXPECT_EQ(Only(give({{"infer_boost", "on"}})).kind, "missing_subkey");
  EXPECT_EQ(Only(give({{"jit_level", "O1"}, {"infer_boost", "on"}})).kind, "conflict");
}

}  // namespace
}  // namespace muster
