// Tests reading pages of engines, and what is wrong with them.
#include "engine/engine_page.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "engine/own_page.h"
#include "plan/environment/site_file.h"

namespace muster {
namespace {

// A page with everything that a page must have.
Value::Map Least() {
  return {
      {"name", Value("mine")},
      {"doc", Value("A queue of our own.")},
      {"inside", Value("MINE_JOB")},
      {"job", Value(Value::Map{{"variable", Value("MINE_JOB")}})},
      {"hosts", Value(Value::Map{{"file", Value("MINE_HOSTS")}, {"form", Value("lines")}})},
      {"start", Value(Value::List{Value("mrun"), Value("{agent}"), Value("{dial_file}"), Value("{each_host}")})},
      {"options", Value(Value::List{Value(Value::Map{{"name", Value("nodes")}, {"type", Value("count")}})})},
      {"script", Value(Value::Map{{"directive", Value("#MINE ")}})},
      {"submit", Value(Value::Map{{"command", Value(Value::List{Value("msub")})}})},
      {"cancel", Value(Value::List{Value("mdel"), Value("{job}")})},
      {"queries", Value(Value::List{Value(Value::Map{{"command", Value(Value::List{Value("mstat")})},
                                                     {"columns", Value(Value::List{Value("job"), Value("state")})}})})},
      {"states", Value(Value::Map{{"R", Value("running")}})}};
}

std::vector<std::string> Problems(Value::Map page, const std::map<std::string, std::uint32_t>& lines = {}) {
  const auto read = ReadEnginePage(Value(std::move(page)), "mine.lua", lines);
  std::vector<std::string> reported;
  if (read) return reported;
  for (const Diagnostic& problem : read.error()) {
    reported.push_back(problem.place.file + ":" + std::to_string(problem.place.line) + " " + problem.kind + ": " +
                       problem.message + (problem.hint.empty() ? "" : " [" + problem.hint + "]"));
  }
  return reported;
}

Value::Map PageWith(const std::string& field, Value value) {
  Value::Map page = Least();
  page[field] = std::move(value);
  return page;
}

using Words = std::vector<std::string>;

TEST(EnginePage, AllOfTheProgramsOwnAreSound) {
  const auto names = OwnEngineNames();
  EXPECT_EQ(names, (Words{"flux", "gridengine", "kubernetes", "lsf", "pbs", "slurm"}));
  for (const std::string& name : names) EXPECT_EQ(testing::OwnPage(name).name, name);
}

TEST(EnginePage, EachOfTheProgramsOwnHasItsTableInRecipesAndSiteFiles) {
  const auto names = OwnEngineNames();
  const auto of_sites = EnginesOfSiteFiles();
  EXPECT_EQ(names, Words(of_sites.begin(), of_sites.end()));
  const auto sections = OwnData("muster/recipe_fields.lua");
  ASSERT_TRUE(sections);
  Words of_recipes;
  for (const Value& field : *sections->AsList()->front().AsMap()->at("fields").AsList()) {
    if (field.AsMap()->contains("engine")) of_recipes.push_back(*field.AsMap()->at("name").AsString());
  }
  std::sort(of_recipes.begin(), of_recipes.end());
  EXPECT_EQ(names, of_recipes);
}

TEST(EnginePage, EachOfTheProgramsOwnIsRecognisedByItsVariable) {
  const auto signs = OwnEngineSigns();
  ASSERT_TRUE(signs);
  auto names = OwnEngineNames();
  std::erase_if(names, [](const std::string& name) { return testing::OwnPage(name).manifest; });
  ASSERT_EQ(signs->AsList()->size(), names.size());
  for (const Value& sign : *signs->AsList()) {
    const Value::Map& fields = *sign.AsMap();
    EXPECT_EQ(*fields.at("inside").AsString(), testing::OwnPage(*fields.at("name").AsString()).inside);
  }
}

TEST(EnginePage, ThoseOfTheProgramSayWhatTheyWereTriedWith) {
  EXPECT_EQ(testing::OwnPage("slurm").tried, "Slurm 22.05.8, as Debian 12 packages it");
  EXPECT_EQ(testing::OwnPage("lsf").tried, "");
}

TEST(EnginePage, OneOfAUserNeedsFewFields) {
  const auto page = ReadEnginePage(Value(Least()), "mine.lua", {});
  ASSERT_TRUE(page) << page.error().front().message;
  EXPECT_EQ(page->hosts.form, HostListForm::kLines);
  EXPECT_EQ(page->states.at("R"), JobState::kRunning);
  EXPECT_TRUE(page->signal.empty());
}

TEST(EnginePage, ProblemsHaveTheLineOfTheirFieldOrOfTheTableAroundIt) {
  EXPECT_EQ(Problems(PageWith("hosts", Value(Value::Map{{"variable", Value("A")}, {"form", Value("linse")}})),
                     {{"hosts", 7}}),
            Words{"mine.lua:7 enum: hosts.form is one of \"compressed\", \"lines\", \"words\", \"counts\", \"pairs\", "
                  "got \"linse\" "
                  "[did you mean \"lines\"?]"});
  EXPECT_EQ(Problems(PageWith("Start", Value(1)), {{"Start", 3}}),
            Words{"mine.lua:3 unknown_key: an engine's page has no field Start [did you mean \"start\"?]"});
}

TEST(EnginePage, CommandsHaveOnlyPlaceholdersThatAreKnown) {
  EXPECT_EQ(Problems(PageWith("cancel", Value(Value::List{Value("mdel"), Value("{jop}")}))),
            Words{"mine.lua:0 unknown_key: cancel has no placeholder {jop} [did you mean \"job\"?]"});
  EXPECT_EQ(Problems(PageWith("cancel", Value(Value::List{Value("mdel"), Value("-{each_job}")}))),
            Words{"mine.lua:0 format: cancel: {each_job} becomes several words, so it is a word of its own, got "
                  "\"-{each_job}\""});
  EXPECT_EQ(Problems(PageWith("start", Value(Value::List{Value("mrun"), Value("{agent}")}))),
            Words{"mine.lua:0 missing: start has no placeholder {dial_file}"});
  EXPECT_EQ(Problems(PageWith("cancel", Value(Value::List{Value("mdel"), Value("{job")}))),
            Words{"mine.lua:0 format: cancel: \"{job\" has a '{' that is not closed; a brace is written twice"});
}

TEST(EnginePage, EveryMissingFieldIsReported) {
  const auto reported = Problems({});
  EXPECT_GE(reported.size(), 10U);
  EXPECT_NE(std::find(reported.begin(), reported.end(), "mine.lua:0 missing: an engine's page has no start"),
            reported.end());
}

TEST(EnginePage, TextsAreOneLine) {
  EXPECT_EQ(Problems(PageWith("doc", Value("a\nb"))).size(), 1U);
  EXPECT_EQ(Problems(PageWith("doc", Value("\xff"))).size(), 1U);
  EXPECT_EQ(Problems(PageWith("name", Value("My Engine"))).size(), 1U);
}

TEST(EnginePage, AQueryNamesTheJobAndItsState) {
  EXPECT_EQ(Problems(PageWith("queries",
                              Value(Value::List{Value(Value::Map{{"command", Value(Value::List{Value("mstat")})},
                                                                 {"columns", Value(Value::List{Value("state")})}})}))),
            Words{"mine.lua:0 missing: columns of a query has job, and state or exit"});
}

TEST(EnginePage, ATextComesFromOnePlace) {
  EXPECT_EQ(Problems(PageWith("job", Value(Value::Map{{"variable", Value("A")}, {"file", Value("B")}}))).size(), 1U);
  EXPECT_EQ(Problems(PageWith("job", Value(Value::Map{}))).size(), 1U);
}

TEST(EnginePage, AnotherValueThanATableIsRefused) {
  const auto read = ReadEnginePage(Value("slurm"), "mine.lua", {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().front().message, "an engine's page is a table of names and values, got \"slurm\"");
}

}  // namespace
}  // namespace muster
