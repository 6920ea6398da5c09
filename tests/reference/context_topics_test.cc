// Tests the list of topics and their lookup.
#include "reference/context_topics.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "reference/attribute_facts.h"
#include "reference/own_reference.h"

namespace muster {
namespace {

Topics AllTopics(const char* release = nullptr) {
  const auto named = release == nullptr ? std::nullopt : ParseRelease(release);
  return ContextTopics(OwnSchemaForTests(), OwnOutlineForTests(), named);
}

std::vector<std::string> NamesOf(const std::vector<const Topic*>& topics) {
  std::vector<std::string> names;
  for (const Topic* topic : topics) names.push_back(topic->kind + " " + topic->name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Outline, HasEveryGroupAndAreaThatAttributesName) {
  const Outline& outline = OwnOutlineForTests();
  std::set<std::string> groups;
  std::set<std::string> areas;
  for (const Outline::Entry& entry : outline.groups) groups.insert(entry.function + " " + entry.name);
  for (const Outline::Entry& entry : outline.areas) areas.insert(entry.name);
  std::set<std::string> used_groups;
  std::set<std::string> used_areas;
  Names functions;
  for (const Outline::Entry& entry : outline.functions) functions.push_back(entry.name);
  std::sort(functions.begin(), functions.end());
  EXPECT_EQ(functions, OwnSchemaForTests().Functions());
  for (const std::string& function : functions) {
    for (const auto& [name, records] : OwnSchemaForTests().attributes(function)) {
      for (const Attribute& attribute : records) {
        used_groups.insert(function + " " + attribute.group);
        if (!attribute.area.empty()) used_areas.insert(attribute.area);
      }
    }
  }
  EXPECT_EQ(groups, used_groups);
  EXPECT_EQ(areas, used_areas);
}

TEST(Outline, ThatIsMalformedIsRefused) {
  EXPECT_FALSE(OutlineFromValue(Value(1)));
  EXPECT_FALSE(OutlineFromValue(Value(Value::Map{})));
  const Value::List bad = {Value(Value::Map{{"1", Value("x")}, {"colour", Value("red")}})};
  const auto read =
      OutlineFromValue(Value(Value::Map{{"functions", Value(bad)}, {"groups", Value(bad)}, {"areas", Value(bad)}}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().front().kind, "schema");
}

TEST(Topics, HaveAPageWithDataForEveryName) {
  const Topics topics = AllTopics();
  EXPECT_GT(topics.size(), 150U);
  for (const Topic& topic : topics) {
    const Page page = topic.page();
    EXPECT_FALSE(page.title.empty()) << topic.name;
    EXPECT_FALSE(topic.summary.empty()) << topic.name;
    ASSERT_NE(page.data.AsMap(), nullptr) << topic.name;
    EXPECT_TRUE(page.data.AsMap()->contains("kind")) << topic.name;
    EXPECT_FALSE(TopicsNamed(topics, topic.name).empty());
  }
}

TEST(Topics, AreFoundByTheirNamesAndAliases) {
  const Topics topics = AllTopics();
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "device_id")), Names{"attribute device_id"});
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "set_context.device_id")), Names{"attribute device_id"});
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "mode")), Names{"attribute mode"}) << "not the area of that name";
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "precision_mode")), Names{"sub-key ascend_config.precision_mode"});
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "get_ps_context")), Names{"function set_ps_context"});
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "reset_context")), Names{}) << "there is no such function";
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "ParallelMode.AUTO_PARALLEL")), Names{"attribute parallel_mode"});
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "system")), Names{"group system"});
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "hardware")), Names{"area of the guide of 1.0 hardware"});
  EXPECT_GT(TopicsNamed(topics, "optimizer_weight_shard_size").size(), 0U);
}

TEST(Topics, OfOneReleaseDescribeThatRelease) {
  EXPECT_TRUE(TopicsNamed(AllTopics("2.3.1"), "mirror_mean").empty());
  EXPECT_EQ(TopicsNamed(AllTopics("0.3.1"), "mirror_mean").size(), 1U);
  EXPECT_TRUE(TopicsNamed(AllTopics("0.3.1"), "set_ps_context").empty());
  const Page page = PageOf(AllTopics("1.6.2"), "mode");
  ASSERT_EQ(page.data.AsMap()->at("releases").AsList()->size(), 1U);
  const Value::Map& record = *page.data.AsMap()->at("releases").AsList()->front().AsMap();
  EXPECT_EQ(record.at("release"), Value("1.6.2"));
  EXPECT_EQ(record.at("default"), Value(0));
  EXPECT_EQ(record.at("constants"), Value(Value::Map{{"GRAPH_MODE", Value(0)}, {"PYNATIVE_MODE", Value(1)}}));
}

