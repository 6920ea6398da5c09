// Tests muster test: golden plans beside a library's recipes.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

std::string Said(const CommandResult& result) { return result.out + result.err; }

// A folder with two recipes, of which one has a profile, and a module.
class TestCommand : public ::testing::Test {
 protected:
  TestCommand() {
    Put("parts/optim.lua", "return { lr = 0.1 }");
    PutTrain("32", "print('noise') local _ = require 'parts.optim'");
    Put("needy.lua", R"(local muster = require "muster"
return muster.recipe { name = "needy", params = { data = muster.path { from_env = "DATA" } },
  plan = function(p, job) job:workers { count = 1, command = { "cat", p.data, muster.here "parts/optim.lua" } } end })");
    Put("golden/needy.cases", "# where data lies\ngiven: data='/a b'\n\nfrom-env: --variable DATA=/c --host n[1-2]\n");
  }

  void PutTrain(const std::string& layers, const std::string& more = "") {
    Put("train.lua", "local muster = require \"muster\"\n" + more + R"(
return muster.recipe { name = "train", cluster = { hosts = 1, devices_per_host = 4 },
  params = { layers = muster.int { )" +
                         layers + R"(, min = 1 }, stages = muster.int { 2, min = 1 } },
  profiles = { tiny = { layers = 4 } },
  plan = function(p, job)
    local d = job:derive { each = muster.exact_div { layers = p.layers, by = { stages = p.stages } } }
    job:workers { count = 4, devices = 1, command = { "train", "--layers", p.layers },
      each = function(process) process.env.FIRST = process.rank * d.each end }
  end })");
  }

  void Put(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string Get(const std::string& name) {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  CommandResult Test(std::vector<std::string> words = {}, std::vector<std::string> variables = {}) {
    words.insert(words.begin(), {"test", folder_.path()});
    return Muster(words, std::move(variables));
  }

  TempDir folder_;
};

TEST_F(TestCommand, FailsOnAMissingGoldenFileAndWritesItOnRequest) {
  const CommandResult before = Test();
  EXPECT_EQ(before.exit_code, 1) << Said(before);
  EXPECT_NE(before.out.find("--update writes it"), std::string::npos) << before.out;
  EXPECT_NE(before.out.find("4 cases: 4 missing, 2 skipped"), std::string::npos) << before.out;
  EXPECT_FALSE(fs::exists(folder_ / "golden/train.plan"));
  EXPECT_EQ(Test({"--update"}).exit_code, 0);
  for (const char* name : {"train", "train.tiny", "needy.given", "needy.from-env"}) {
    EXPECT_TRUE(Get("golden/" + std::string(name) + ".plan").starts_with("plan name ")) << name;
  }
  const CommandResult after = Test();
  EXPECT_EQ(after.exit_code, 0) << Said(after);
  EXPECT_EQ(after.err, "") << "what a recipe prints is nobody's expectation";
}

TEST_F(TestCommand, ReportsWhatItSkipsAndWhy) {
  const std::string said = Test().out;
  EXPECT_NE(said.find("parts/optim.lua"), std::string::npos) << said;
  EXPECT_NE(said.find("it returns no recipe"), std::string::npos) << said;
  EXPECT_NE(said.find("it needs a value for data"), std::string::npos) << said;
}

TEST_F(TestCommand, IgnoresRecipesInRunDirectories) {
  for (const char* name : {"journal.jsonl", "plan.json", "recipe/train.lua"})
    Put(std::string("runs/train/20260102T030405-abcd/") + name, "return {}");
  Put(".cache/train.lua", "return {}");
  Put("kept/plan.json", "{}");
  Put("kept/small.lua", Get("train.lua"));
  const std::string said = Test().out;
  // Not a valid journal, which the check of run directories after the tests would report.
  fs::remove(folder_ / "runs/train/20260102T030405-abcd/journal.jsonl");
  EXPECT_EQ(said.find("runs/"), std::string::npos) << said;
  EXPECT_EQ(said.find(".cache"), std::string::npos) << said;
  EXPECT_NE(said.find("kept/small "), std::string::npos) << "a plan beside a recipe makes no run directory\n" << said;
}

TEST_F(TestCommand, RefusesTwoRecipesWithTheSameGoldenFile) {
  Put("train.tiny.lua", Get("train.lua"));
  const CommandResult result = Test({"--update"});
  EXPECT_EQ(result.exit_code, 2) << Said(result);
  const std::string folder = folder_.path() + "/";
  EXPECT_NE(result.err.find(folder + "golden/train.tiny.plan would be kept of \"" + folder +
                            "train.lua\" --profile tiny and of \"" + folder + "train.tiny.lua\""),
            std::string::npos)
      << result.err;
  EXPECT_FALSE(fs::exists(folder_ / "golden/train.tiny.plan"));
}

TEST_F(TestCommand, ReportsDifferencesByCause) {
  ASSERT_EQ(Test({"--update"}).exit_code, 0);
  PutTrain("64");
  const CommandResult result = Test();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("layers  32 → 64  (parameter, default, train.lua:4)"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("derived   each      16 → 32"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("{rank × 16} → {rank × 32}  worker 1-3"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("4 cases: 3 ok, 1 differs"), std::string::npos) << "a profile has its own value\n"
                                                                            << result.out;
  const auto document = nlohmann::json::parse(Test({"train", "--json"}).out);
  EXPECT_EQ(document["format"], 1);
  EXPECT_EQ(document["ok"], false);
  ASSERT_EQ(document["cases"].size(), 2U);
  EXPECT_EQ(document["cases"][0]["verdict"], "differs");
  EXPECT_EQ(document["cases"][0]["diff"]["causes"][0]["name"], "layers");
  EXPECT_EQ(document["cases"][1]["verdict"], "ok");
}

TEST_F(TestCommand, AttributesChangesToTheirParameters) {
  ASSERT_EQ(Test({"--update"}).exit_code, 0);
  PutTrain("64 ");
  std::string text = Get("train.lua");
  text.replace(text.find("stages = muster.int { 2"), 23, "stages = muster.int { 4");
  Put("train.lua", text);
  const std::string said = Test({"train"}).out;
  const std::size_t layers = said.find("  layers  32 → 64");
  const std::size_t word = said.find("command   --layers");
  ASSERT_NE(layers, std::string::npos) << said;
  EXPECT_NE(said.find("  stages  2 → 4"), std::string::npos) << said;
  ASSERT_NE(word, std::string::npos) << said;
  EXPECT_LT(layers, word);
  EXPECT_LT(word, said.find("  stages  2 → 4")) << said;
}

TEST_F(TestCommand, IsIndependentOfMachineAndCaller) {
  ASSERT_EQ(Test({"--update"}).exit_code, 0);
  EXPECT_EQ(Get("golden/needy.given.plan").find(folder_.path()), std::string::npos);
  EXPECT_NE(Get("golden/needy.given.plan").find("\"/a b\" \"/recipes/parts/optim.lua\""), std::string::npos)
      << Get("golden/needy.given.plan");
  EXPECT_NE(Get("golden/needy.from-env.plan").find("\"cat\" \"/c\""), std::string::npos);
  const CommandResult elsewhere =
      Test({}, {"DATA=/other", "MUSTER_SET=layers=8", "MUSTER_HOST_DEVICES=3", "HOME=/nowhere"});
  EXPECT_EQ(elsewhere.exit_code, 0) << Said(elsewhere);
  const TempDir other;
  fs::copy(folder_.path(), other / "b", fs::copy_options::recursive);
  Command command;
  command.argv = {MusterProgram(), "test", "."};
  command.cwd = other / "b";
  const CommandResult inside = RunCommand(command);
  EXPECT_EQ(inside.exit_code, 0) << Said(inside);
}

TEST_F(TestCommand, AFailureMustBeDeclared) {
  Put("golden/train.cases", "odd: stages=3\n");
  const CommandResult unsaid = Test({"--update", "train"});
  EXPECT_EQ(unsaid.exit_code, 1);
  EXPECT_NE(unsaid.out.find("touch " + folder_ / "golden/train.odd.err"), std::string::npos) << unsaid.out;
  EXPECT_FALSE(fs::exists(folder_ / "golden/train.odd.err"));
  Put("golden/train.odd.err", "");
  EXPECT_EQ(Test({"train.odd"}).exit_code, 1) << "an empty text is not what is said";
  EXPECT_EQ(Test({"--update", "train"}).exit_code, 0);
  EXPECT_NE(Get("golden/train.odd.err").find("train.lua:7: error: layers = 32 can not be divided by stages 3"),
            std::string::npos)
      << Get("golden/train.odd.err");
  EXPECT_EQ(Test({"train"}).exit_code, 0);
  // Other errors count as a difference, and so does a plan where an error is expected.
  PutTrain("34");
  EXPECT_NE(Test({"train.odd"}).out.find("its errors differ from the golden file"), std::string::npos);
  PutTrain("33");
  const CommandResult works = Test({"--update", "train.odd"});
  EXPECT_EQ(works.exit_code, 1);
  EXPECT_NE(works.out.find("but it gives a plan"), std::string::npos) << works.out;
}

TEST_F(TestCommand, GoldenFilesMustNotBeLinksOutOfTheFolder) {
  const TempDir elsewhere;
  const std::string secret = elsewhere / "secret";
  std::ofstream(secret) << "hunter2: hunter2\n";
  for (const char* name : {"golden/train.plan", "golden/train.cases"}) {
    fs::remove(folder_ / name);
    fs::create_directories(folder_ / "golden");
    fs::create_symlink(secret, folder_ / name);
    for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"--update"}}) {
      const CommandResult tested = Test(words);
      EXPECT_NE(tested.exit_code, 0) << name;
      EXPECT_EQ((tested.out + tested.err).find("hunter2"), std::string::npos) << tested.out << tested.err;
    }
    std::ifstream kept(secret);
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>(kept), {}}), "hunter2: hunter2\n") << "nor written to";
    fs::remove(folder_ / name);
  }
}

