// Tests muster check of several recipes and folders: one table, one JSON text, the worst exit code.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

class CheckMany : public ::testing::Test {
 protected:
  CheckMany() {
    Put("a.lua", Recipe("a", "mindspore = '2.3',", "context.set_context { mode = 0, save_graphs = 2 }"));
    Put("sub/b.lua", Recipe("b", "", ""));
    Put("sub/part.lua", "return { lr = 0.1 }");
    Put("sub/needy.lua", Recipe("needy", "params = { data = muster.path {} },", ""));
    Put(".hidden/c.lua", "nonsense");
    Put("golden/d.lua", "nonsense");
  }

  static std::string Recipe(const std::string& name, const std::string& fields, const std::string& body) {
    return "local muster, context = require 'muster', require 'muster.context'\nreturn muster.recipe { name = '" +
           name + "', " + fields + "\nplan = function(p, job)\n" + body +
           "\njob:workers { count = 2, command = { 'true' } } end }\n";
  }
  void Put(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string At(const std::string& name) const { return folder_ / name; }

  TempDir folder_;
};

TEST_F(CheckMany, PrintsATableOfAFolder) {
  const CommandResult result = Muster({"check", folder_.path()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string in = folder_.path() + "/";
  EXPECT_NE(result.out.find("2 recipes: 2 ok; 2 files skipped\n"), std::string::npos) << result.out;
  for (const std::string part :
       {"a.lua", "sub/b.lua", "it returns no recipe", "it needs a value for data", "2 on 1 host"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << ": " << result.out;
  }
  EXPECT_EQ(result.out.find("hidden"), std::string::npos);
  EXPECT_EQ(result.out.find("golden"), std::string::npos);
}

TEST_F(CheckMany, EndsWithTheWorstCodeAndShowsErrorsAtTheirLines) {
  Put("sub/bad.lua", Recipe("bad", "", "local nothing nothing.at_all = 1"));
  const CommandResult result = Muster({"check", At("a.lua"), At("sub/bad.lua"), At("sub/b.lua")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find(At("sub/bad.lua") + ":4: error: "), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("3 recipes: 2 ok, 1 with errors\n"), std::string::npos) << result.out;
  // A file that is named is checked; only in folders others are skipped.
  EXPECT_EQ(Muster({"check", At("a.lua"), At("sub/part.lua")}).exit_code, 2);
  EXPECT_EQ(Muster({"check", At("a.lua"), At("nope.lua")}).exit_code, 2);
  EXPECT_EQ(Muster({"check", At("a.lua"), At("sub"), "--deep"}).exit_code, 2);
}

TEST_F(CheckMany, ComparesAllWithAnotherRelease) {
  const CommandResult result = Muster({"check", folder_.path(), "--mindspore", "1.0"});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_NE(result.out.find("on MindSpore 1.0"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("no release"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("save_graphs must be true or false"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("2 recipes: 1 ok, 1 with errors; 2 files skipped\n"), std::string::npos) << result.out;
}

TEST_F(CheckMany, HasOneEntryForEachFileInJson) {
  const auto whole = nlohmann::json::parse(Muster({"check", folder_.path(), "--json", "--mindspore", "1.0"}).out);
  EXPECT_EQ(whole["format"], 1);
  EXPECT_EQ(whole["ok"], false);
  ASSERT_EQ(whole["recipes"].size(), 4U);
  EXPECT_EQ(whole["recipes"][0]["recipe"], At("a.lua"));
  EXPECT_EQ(whole["recipes"][0]["ok"], false);
  EXPECT_EQ(whole["recipes"][0]["releases"][0]["ok"], false);
  EXPECT_EQ(whole["recipes"][1]["ok"], true);
  EXPECT_EQ(whole["recipes"][2]["skipped"], "it needs a value for data");
  // One recipe keeps the form that it has alone.
  const auto one = nlohmann::json::parse(Muster({"check", At("a.lua"), "--json"}).out);
  EXPECT_TRUE(one.contains("diagnostics"));
  EXPECT_FALSE(one.contains("recipes"));
}

// A run directory has Lua files below it, and is a RUN all the same.
TEST_F(CheckMany, TakesARunDirectoryForARun) {
  const std::string run = folder_ / "run";
  ASSERT_EQ(Muster({"run", "-q", At("sub/b.lua"), "--run-dir", run}).exit_code, 0);
  const CommandResult result = Muster({"check", run});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find(": ok, 2 processes on 1 host"), std::string::npos) << result.out;
}

TEST_F(CheckMany, GivesTheSameParametersToAll) {
  Put("p/x.lua", Recipe("x", "params = { n = muster.int { 1, max = 3 } },", ""));
  Put("p/y.lua", Recipe("y", "params = { n = muster.int { 1, max = 9 } },", ""));
  const CommandResult result = Muster({"check", At("p/x.lua"), At("p/y.lua"), "n=5"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.out.find("2 recipes: 1 ok, 1 with errors\n"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace muster::testing
