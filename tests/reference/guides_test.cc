// Tests the topics that are not fields of recipes: guides, functions of the module, files, engines; and that whatever
// the program names as `muster docs NAME` is one.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "base/values/value_json.h"
#include "cli/lookup/own_reference.h"
#include "lua/state/own_data.h"
#include "reference/guide_topics.h"
#include "reference/own_reference.h"
#include "reference/page.h"
#include "support/places.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

const Topics& EveryTopic() {
  static const auto reference = OwnReference::Load({}).value();
  return reference->topics;
}

std::string TextOfTopic(const std::string& name, const TerminalStyle& style = {.colour = false, .width = 80}) {
  std::string text;
  for (const Topic* topic : TopicsNamed(EveryTopic(), name)) text += PageText(topic->page(), style);
  return text;
}

std::string Content(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(MarkdownPage, IsFormattedAsThePagesOfTheReference) {
  const Page page = PageOfMarkdown(
      "# The title\n\nSome *words* of\na [link](sweeps.md#axes), `code_*x` and **more** to [it](sweeps.md).\n"
      "<!-- not run: a comment -->\n\n## A part\n\n- one\n  goes on\n- two\n  1. inside\n\n"
      "| name | text |\n| --- | --- |\n| `a\\|b` | x |\n\n```lua\nlocal x = 1\n```\n![Picture](a.png)\n");
  EXPECT_EQ(PageText(page, {}),
            "The title\n"
            "  Some words of a link (muster docs sweeps), code_*x and more to it.\n"
            "\nA part\n"
            "  - one goes on\n"
            "  - two\n"
            "    1. inside\n"
            "\n"
            "  name  text\n"
            "  a|b   x\n"
            "\n"
            "    local x = 1\n"
            "\n"
            "  (picture) Picture\n");
}

TEST(PageText, NarrowsTheColumnsOfTables) {
  Page page;
  page.title = "t";
  page.blocks.emplace_back(
      Table{{"name", "values", "description"},
            {{"`first`", "one of many words that are long", "what it does, in one sentence"}, {"`second`", "x", "y"}}});
  EXPECT_EQ(PageText(page, {.colour = false, .width = 40}),
            "t\n"
            "  name    values       description\n"
            "  first   one of many  what it does, in\n"
            "          words that   one sentence\n"
            "          are long\n"
            "  second  x            y\n");
  const std::string records = PageText(page, {.colour = false, .width = 24});
  EXPECT_NE(records.find("  first\n      values: "), std::string::npos) << records;
}

// Prevents: pages that are installed nowhere.
TEST(Guides, AreAllPagesOfDocs) {
  std::size_t pages = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(MUSTER_SOURCE_DIR) / "docs")) {
    if (entry.path().extension() != ".md" || entry.path().stem() == "README") continue;
    ++pages;
    const std::string name = entry.path().stem();
    EXPECT_TRUE(GuideText(name) == Content(entry.path())) << name;
    for (const std::string& form : {name, name + ".md", "docs/" + name + ".md"}) {
      const auto found = TopicsNamed(EveryTopic(), form);
      ASSERT_FALSE(found.empty()) << form << " (does docs/README.md link it?)";
      EXPECT_TRUE(found.back()->kind.starts_with(kGuides)) << form;
    }
  }
  EXPECT_GT(pages, 30U);
}

TEST(Guides, FitTheTerminal) {
  for (const Topic& topic : EveryTopic()) {
    if (!topic.listed) continue;
    const std::string text = PageText(topic.page(), {.colour = false, .width = 80});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const bool code = line.starts_with("    ");  // copied as it is
      std::size_t columns = 0;
      for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0U) == 0x80U ? 0 : 1;
      const bool one_word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;
      EXPECT_TRUE(columns <= 80 || code || one_word) << topic.name << ": " << line;
    }
  }
}

TEST(Guides, FollowTheReferenceOfTheSameName) {
  const auto found = TopicsNamed(EveryTopic(), "slurm");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->kind, "engines");
  EXPECT_EQ(found[1]->name, "slurm");
  EXPECT_EQ(TopicsNamed(EveryTopic(), "slurm.md").size(), 1U);
  EXPECT_TRUE(TextOfTopic("sweeps").starts_with("Sweeps\n"));
}