TEST_F(TestCommand, WarningsAreStoredBesideThePlan) {
  ASSERT_EQ(Test({"--update"}).exit_code, 0);
  std::string text = Get("train.lua");
  text.insert(text.find("stages = muster.int { 2,") + 24, " was = 'cuts',");
  Put("train.lua", text);
  Put("golden/train.cases", "renamed: cuts=4\n");
  ASSERT_EQ(Test({"--update"}).exit_code, 0);
  EXPECT_NE(Get("golden/train.renamed.err").find("warning: "), std::string::npos);
  EXPECT_EQ(Test().exit_code, 0);
  Put("golden/train.renamed.err", "");
  const CommandResult result = Test();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("its warnings differ from the golden file"), std::string::npos) << result.out;
}

TEST_F(TestCommand, FilesWithoutACaseAreStale) {
  ASSERT_EQ(Test({"--update"}).exit_code, 0);
  Put("golden/train.huge.plan", "plan name train\n");
  Put("golden/gone.err", "");
  Put("golden/gone.cases", "a:\n");
  Put("golden/README.md", "ours");
  const CommandResult result = Test();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("4 cases: 4 ok, 3 stale"), std::string::npos) << result.out;
  const CommandResult updated = Test({"--update"});
  EXPECT_EQ(updated.exit_code, 1) << "nobody but its author removes a file of cases";
  EXPECT_TRUE(fs::exists(folder_ / "golden/gone.cases"));
  EXPECT_TRUE(fs::exists(folder_ / "golden/README.md"));
  EXPECT_FALSE(fs::exists(folder_ / "golden/train.huge.plan"));
  EXPECT_FALSE(fs::exists(folder_ / "golden/gone.err"));
}

