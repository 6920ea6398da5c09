// Tests completion, hover and definitions from muster's own types and schema, without an evaluation.
#include "lsp/knowledge.h"

#include <gtest/gtest.h>

#include "lua/state/own_data.h"

namespace muster {
namespace {

class KnowledgeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto records = OwnData("muster/reference/types.lua");
    ASSERT_TRUE(records);
    types_ = ApiTypes::From(*records);
    auto schema = OwnSchema();
    ASSERT_TRUE(schema);
    schema_ = *std::move(schema);
  }

  // The cursor is at the "|" of a text behind the usual first lines.
  std::vector<std::string> LabelsAt(std::string text) {
    Place(std::move(text));
    std::vector<std::string> labels;
    for (const Suggestion& suggestion : SuggestionsAt(cursor_, View())) labels.push_back(suggestion.label);
    return labels;
  }
  std::string Hover(std::string text) {
    Place(std::move(text));
    return HoverAt(cursor_, View());
  }
  bool Offers(const std::string& text, const std::string& label) {
    const auto labels = LabelsAt(text);
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }
  void Place(std::string text) {
    text_ =
        "local muster = require \"muster\"\nlocal context = require \"muster.context\"\nlocal mindspore = require "
        "\"muster.mindspore\"\n" +
        text;
    const std::size_t at = text_.find('|');
    text_.erase(at, 1);
    cursor_ = CursorAt(text_, at);
    outline_ = OutlineOf(text_);
  }
  RecipeView View() {
    RecipeView view;
    view.types = &types_;
    view.outline = &outline_;
    view.reference.schema = &schema_;
    if (!outline_.release.empty()) view.reference.release = *schema_.FindRelease(outline_.release, {});
    return view;
  }

  ApiTypes types_;
  Schema schema_;
  std::string text_;
  Cursor cursor_;
  RecipeOutline outline_;
};

TEST_F(KnowledgeTest, OffersFunctionsAndFieldsOfTables) {
  EXPECT_TRUE(Offers("x = muster.|", "exact_div"));
  EXPECT_TRUE(Offers("return muster.recipe { fr| }", "framework"));
  EXPECT_TRUE(Offers("return muster.recipe { cluster = { | } }", "devices_per_host"));
  EXPECT_TRUE(Offers("x = muster.int { 4, m| }", "min"));
  EXPECT_TRUE(Offers("return muster.sweep { budget = { | } }", "trials"));
  EXPECT_TRUE(Offers("return muster.recipe { slurm = { | } }", "partition"));
  EXPECT_TRUE(Offers("return muster.load(\"a.lua\"):extend { | }", "params"));
}

TEST_F(KnowledgeTest, OffersMembersOfTheJobAndOfProcesses) {
  const std::string plan = "return muster.recipe { plan = function(p, job) ";
  EXPECT_TRUE(Offers(plan + "job:|", "workers"));
  EXPECT_TRUE(Offers(plan + "x = job.cluster.|", "devices_per_host"));
  EXPECT_TRUE(Offers(plan + "job:workers { | }", "visible"));
  EXPECT_TRUE(Offers(plan + "job:role \"eval\" { | }", "world"));
  EXPECT_TRUE(Offers(plan + "job:workers { restart = { | } }", "backoff"));
  EXPECT_TRUE(Offers(plan + "job:workers { each = function(process) process.|", "local_rank"));
  EXPECT_FALSE(Offers(plan + "job:|", "cluster"));
}

TEST_F(KnowledgeTest, OffersValuesOfEnumerations) {
  const std::string plan = "return muster.recipe { plan = function(p, job) ";
  EXPECT_EQ(LabelsAt(plan + "job:workers { visible = \"|\" }"), (std::vector<std::string>{"job", "own"}));
  EXPECT_TRUE(Offers(plan + "job:workers { visible = | }", "\"own\""));
  EXPECT_TRUE(Offers("return muster.recipe { framework = \"|\" }", "torch"));
  EXPECT_TRUE(Offers("return muster.recipe { notify = { on = { \"|\" } } }", "trial_failed"));
  EXPECT_TRUE(Offers("return muster.recipe { mindspore = \"|\" }", "2.3.1"));
}

TEST_F(KnowledgeTest, OffersAttributesOfTheRecipesRelease) {
  const std::string plan = "plan = function(p, job) ";
  EXPECT_TRUE(
      Offers("return muster.recipe { mindspore = \"2.3.1\", " + plan + "context.set_context { | }", "ascend_config"));
  EXPECT_FALSE(
      Offers("return muster.recipe { mindspore = \"1.6.2\", " + plan + "context.set_context { | }", "ascend_config"));
  EXPECT_TRUE(Offers(plan + "context.set_context { ascend_config = { | } }", "precision_mode"));
  EXPECT_TRUE(Offers(plan + "context.set_context { mode = | }", "context.GRAPH_MODE"));
  EXPECT_TRUE(Offers(plan + "context.|", "set_auto_parallel_context"));
  EXPECT_TRUE(Offers(plan + "x = context.ParallelMode.|", "SEMI_AUTO_PARALLEL"));
  EXPECT_TRUE(Offers(plan + "mindspore.runtime.|", "set_memory"));
}

TEST_F(KnowledgeTest, OffersDeclaredParameters) {
  const std::string recipe =
      "return muster.recipe { params = { layers = muster.int { 4 }, opt = { lr = muster.float { 1 } } }, ";
  EXPECT_EQ(LabelsAt(recipe + "plan = function(p, job) x = p.|"), (std::vector<std::string>{"layers", "opt"}));
  EXPECT_EQ(LabelsAt(recipe + "plan = function(p, job) x = p.opt.|"), (std::vector<std::string>{"lr"}));
  EXPECT_TRUE(Offers(recipe + "profiles = { small = { | } }", "layers"));
}

TEST_F(KnowledgeTest, ExplainsWhatIsUnderTheCursor) {
  EXPECT_NE(Hover("x = muster.exact_|div { }").find("Exact division"), std::string::npos);
  EXPECT_NE(Hover("return muster.recipe { mindspo|re = 1 }").find("MindSpore release"), std::string::npos);
  EXPECT_NE(Hover("return muster.recipe { plan = function(p, job) job:work|ers {} end }").find("workers"),
            std::string::npos);
  EXPECT_NE(Hover("return muster.recipe { params = { lay|ers = muster.int { 4 } } }").find("parameter layers: int"),
            std::string::npos);
  EXPECT_EQ(Hover("unknown.thi|ng = 1"), "");
  EXPECT_EQ(Hover("-- wor|d"), "");
}

TEST_F(KnowledgeTest, FindsDeclarations) {
  Place("return muster.recipe { params = { layers = muster.int { 4 } }, plan = function(p, job) x = p.lay|ers end }");
  const auto parameter = DefinitionAt(cursor_, View());
  ASSERT_TRUE(parameter && parameter->here);
  EXPECT_EQ(text_.substr(parameter->here->first, 10), "layers = m");
  Place("local base = muster.load \"g|pt.lua\"");
  const auto file = DefinitionAt(cursor_, View());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->file, "gpt.lua");
  Place("local lib = require(\"lib.op|tim\")");
  ASSERT_TRUE(DefinitionAt(cursor_, View()));
  EXPECT_EQ(DefinitionAt(cursor_, View())->file, "lib/optim.lua");
  Place("local abc = 1\nx = ab|c");
  ASSERT_TRUE(DefinitionAt(cursor_, View()));
  EXPECT_FALSE(DefinitionAt(CursorAt("x", 1), View()));
}

}  // namespace
}  // namespace muster
