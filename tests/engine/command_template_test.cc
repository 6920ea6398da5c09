// Tests placeholders of commands.
#include <gtest/gtest.h>

#include "engine/engine_page.h"

namespace muster {
namespace {

using Words = std::vector<std::string>;

TEST(CommandTemplate, FindsPlaceholdersAndReadsDoubledBraces) {
  EXPECT_EQ(PlaceholdersIn("--a={b}:{c}"), (Words{"b", "c"}));
  EXPECT_EQ(PlaceholdersIn("{{id}}|{{x}}"), Words{});
  EXPECT_FALSE(PlaceholdersIn("{"));
  EXPECT_FALSE(PlaceholdersIn("a}"));
  EXPECT_FALSE(PlaceholdersIn("{}"));
  EXPECT_FALSE(PlaceholdersIn("{a{b}}"));
}

TEST(CommandTemplate, FillsTextsWithinWordsAndListsAsWords) {
  TemplateValues values;
  values.texts = {{"count", "2"}, {"job", "7"}};
  values.lists = {{"each_host", {"n1", "n 2"}}};
  const Words words = {"x", "-n{count}", "{each_host}", "{job}", "{{id}}"};
  EXPECT_EQ(FilledCommand(words, values), (Words{"x", "-n2", "n1", "n 2", "7", "{id}"}));
}

TEST(CommandTemplate, AnEmptyListIsNoWord) {
  TemplateValues values;
  values.lists = {{"each_job", {}}};
  const Words words = {"scancel", "{each_job}"};
  EXPECT_EQ(FilledCommand(words, values), Words{"scancel"});
}

}  // namespace
}  // namespace muster