TEST(Topics, ThatAReleaseLacksNameAReplacement) {
  const Release release = *ParseRelease("2.3.1");
  const auto removed = NotInRelease(OwnSchemaForTests(), release, "mirror_mean");
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->kind, "release");
  EXPECT_EQ(removed->hint, "use gradients_mean");
  const auto later = NotInRelease(OwnSchemaForTests(), release, "ascend_config.hccl_watchdog");
  ASSERT_TRUE(later);
  EXPECT_NE(later->message.find("ascend_config.hccl_watchdog is not in MindSpore 2.3.1"), std::string::npos);
  EXPECT_EQ(NotInRelease(OwnSchemaForTests(), release, "xyzzy"), std::nullopt);
  EXPECT_EQ(NotInRelease(OwnSchemaForTests(), *ParseRelease("0.3.1"), "set_ps_context")->kind, "release");
}

TEST(Topics, AreSuggestedForTypos) {
  const Topics topics = AllTopics();
  const Diagnostic near = UnknownTopic(topics, "devic_target", "topic");
  EXPECT_EQ(near.kind, "unknown_topic");
  EXPECT_EQ(near.hint, "did you mean \"device_target\"?");
  EXPECT_EQ(UnknownTopic(topics, "ascend_config.precison_mode", "topic").hint,
            "did you mean \"ascend_config.precision_mode\"?");
  EXPECT_NE(UnknownTopic(topics, "xyzzy", "topic").hint.find("set_context"), std::string::npos)
      << "without a near one, what the overview lists";
}

TEST(Topics, AreListedByKindInTheOverview) {
  Topics topics;
  topics.push_back({"one", "kind", "the first", {}, true, {}});
  topics.push_back({"two", "kind", "not listed", {}, false, {}});
  topics.push_back({"three", "other", "the third", {}, true, {}});
  const Page page = OverviewPage(topics);
  std::vector<Table> tables;
  for (const Block& block : page.blocks) {
    if (const Table* table = std::get_if<Table>(&block)) tables.push_back(*table);
  }
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].columns[0], "kind");
  EXPECT_EQ(tables[0].rows, (std::vector<std::vector<std::string>>{{"`one`", "the first"}}));
  EXPECT_EQ(page.data.AsMap()->at("topics").AsList()->size(), 3U) << "programs see all of them";
}

TEST(JsonFiles, HavePagesWithTheirKeys) {
  const Topics topics = AllTopics();
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "env_config.rdr.mode")), Names{"key env_config.rdr.mode"});
  EXPECT_EQ(NamesOf(TopicsNamed(topics, "connection_num")), Names{"key ps_config.connection_num"});
  const Page page = PageOf(topics, "ps_config");
  EXPECT_EQ(page.data.AsMap()->at("kind"), Value("JSON file"));
  EXPECT_EQ(page.data.AsMap()->at("function"), Value());
  EXPECT_EQ(page.data.AsMap()->at("keys").AsList()->size(), 8U);
  const auto* example = std::get_if<Example>(&page.blocks.front());
  ASSERT_NE(example, nullptr);
  EXPECT_EQ(example->lines, Names{"context.set_ps_context { config_file_path = muster.file \"ps_config.json\" }"});
  EXPECT_EQ(std::get<Example>(PageOf(topics, "env_config.rdr.mode").blocks.front()).lines,
            Names{"{ \"rdr\": { \"mode\": … } }"});
  EXPECT_EQ(NotInRelease(OwnSchemaForTests(), *ParseRelease("1.6.2"), "parallel_speed_up")->kind, "release");
}

TEST(Topics, ListRulesOnThePagesOfAllTheyName) {
  const Topics topics = AllTopics();
  EXPECT_EQ(PageOf(topics, "rules").data.AsMap()->at("rules").AsList()->size(), OwnSchemaForTests().rules().size());
  const Page page = PageOf(topics, "memory_optimize_level");
  EXPECT_EQ(page.data.AsMap()->at("rules").AsList()->size(), 1U);
  const auto& facts = std::get<FactList>(page.blocks.back()).facts;
  EXPECT_EQ(facts.back().label, "rules");
  const Page table = PageOf(topics, "jit_config");
  const auto& below = std::get<FactList>(table.blocks[2]).facts.back();
  EXPECT_EQ(below.label, "rules below");
  EXPECT_EQ(below.lines, Names{"see `jit_config.infer_boost` and `jit_config.jit_level`"});
  for (const auto& [release, rules] : {std::pair("1.6.2", 1U), std::pair("1.9.0", 0U)}) {
    const Page cache = PageOf(AllTopics(release), "enable_compile_cache");
    EXPECT_EQ(cache.data.AsMap()->at("rules").AsList()->size(), rules) << release;
  }
}

TEST(SubKeys, ThatDependOnASiblingDescribeEveryVariant) {
  const Page page = PageOf(AllTopics(), "comm_fusion.allreduce.config");
  const auto lists = std::count_if(page.blocks.begin(), page.blocks.end(),
                                   [](const Block& block) { return std::holds_alternative<FactList>(block); });
  EXPECT_EQ(lists, 3);
}

}  // namespace
}  // namespace muster
