// Tests parsing of records into attributes, and errors for misspelt records.
#include <gtest/gtest.h>

#include "muster/mindspore/schema.h"

namespace muster {
namespace {

const Place kHere{"schema.lua", 3};

Value::Map Record(const std::string& name) { return {{"1", name}, {"kind", "int"}}; }

TEST(SchemaRecord, ReadsNameKindBoundsAndText) {
  Value::Map record = Record("pipeline_stages");
  record["min"] = 1;
  record["default"] = 1;
  record["since"] = "1.1";
  record["divides"] = "device_num";
  record["modes"] = Value::List{"semi_auto_parallel", "auto_parallel"};
  record["doc"] = "Stages.";
  const auto attributes = AttributesFromValue("set_auto_parallel_context", record, kHere);
  ASSERT_TRUE(attributes);
  ASSERT_EQ(attributes->size(), 1U);
  const Attribute& attribute = attributes->front();
  EXPECT_EQ(attribute.api, "set_auto_parallel_context");
  EXPECT_EQ(attribute.name, "pipeline_stages");
  EXPECT_EQ(attribute.kinds, std::vector<Kind>{Kind::kInt});
  EXPECT_EQ(attribute.min, 1.0);
  EXPECT_FALSE(attribute.max);
  EXPECT_EQ(attribute.default_value, Value(1));
  EXPECT_EQ(attribute.since, (Release{1, 1, 0}));
  EXPECT_EQ(attribute.divides, "device_num");
  EXPECT_EQ(attribute.modes.size(), 2U);
  EXPECT_TRUE(attribute.per_process);
}

TEST(SchemaRecord, RefusesAnUnknownFieldAndNamesTheNearest) {
  Value::Map record = Record("mode");
  record["defualt"] = 0;
  const auto attributes = AttributesFromValue("set_context", record, kHere);
  ASSERT_FALSE(attributes);
  EXPECT_EQ(attributes.error().front().kind, "schema");
  EXPECT_EQ(attributes.error().front().place, kHere);
  EXPECT_NE(attributes.error().front().message.find("\"defualt\""), std::string::npos);
  EXPECT_EQ(attributes.error().front().hint, "did you mean \"default\"?");
}

TEST(SchemaRecord, RefusesFieldsOfAWrongType) {
  const std::pair<const char*, Value> wrong[] = {
      {"min", "1"},
      {"choices", 3},
      {"kind", "integer"},
      {"kind", 3},
      {"since", "new"},
      {"since", 1.6},
      {"modes", true},
      {"modes", Value::List{1}},
      {"freezes", "now"},
      {"reads", "backwards"},
      {"read_values", Value::List{1}},
      {"read_keys", "all"},
      {"needs", 1},
      {"default_on", true},
      {"documented_max", "4096"},
      {"undocumented", 1},
      {"keys", Value::Map{{"a", 1}}},
      {"per_process", 1},
      {"deprecated", 1},
      {"changed", 3},
      {"aliases", Value::List{1}},
      {"doc", true},
      {"file", 1},
      {"auto_port", true},
      {"absolute", "yes"},
      {"name_max", "255"},
      {"only_warns", 1},
  };
  for (const auto& [field, value] : wrong) {
    Value::Map record = Record("mode");
    record[field] = value;
    const auto attributes = AttributesFromValue("set_context", record, kHere);
    ASSERT_FALSE(attributes) << field << " = " << ToText(value);
    EXPECT_NE(attributes.error().front().message.find(field), std::string::npos) << attributes.error().front().message;
  }
}

TEST(SchemaRecord, RefusesContradictions) {
  Value::Map nameless{{"kind", "int"}};
  Value::Map kindless{{"1", "mode"}};
  Value::Map choiceless{{"1", "mode"}, {"kind", "enum"}};
  Value::Map keyless{{"1", "mode"}, {"kind", "dict"}};
  Value::Map crossed = Record("mode");
  crossed["min"] = 3;
  crossed["max"] = 2;
  Value::Map backwards = Record("mode");
  backwards["since"] = "1.6";
  backwards["until"] = "1.0";
  Value::Map ended_twice = Record("mode");
  ended_twice["withdrawn"] = true;
  ended_twice["deprecated"] = "other";
  Value::Map written = Record("path");
  written["writes"] = "graphs";
  Value::Map unwritten = Record("path");
  unwritten["rank_from"] = "RANK_ID";
  for (const Value::Map& record :
       {nameless, kindless, choiceless, keyless, crossed, backwards, ended_twice, written, unwritten}) {
    EXPECT_FALSE(AttributesFromValue("set_context", record, kHere)) << ToText(record);
  }
  EXPECT_FALSE(AttributesFromValue("set_context", Value(3), kHere));
}

TEST(SchemaRecord, ReadsASuccessorWhereAttributesEnd) {
  Value::Map record = Record("variable_memory_max_size");
  record["deprecated"] = "max_device_memory";
  const auto deprecated = AttributesFromValue("set_context", record, kHere);
  ASSERT_TRUE(deprecated);
  EXPECT_TRUE(deprecated->front().deprecated);
  EXPECT_EQ(deprecated->front().successor, "max_device_memory");
  record.erase("deprecated");
  record["withdrawn"] = true;
  const auto withdrawn = AttributesFromValue("set_context", record, kHere);
  ASSERT_TRUE(withdrawn);
  EXPECT_TRUE(withdrawn->front().withdrawn);
  EXPECT_FALSE(withdrawn->front().deprecated);
  EXPECT_EQ(withdrawn->front().successor, "");
}

TEST(SchemaRecord, ReadsTheFunctionThatAnAttributeMovedTo) {
  Value::Map record = Record("size");
  record["deprecated"] = true;
  record["moved"] = Value::Map{
      {"1", "runtime.set_memory"}, {"2", "max_size"}, {"literals", true}, {"values", Value::Map{{"ON", true}}}};
  const auto attributes = AttributesFromValue("set_context", record, kHere);
  ASSERT_TRUE(attributes);
  const Move& move = attributes->front().moved;
  EXPECT_EQ(move.function, "runtime.set_memory");
  EXPECT_EQ(move.parameter, "max_size");
  EXPECT_TRUE(move.literals);
  EXPECT_FALSE(move.pynative);
  EXPECT_EQ(move.values.at("ON"), Value(true));
  EXPECT_EQ(attributes->front().successor, "mindspore.runtime.set_memory() with max_size") << "for hints and documents";
  record["moved"] = Value::List{"set_device"};
  EXPECT_EQ(AttributesFromValue("set_context", record, kHere)->front().successor, "mindspore.set_device()");
  for (const Value& wrong : {Value("set_device"), Value(Value::Map{{"2", "max_size"}}), Value(Value::Map{{"1", 3}}),
                             Value(Value::Map{{"1", "f"}, {"literal", true}})}) {
    record["moved"] = wrong;
    const auto refused = AttributesFromValue("set_context", record, kHere);
    ASSERT_FALSE(refused) << ToText(wrong);
    EXPECT_NE(refused.error().front().message.find("has a bad field: moved "), std::string::npos);
  }
}

TEST(SchemaRecord, RefusesAMoveToAFunctionThatThereIsNot) {
  for (const Value::List& target :
       {Value::List{"set_divice"}, Value::List{"set_device", "number"}, Value::List{"set_device"}}) {
    Schema schema;
    Value::Map record = Record("device_id");
    record["moved"] = target;
    ASSERT_TRUE(schema.Add("set_context", Value::List{record}, kHere).empty());
    const Value function = Value::Map{{"1", "set_device"},
                                      {"since", "2.5"},
                                      {"doc", "d"},
                                      {"parameters", Value::List{Record("device_id"), Record("device_target")}}};
    const Diagnostics problems = schema.AddFunctions(Value::List{function}, kHere);
    ASSERT_EQ(problems.size(), 1U) << ToText(Value(target));
    EXPECT_NE(problems.front().message.find("\"device_id\" moved to no parameter of a function"), std::string::npos);
  }
}

TEST(SchemaRecord, SplitsWhereFactsChangeWithAReleaseAndLeavesNoGap) {
  Value::Map record = Record("op_timeout");
  record["since"] = "1.9";
  record["until"] = "2.4";
  record["default"] = 0;
  record["changed"] = Value::Map{{"2.3.0-rc2", Value::Map{{"default", 900}}}, {"2.4", Value::Map{{"max", 100}}}};
  const auto attributes = AttributesFromValue("set_context", record, kHere);
  ASSERT_TRUE(attributes);
  ASSERT_EQ(attributes->size(), 3U);
  Schema schema;
  ASSERT_TRUE(schema.Add("set_context", Value::List{record}, kHere).empty());
  const auto in = [&](const char* release) { return schema.Find("set_context", "op_timeout", *ParseRelease(release)); };
  EXPECT_EQ(in("1.6.2"), nullptr);
  EXPECT_EQ(in("1.9.0")->default_value, Value(0));
  EXPECT_EQ(in("2.2.9")->default_value, Value(0));
  EXPECT_EQ(in("2.3.0-rc1")->default_value, Value(0));
  EXPECT_EQ(in("2.3.0-rc2")->default_value, Value(900));
  EXPECT_FALSE(in("2.3.1")->max);
  EXPECT_EQ(in("2.4.0")->max, 100.0);
  EXPECT_EQ(in("2.4.0")->default_value, Value(900));
  EXPECT_NE(in("2.4.7"), nullptr);
  EXPECT_EQ(in("2.5.0"), nullptr);
}

TEST(SchemaRecord, KeepsWhatAChangeDoesNotName) {
  Value::Map record{{"1", "save_graphs"}, {"kind", "bool"}, {"withdrawn", "other"}, {"devices", Value::List{"GPU"}}};
  record["changed"] =
      Value::Map{{"1.0", Value::Map{{"withdrawn", false}, {"freezes", "set"}, {"reads", "text"}}},
                 {"1.6", Value::Map{{"kind", "bool|int"}, {"max", 3}, {"devices", Value::Map{}}, {"freezes", "never"}}},
                 {"1.9", Value::Map{{"reads", "as_stored"}}}};
  const auto attributes = AttributesFromValue("set_context", record, kHere);
  ASSERT_TRUE(attributes);
  ASSERT_EQ(attributes->size(), 4U);
  EXPECT_TRUE(attributes->at(0).withdrawn);
  EXPECT_FALSE(attributes->at(1).withdrawn);
  EXPECT_EQ(attributes->at(1).freezes, Freeze::kOnceSet);
  EXPECT_EQ(attributes->at(1).devices, std::vector<std::string>{"GPU"});
  EXPECT_EQ(attributes->at(2).freezes, Freeze::kNever);
  EXPECT_TRUE(attributes->at(2).devices.empty());
  EXPECT_EQ(attributes->at(2).reads, ReadBack::kText);
  EXPECT_EQ(attributes->at(3).reads, ReadBack::kAsStored);
  EXPECT_EQ(attributes->at(3).max, 3.0);
  EXPECT_FALSE(attributes->at(3).withdrawn);
}

TEST(SchemaRecord, RefusesABadChange) {
  Value::Map record = Record("mode");
  record["changed"] = Value::Map{{"1.6", Value::Map{{"maxx", 3}}}};
  const auto attributes = AttributesFromValue("set_context", record, kHere);
  ASSERT_FALSE(attributes);
  EXPECT_NE(attributes.error().front().message.find("\"maxx\""), std::string::npos);
}

TEST(SchemaRecord, RefusesChangesBeforeTheBeginningAndAfterTheEnd) {
  Value::Map record = Record("mode");
  record["since"] = "1.6";
  record["changed"] = Value::Map{{"1.0", Value::Map{{"min", 1}}}};
  EXPECT_FALSE(AttributesFromValue("set_context", record, kHere));
  record["until"] = "1.9";
  record["changed"] = Value::Map{{"2.3", Value::Map{{"min", 1}}}};
  EXPECT_FALSE(AttributesFromValue("set_context", record, kHere));
}

TEST(SchemaRecord, ReadsSubKeysAndRefusesMisspeltOnes) {
  Value::Map record{{"1", "comm_fusion"}, {"kind", "dict"}};
  record["keys"] = Value::List{Value::Map{{"1", "openstate"}, {"kind", "bool"}, {"since", "2.3.0-rc2"}}};
  const auto attributes = AttributesFromValue("set_auto_parallel_context", record, kHere);
  ASSERT_TRUE(attributes);
  ASSERT_EQ(attributes->front().keys.size(), 1U);
  EXPECT_EQ(attributes->front().keys.front().name, "openstate");
  record["keys"] = Value::List{Value::Map{{"1", "openstate"}, {"knid", "bool"}}};
  const auto misspelt = AttributesFromValue("set_auto_parallel_context", record, kHere);
  ASSERT_FALSE(misspelt);
  EXPECT_NE(misspelt.error().front().message.find("\"knid\""), std::string::npos);
}

TEST(SchemaRecord, RefusesSubKeysThatDependOnNothing) {
  const Value key = Value::Map{{"1", "config"}, {"kind", "int"}, {"when", Value::Map{{"mod", "size"}}}};
  const Value record = Value::Map{{"1", "comm_fusion"}, {"kind", "dict"}, {"keys", Value::List{key}}};
  const auto attributes = AttributesFromValue("set_auto_parallel_context", record, kHere);
  ASSERT_FALSE(attributes);
  EXPECT_NE(attributes.error().front().message.find("\"mod\""), std::string::npos);
}

TEST(SchemaRecord, RefusesDeepNesting) {
  Value record = Value::Map{{"1", "leaf"}, {"kind", "int"}};
  for (int i = 0; i < 20; ++i) record = Value::Map{{"1", "level"}, {"kind", "dict"}, {"keys", Value::List{record}}};
  EXPECT_FALSE(AttributesFromValue("set_context", record, kHere));
}

TEST(Release, OrdersCandidatesBeforeTheFinalRelease) {
  EXPECT_LT(*ParseRelease("2.3.0-rc1"), *ParseRelease("2.3.0-rc2"));
  EXPECT_LT(*ParseRelease("2.3.0-rc2"), *ParseRelease("2.3.0"));
  EXPECT_LT(*ParseRelease("2.3.0"), *ParseRelease("2.3.1"));
  EXPECT_LT(*ParseRelease("1.9"), *ParseRelease("1.10"));
}

TEST(Release, ReadsBackWhatItWrites) {
  for (const char* text : {"0.3.1", "1.6.2", "2.3.0-rc2", "2.4.0"}) EXPECT_EQ(ReleaseText(*ParseRelease(text)), text);
  EXPECT_EQ(ReleaseText(*ParseRelease("1.6")), "1.6.0");
}

TEST(Release, RefusesWhatIsNone) {
  for (const char* text : {"", "1", "1.", "1.6.", "1.6.2.3", "v1.6", "1.6-rc", "1.6 ", "latest", "1.-6", "99999.1"}) {
    EXPECT_FALSE(ParseRelease(text)) << text;
  }
}

Value::Map RuleOf(const std::string& name) {
  return {{"1", name},
          {"kind", "conflict"},
          {"about", "set_context.mode"},
          {"when", Value::Map{{"set_context.mode", 1}}},
          {"says", "no"},
          {"source", Value::Map{{"document", "a page"}}}};
}

TEST(RuleRecord, ReadsConditionsAndSources) {
  Value::Map record = RuleOf("one");
  record["when"] = Value::Map{{"set_context.mode", 1},
                              {"set_context.a", Value::Map{{"above", 3}, {"set", true}}},
                              {"set_context.b", Value::Map{{"none_of", Value::List{"x", "y"}}}},
                              {"set_context.c", Value::Map{{"above_value_of", "job.workers"}}}};
  record["refused"] = true;
  record["since"] = "1.0";
  record["until"] = "1.6";
  record["source"] = Value::Map{{"document", "a page"}, {"behaviour", "fails"}};
  const auto rule = RuleFromValue(record, kHere);
  ASSERT_TRUE(rule) << rule.error().front().message;
  EXPECT_EQ(rule->when.at("set_context.mode").one_of, std::vector<Value>{1});
  EXPECT_EQ(rule->when.at("set_context.a").above, 3.0);
  EXPECT_EQ(rule->when.at("set_context.a").set, true);
  EXPECT_EQ(rule->when.at("set_context.b").none_of.size(), 2U);
  EXPECT_EQ(rule->when.at("set_context.c").above_value_of, "job.workers");
  EXPECT_EQ(rule->source, (RuleSource{"a page", "fails"}));
  EXPECT_FALSE(rule->HoldsIn({0, 3, 1}));
  EXPECT_TRUE(rule->HoldsIn({1, 6, 2}));
  EXPECT_FALSE(rule->HoldsIn({1, 9, 0}));
}

TEST(RuleRecord, IsRefusedWithoutASourceOrWithARefusalThatNobodyMakes) {
  const std::pair<const char*, Value> wrong[] = {
      {"source", Value::Map{}},
      {"source", Value::Map{{"document", ""}}},
      {"source", Value::Map{{"page", "a page"}}},
      {"source", "a page"},
      {"refused", true},  // by a document alone
      {"refused", 1},
      {"1", ""},
      {"kind", ""},
      {"about", ""},
      {"says", ""},
      {"when", Value::Map{}},
      {"when", Value::List{1}},
      {"when", Value::Map{{"set_context.mode", Value::Map{}}}},
      {"when", Value::Map{{"set_context.mode", Value::Map{{"below", 1}}}}},
      {"when", Value::Map{{"set_context.mode", Value::Map{{"above", "1"}}}}},
      {"says", "{parallel_mode}"},
      {"says", "{mode × release_}"},
      {"hint", "{mode"},
      {"until", "new"},
      {"sayz", "no"},
  };
  ASSERT_TRUE(RuleFromValue(RuleOf("one"), kHere));
  for (const auto& [field, value] : wrong) {
    Value::Map record = RuleOf("one");
    record[field] = value;
    const auto rule = RuleFromValue(record, kHere);
    ASSERT_FALSE(rule) << field << " = " << ToText(value);
    EXPECT_EQ(rule.error().front().kind, "schema");
    EXPECT_EQ(rule.error().front().place, kHere);
  }
  EXPECT_FALSE(RuleFromValue(Value(1), kHere));
}

TEST(RuleRecord, SpellsOutTheValuesThatItsTextsName) {
  Value::Map record = RuleOf("one");
  record["when"] = Value::Map{{"set_context.mode", 1}, {"job.workers", Value::Map{{"above", 1}}}};
  record["says"] = "{mode} in {release}, {mode × job.workers}, {workers}.";
  EXPECT_EQ(RuleFromValue(record, kHere)->says,
            "{set_context.mode} in {release}, {set_context.mode × job.workers}, {job.workers}.");
  record["when"] = Value::Map{{"set_context.mode", 1}, {"set_ps_context.mode", 1}};
  record["says"] = "{mode}";
  EXPECT_FALSE(RuleFromValue(record, kHere)) << "names two";
}

TEST(RuleRecord, NamesOnlyWhatTheSchemaHas) {
  Schema schema;
  ASSERT_TRUE(schema.Add("set_context", Value(Value::List{Record("mode")}), kHere).empty());
  EXPECT_TRUE(schema.AddRules(Value(Value::List{RuleOf("one")}), kHere).empty());
  EXPECT_EQ(schema.AddRules(Value(Value::List{RuleOf("one")}), kHere).size(), 1U) << "a name given twice";
  for (const char* path : {"set_context.moed", "set_contxet.mode", "mode", "set_context"}) {
    Value::Map record = RuleOf("two");
    record["when"] = Value::Map{{path, 1}};
    EXPECT_EQ(schema.AddRules(Value(Value::List{record}), kHere).size(), 1U) << path;
  }
  Value::Map record = RuleOf("two");
  record["about"] = "set_context";
  EXPECT_TRUE(schema.AddRules(Value(Value::List{record}), kHere).empty());
  EXPECT_EQ(schema.rules().size(), 2U);
}

TEST(SchemaRecord, RefusesFlagsOfWhatIsNoText) {
  Value::Map record = Record("flags");
  record["flags"] = Value::Map{{"opt_level", Value::List{"0"}}};
  EXPECT_FALSE(AttributesFromValue("set_context", record, kHere));
  record["kind"] = "string";
  EXPECT_TRUE(AttributesFromValue("set_context", record, kHere));
}

}  // namespace
}  // namespace muster
