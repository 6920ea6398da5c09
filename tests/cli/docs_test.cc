// Tests the command muster docs. tests/reference tests the content of its pages.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"
#include "support/on_terminal.h"
#include "support/places.h"

namespace muster::testing {
namespace {

using nlohmann::json;

TEST(Docs, WithoutATopicListTheTopics) {
  const CommandResult result = Muster({"docs"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* name : {"  set_context  ", "  execution  ", "  maintenance  ", "  releases  "})
    EXPECT_NE(result.out.find(name), std::string::npos) << name;
  EXPECT_EQ(result.err, "");
}

TEST(Docs, DescribeOneAttributeWithoutColourInAPipe) {
  const CommandResult result = Muster({"docs", "grad_for_scalar"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "grad_for_scalar\n"
            "    context.set_context { grad_for_scalar = … }\n"
            "\n"
            "  Give gradients of scalar inputs as well.\n"
            "\n"
            "  releases   1.6.2 and later\n"
            "  listed in  group execution\n"
            "  status     2.5.0 and later: deprecated: use the derivative of a tensor instead\n"
            "  type       true or false\n"
            "  default    false\n");
}

TEST(Docs, OfOneReleaseDescribeThatRelease) {
  EXPECT_NE(Muster({"docs", "mode", "--mindspore", "1.6"}).out.find("default    0 (context.GRAPH_MODE)\n"),
            std::string::npos);
  const CommandResult gone = Muster({"docs", "mirror_mean", "--mindspore", "2.3"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_EQ(gone.out, "");
  EXPECT_EQ(gone.err,
            "muster: error: mirror_mean is not in MindSpore 2.3.1: it has been removed\nhint: use gradients_mean\n");
}

TEST(Docs, OfAGroupListItsAttributes) {
  const CommandResult result = Muster({"docs", "--group", "mode"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.starts_with("Execution mode management\n")) << result.out;
  EXPECT_NE(Muster({"docs", "--group", "system"}).out.find("  max_device_memory "), std::string::npos);
  const CommandResult slip = Muster({"docs", "--group", "sytem"});
  EXPECT_EQ(slip.exit_code, 2);
  EXPECT_EQ(slip.err, "muster: error: there is no group \"sytem\"\nhint: did you mean \"system\"?\n");
}

TEST(Docs, SuggestCorrectionsOfTypos) {
  const CommandResult result = Muster({"docs", "devce_id"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "muster: error: there is no topic \"devce_id\"\nhint: did you mean \"device_id\"?\n");
  EXPECT_EQ(json::parse(Muster({"docs", "devce_id", "--json"}).out)["diagnostics"][0]["kind"], "unknown_topic");
}

TEST(Docs, AreJsonForPrograms) {
  const json whole = json::parse(Muster({"docs", "ascend_config.precision_mode", "--json"}).out);
  EXPECT_EQ(whole["format"], 1);
  ASSERT_EQ(whole["topics"].size(), 1U);
  const json& topic = whole["topics"][0];
  for (const char* key : {"name", "kind", "function", "summary", "group", "area", "releases", "keys", "rules"})
    EXPECT_TRUE(topic.contains(key)) << key;
  EXPECT_EQ(topic["name"], "ascend_config.precision_mode");
  EXPECT_EQ(topic["releases"][0]["release"], "2.3.0-rc2");
  EXPECT_EQ(topic["releases"][0]["type"], json::array({"enum"}));
  EXPECT_GT(json::parse(Muster({"docs", "--json"}).out)["topics"][0]["topics"].size(), 150U);
}

TEST(Docs, AreMarkdownAndDefinitionsForEditors) {
  EXPECT_TRUE(Muster({"docs", "mode", "--markdown"}).out.starts_with("# `mode`\n"));
  EXPECT_TRUE(Muster({"docs", "--markdown"}).out.starts_with("# Attributes of the context API\n"));
  EXPECT_TRUE(Muster({"docs", "--stub"}).out.starts_with("---@meta muster.context\n"));
  EXPECT_EQ(Muster({"docs", "mode", "--stub"}).exit_code, 2);
}

TEST(Docs, HaveTheGuides) {
  const CommandResult guide = Muster({"docs", "sweeps"});
  EXPECT_EQ(guide.exit_code, 0);
  EXPECT_TRUE(guide.out.starts_with("Sweeps\n")) << guide.out;
  EXPECT_TRUE(Muster({"docs", "sweeps", "--markdown"}).out.starts_with("# Sweeps\n"));
  EXPECT_EQ(json::parse(Muster({"docs", "docs/sweeps.md", "--json"}).out)["topics"][0]["kind"], "guide");
  const std::string list = Muster({"docs"}).out;
  for (const char* part : {"guides: how-to guides", "  sweeps  ", "  muster.flags  ", "  slurm  ", "  site  "})
    EXPECT_NE(list.find(part), std::string::npos) << part;
  EXPECT_EQ(Muster({"docs", "sweepz"}).err,
            "muster: error: there is no topic \"sweepz\"\nhint: did you mean \"sweep\"?\n");
}

// On a terminal through the pager, which gets the text in the terminal's width; a short topic is printed without it.
TEST(Docs, AreShownByThePagerOfATerminal) {
  const auto shown = [&](const char* topic) {
    OnTerminal terminal({"/usr/bin/env", "MUSTER_PAGER=sed s/^/paged:/", MusterProgram(), "docs", topic},
                        MUSTER_SOURCE_DIR, 24, 80);
    EXPECT_EQ(terminal.End(), 0);
    return terminal.written;
  };
  EXPECT_NE(shown("sweeps").find("paged:"), std::string::npos);
  EXPECT_EQ(shown("muster.size").find("paged:"), std::string::npos);
}

TEST(Docs, OfADevelopersFilesAreReadBelowTheirFolder) {
  const TempDir folder;
  std::filesystem::create_directories(folder / "muster/schema");
  std::ofstream(folder / "muster/schema/outline.lua") << "return 1 +";
  const CommandResult result = Muster({"docs"}, {"MUSTER_LUA_PATH=" + folder.path()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("lua/muster/schema/outline.lua: error: "), std::string::npos) << result.err;
}

}  // namespace
}  // namespace muster::testing