TEST_F(TestCommand, ABrokenRecipeKeepsItsGoldenFiles) {
  ASSERT_EQ(Test({"--update"}).exit_code, 0);
  const std::string kept = Get("golden/train.tiny.plan");
  Put("train.lua", "return muster.recipe {");
  const CommandResult result = Test({"--update"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("train.lua:1: error: "), std::string::npos) << result.out;
  EXPECT_EQ(Get("golden/train.tiny.plan"), kept);
  EXPECT_TRUE(fs::exists(folder_ / "golden/train.plan"));
}

TEST_F(TestCommand, StoresAnExcerptOfALargePlan) {
  Put("golden/train.cases", "many: hosts=1 devices_per_host=4 layers=1024\n");
  std::string text = Get("train.lua");
  text.replace(text.find("count = 4, devices = 1"), 22, "count = p.layers");
  Put("train.lua", text);
  ASSERT_EQ(Test({"--update", "train.many"}).exit_code, 0);
  const std::string kept = Get("golden/train.many.plan");
  EXPECT_TRUE(kept.starts_with("id ")) << kept;
  EXPECT_NE(kept.find("process worker.1023 "), std::string::npos);
  EXPECT_EQ(kept.find("process worker.500 "), std::string::npos);
  EXPECT_EQ(Test({"train.many"}).exit_code, 0);
  Put("golden/train.cases", "many: layers=2048\n");
  const CommandResult result = Test({"train.many"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("layers  1024 → 2048"), std::string::npos) << result.out;
}

TEST_F(TestCommand, ReportsUsageErrors) {
  const auto said = [&](std::vector<std::string> words) {
    const CommandResult result = Test(std::move(words));
    EXPECT_EQ(result.exit_code, 2) << Said(result);
    return result.err;
  };
  EXPECT_NE(said({"trian"}).find("did you mean \"train\"?"), std::string::npos);
  const struct {
    const char* line;
    const char* reported;
  } cases[] = {{"stages=4", "there is no ':'"},
               {"a.b: stages=4", "\"a.b\" is not a case name"},
               {"a: 'x", "is not closed"},
               {"a:\na:", "golden/train.cases:2: error: there are two"},
               {"tiny: layers=3", "has the name of this case"}};
  for (const auto& test : cases) {
    Put("golden/train.cases", test.line);
    const std::string reported = said({});
    EXPECT_NE(reported.find(test.reported), std::string::npos) << reported;
  }
  Put("golden/train.cases", "a: --jsn");
  const CommandResult option = Test({"train.a"});
  EXPECT_EQ(option.exit_code, 1);
  EXPECT_NE(option.out.find("golden/train.cases:1: error: "), std::string::npos) << option.out;
  const CommandResult missing = Muster({"test", "no-such-folder"});
  EXPECT_EQ(missing.exit_code, 2);
  const TempDir empty;
  EXPECT_EQ(Muster({"test", empty.path()}).exit_code, 2);
}

TEST_F(TestCommand, TakesSeveralFoldersAndFiles) {
  ASSERT_EQ(Test({"--update"}).exit_code, 0);
  Put("other/x.lua",
      "local muster = require 'muster' return muster.recipe { name = 'x', plan = function(p, job) "
      "job:workers { count = 1, command = { 'x' } } end }");
  const std::string other = folder_ / "other";
  ASSERT_EQ(Muster({"test", other, "--update"}).exit_code, 0);
  const CommandResult both = Muster({"test", folder_ / "train.lua", other});
  EXPECT_EQ(both.exit_code, 0) << Said(both);
  EXPECT_NE(both.out.find("2 cases: 2 ok\n"), std::string::npos) << both.out;
  EXPECT_NE(both.out.find(other + "  1 case: 1 ok\n"), std::string::npos) << both.out;
  PutTrain("16");
  const CommandResult worse = Muster({"test", other, folder_ / "train.lua"});
  EXPECT_EQ(worse.exit_code, 1) << Said(worse);
  EXPECT_EQ(Muster({"test", other, folder_ / "nowhere"}).exit_code, 2)
      << "a word that is no folder is a case of the last one";
  const auto two = nlohmann::json::parse(Muster({"test", other, folder_ / "train.lua", "--json"}).out);
  EXPECT_EQ(two["ok"], false);
  ASSERT_EQ(two["folders"].size(), 2U);
  EXPECT_EQ(two["folders"][0]["folder"], other);
  EXPECT_EQ(two["folders"][0]["ok"], true);
  EXPECT_EQ(two["folders"][1]["cases"].size(), 2U);
  const auto one = nlohmann::json::parse(Muster({"test", other, "--json"}).out);
  EXPECT_FALSE(one.contains("folders")) << "one folder keeps the form that it had";
}

TEST_F(TestCommand, ComparesThePlansOfAnotherRelease) {
  Put("ms/m.lua",
      "local muster, context = require 'muster', require 'muster.context'\n"
      "return muster.recipe { name = 'm', mindspore = '2.3', plan = function(p, job)\n"
      "context.set_context { mode = 0, save_graphs = 2 } job:workers { count = 1, command = { 'x' } } end }");
  const std::string folder = folder_ / "ms";
  ASSERT_EQ(Muster({"test", folder, "--update"}).exit_code, 0);
  EXPECT_EQ(Muster({"test", folder, "--mindspore", "2.3"}).exit_code, 0);
  const CommandResult other = Muster({"test", folder, "--mindspore", "1.0"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_NE(other.out.find("save_graphs must be true or false"), std::string::npos) << other.out;
  EXPECT_EQ(Muster({"test", folder, "--mindspore", "1.0", "--update"}).exit_code, 2);
}

TEST_F(TestCommand, NamesARenamedParameterOnce) {
  Put("r/r.lua",
      "local muster = require 'muster' return muster.recipe { name = 'r', params = { rate = muster.float { 0.5 } }, "
      "plan = function(p, job) job:workers { count = 1, command = { 'x' } } end }");
  const std::string folder = folder_ / "r";
  ASSERT_EQ(Muster({"test", folder, "--update"}).exit_code, 0);
  Put("r/r.lua",
      "local muster = require 'muster' return muster.recipe { name = 'r', params = { lr = muster.float { 0.25, was = "
      "'rate' } }, "
      "plan = function(p, job) job:workers { count = 1, command = { 'x' } } end }");
  const CommandResult result = Muster({"test", folder});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("it was called rate"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("none"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace muster::testing