TEST(DefinitionTopics, DescribeFunctions) {
  const std::string flags = TextOfTopic("muster.flags");
  for (const char* part : {"muster.flags(parameters, [options])\n", "Parameters as command-line arguments.",
                           "Fields of options\n", "dashes", "--log-level for log_level"}) {
    EXPECT_NE(flags.find(part), std::string::npos) << part << "\n" << flags;
  }
  EXPECT_EQ(TextOfTopic("flags"), flags);
  EXPECT_NE(TextOfTopic("muster.int").find("muster docs parameters"), std::string::npos);
  EXPECT_NE(TextOfTopic("muster.unset").find("Removes an inherited variable"), std::string::npos);
  EXPECT_EQ(UnknownTopic(EveryTopic(), "muster.flagz", "topic").hint, "did you mean \"muster.flags\"?");
  EXPECT_EQ(UnknownTopic(EveryTopic(), "slurm.partitoin", "topic").hint, "did you mean \"slurm.partition\"?");
  EXPECT_EQ(UnknownTopic(EveryTopic(), "recipe-giude", "topic").hint, "did you mean \"recipe-guide\"?");
}

TEST(DefinitionTopics, DescribeSweepFilesSiteFilesAndContracts) {
  for (const char* name : {"sweep",          "sweep.space",   "sweep.early_stop",
                           "budget.slots",   "retry.on",      "metrics.stdout",
                           "site",           "site.run_root", "environment.pass",
                           "contract.roles", "space",         "sampler",
                           "objective",      "early_stop",    "axes",
                           "asha",           "muster.asha",   "hyperband",
                           "sobol",          "union",         "when"}) {
    EXPECT_NE(TextOfTopic(name), "") << name;
  }
  EXPECT_NE(TextOfTopic("sampler").find("muster.sobol"), std::string::npos);
  EXPECT_NE(TextOfTopic("sweep").find("muster.grid"), std::string::npos) << "what a field takes";
  EXPECT_NE(TextOfTopic("muster.asha").find("min_results"), std::string::npos);
}

TEST(EngineTopics, DescribeEveryOptionOfEveryEngine) {
  for (const std::string& name : OwnEngineNames()) {
    const Value engine = OwnEngine(name).value();
    for (const Value& option : ListField(engine, "options")) {
      EXPECT_FALSE(TextField(option, "doc").empty()) << name;
      const std::string text = TextOfTopic(name + "." + TextField(option, "name"));
      EXPECT_NE(text.find("  " + TextField(option, "name") + " "), std::string::npos) << text;
    }
  }
}

// What follows `muster docs` in the text, outside of comments.
std::vector<std::string> NamesIn(const std::string& text) {
  static const std::regex kName(R"(muster docs ([A-Za-z@][\w.:@-]*))");
  std::vector<std::string> names;
  for (auto found = std::sregex_iterator(text.begin(), text.end(), kName); found != std::sregex_iterator(); ++found) {
    std::string name = (*found)[1];
    while (name.ends_with('.') || name.ends_with(':') || name.ends_with('-')) name.pop_back();
    const bool placeholder = name.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
    if (!placeholder) names.push_back(name);
  }
  return names;
}

bool IsComment(const fs::path& path, std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return path.extension() == ".lua" ? line.starts_with("--") && !line.starts_with("---") : line.starts_with("//");
}

// Prevents: messages that name pages which an installed muster does not have.
TEST(Docs, HaveEveryTopicThatMessagesName) {
  std::size_t named = 0;
  for (const char* folder : {"src", "include", "lua", "python", "web", "recipes", "docs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(MUSTER_SOURCE_DIR) / folder)) {
      const fs::path& path = entry.path();
      if (!entry.is_regular_file() || path.string().find("/decisions/") != std::string::npos) continue;
      const std::string kind = path.extension();
      if (kind != ".cc" && kind != ".h" && kind != ".lua" && kind != ".py" && kind != ".js" && kind != ".md") continue;
      std::istringstream lines(Content(path));
      for (std::string line; std::getline(lines, line);) {
        for (const std::string& name : NamesIn(line)) {
          ++named;
          EXPECT_FALSE(TopicsNamed(EveryTopic(), name).empty()) << path << ": " << line;
        }
        if (kind == ".md" || IsComment(path, line)) continue;
        static const std::regex kPage(R"(^(?!.*//).*docs/[\w-]+\.md)");
        EXPECT_FALSE(std::regex_search(line, kPage)) << path << ": write muster docs NAME: " << line;
      }
    }
  }
  EXPECT_GT(named, 60U);
}

}  // namespace
}  // namespace muster
