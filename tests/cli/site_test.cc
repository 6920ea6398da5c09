// Tests site files, found above the current folder or specified: their settings reach plans, processes and run
// directories, and are stored with a run.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEcho = R"(local muster = require "muster"
return muster.recipe { name = "echo", doc = "says a word", params = { word = muster.string { "none" } },
  plan = function(p, job) job:workers { count = 1, devices = 0, command = { "/usr/bin/env" } } end }
)";

// A project with a folder in which muster is called.
class AtSite : public ::testing::Test {
 protected:
  AtSite() {
    fs::create_directories(project_ / "work/deep");
    Write("work/recipe.lua", kEcho);
  }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(project_ / name).parent_path());
    std::ofstream(project_ / name) << text;
  }
  void Site(const std::string& fields, const std::string& name = "muster.site.lua") const {
    Write(name, "local muster = require \"muster\"\nreturn muster.site {\n" + fields + "\n}\n");
  }
  CommandResult Muster(std::vector<std::string> words, std::vector<std::string> variables = {}) const {
    Command command;
    command.argv = {MusterProgram()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.env.insert(command.env.end(), variables.begin(), variables.end());
    command.cwd = project_ / "work";
    return RunCommand(command);
  }
  std::string Run(std::vector<std::string> words, std::vector<std::string> variables = {}) {
    const std::string folder = project_ / ("run" + std::to_string(++runs_));
    words.insert(words.begin() + 1, {"--run-dir", folder, "--quiet"});
    const CommandResult result = Muster(std::move(words), std::move(variables));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return folder;
  }
  static std::string Text(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static std::string Log(const std::string& run) { return Text(run + "/logs/worker.0.0.log"); }
  static bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  TempDir project_;
  int runs_ = 0;
};

TEST_F(AtSite, APlanNamesTheSourceOfItsFacts) {
  Site("  hosts = \"n[1-2]:4\",\n  memory = \"64GiB\",");
  const CommandResult plan = Muster({"plan", "recipe.lua"});
  EXPECT_TRUE(Has(plan.out, "named host1 n2\n")) << plan.out << plan.err;
  EXPECT_TRUE(Has(plan.out, "site hosts from ../muster.site.lua:3 (project site file)\n")) << plan.out;
  EXPECT_TRUE(Has(plan.out, "site memory from ../muster.site.lua:4 (project site file)\n")) << plan.out;
  EXPECT_TRUE(Has(Muster({"explain", "recipe.lua", "hosts"}).out, "../muster.site.lua:3 (project site file)"));
  EXPECT_TRUE(Has(Muster({"plan", "recipe.lua", "--host", "m1:2"}).out, "named host0 m1\n")) << "the command line wins";
  EXPECT_FALSE(Has(Muster({"plan", "recipe.lua", "--site", "none"}).out, "n2"));
  EXPECT_FALSE(Has(Muster({"plan", "recipe.lua"}, {"MUSTER_SITE="}).out, "n2"));
}

TEST_F(AtSite, WithoutASiteFilePlansAreUnchanged) {
  const std::string without = Muster({"plan", "recipe.lua", "--id"}).out;
  Site("");
  EXPECT_EQ(Muster({"plan", "recipe.lua", "--id"}).out, without);
}

TEST_F(AtSite, NearerFilesWinFieldByField) {
  Site("  devices = 2,");
  Site("  devices = 9,\n  memory = \"1GiB\",", "home/muster/site.lua");
  const std::string out = Muster({"plan", "recipe.lua"}, {"XDG_CONFIG_HOME=" + (project_ / "home")}).out;
  EXPECT_TRUE(Has(out, "host host0 devices 2\n")) << out;
  EXPECT_TRUE(Has(out, "site memory from " + (project_ / "home/muster/site.lua") + ":4 (user site file)")) << out;
}

TEST_F(AtSite, MistakesAreReportedAtTheirLine) {
  Site("  devices = 2,\n  memroy = \"1GiB\",\n  transport = 3,");
  const CommandResult check = Muster({"check", "recipe.lua"});
  EXPECT_EQ(check.exit_code, 2);
  EXPECT_TRUE(Has(check.err, "../muster.site.lua:4: error: a site file has no memroy")) << check.err;
  EXPECT_TRUE(Has(check.err, "hint: did you mean \"memory\"?")) << check.err;
  EXPECT_TRUE(Has(check.err, "../muster.site.lua:5: error: transport must be \"local\" or \"ssh\", got 3"))
      << check.err;
  EXPECT_EQ(Muster({"ls"}).exit_code, 2) << "where runs are is said there, too";
  EXPECT_EQ(Muster({"docs", "mode"}).exit_code, 0) << "what needs no site does not read it";
  EXPECT_EQ(Muster({"plan", "recipe.lua", "--site", "nowhere.lua"}).exit_code, 2);
}

TEST_F(AtSite, EveryCommandRefusesTheSameRulesOfVerdicts) {
  const std::vector<std::vector<std::string>> calls = {
      {"check", "recipe.lua"},
      {"check", "recipe.lua", "--json"},
      {"plan", "recipe.lua"},
      {"explain", "recipe.lua", "word"},
      {"run", "recipe.lua", "--run-dir", project_ / "run"},
      {"rehearse", "recipe.lua", "--run-dir", project_ / "run"},
      {"simulate", "recipe.lua", "--between", "20d"},
      {"sweep", "recipe.lua", "--grid", "word=a,b"},
  };
  const auto refused_with = [&](const std::string& place, const std::string& message) {
    for (const std::vector<std::string>& call : calls) {
      const CommandResult result = Muster(call);
      EXPECT_EQ(result.exit_code, 2) << call[0] << result.out << result.err;
      EXPECT_TRUE(Has(result.out + result.err, message)) << call[0] << result.out << result.err;
      EXPECT_TRUE(call.back() == "--json" || Has(result.err, place)) << call[0] << result.err;
    }
    EXPECT_FALSE(fs::exists(project_ / "run") || fs::exists(project_ / "work/sweeps"));
  };
  Site("  devices = 0,\n  verdicts = \"verdicts.json\",");
  refused_with("../muster.site.lua:4: ", "verdicts: ");
  Write("verdicts.json", "[\n  \"progres\"\n]\n");
  refused_with("/verdicts.json:2: ", "muster has no rule");
  Write("verdicts.json", "[\n  \"progress\"\n]\n");
  EXPECT_EQ(Muster(calls[0]).exit_code, 0);
  EXPECT_EQ(Run({"run", "recipe.lua"}).empty(), false);
}

TEST_F(AtSite, AProjectFileThatOthersCanWriteIsRefused) {
  Site("  devices = 2,");
  ASSERT_EQ(::chmod((project_ / "muster.site.lua").c_str(), 0666), 0);
  const CommandResult refused = Muster({"plan", "recipe.lua"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Has(refused.err, "the site file is world-writable")) << refused.err;
  EXPECT_EQ(Muster({"plan", "recipe.lua", "--site", "../muster.site.lua"}).exit_code, 0) << "named on purpose";
}

// A foreign project, checked by a user with private files in the home folder.
class ForeignProject : public AtSite {
 protected:
  ForeignProject() {
    fs::create_directories(home_ / ".ssh");
    std::ofstream(home_ / ".ssh/id.lua") << kPrivate;
    std::ofstream(home_ / ".ssh/hosts") << kPrivate;
  }
  // Returns everything that a command prints, which must have failed.
  std::string Refused(std::vector<std::string> words) const {
    const CommandResult result = Muster(std::move(words), {"HOME=" + home_.path()});
    EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
    EXPECT_FALSE(Has(result.out + result.err, "hunter2")) << result.out << result.err;
    return result.err;
  }

  static constexpr const char* kPrivate = "token hunter2 hunter2=hunter2\n";
  TempDir home_;
};

TEST_F(ForeignProject, ItsSiteFileNamesOnlyFilesOfTheProject) {
  const std::string home = fs::canonical(home_.path());
  fs::create_directory_symlink(home_.path(), project_ / "link");
  fs::create_symlink(home_ / ".ssh/id.lua", project_ / "policy.lua");
  Write("work/reads.lua", "return require '@x/id'\n");
  Write("work/ships.lua",
        "local muster = require 'muster'\nreturn muster.recipe { name = 'x', plan = function(p, job) job:workers { "
        "count = 1, "
        "command = { 'cat', muster.file '@x/status' } } end }\n");
  for (const auto& [field, fields] : std::map<std::string, std::vector<std::string>>{
           {"libraries.x",
            {"libraries = { x = '~/.ssh' }", "libraries = { x = '" + home + "/.ssh' }",
             "libraries = { x = '/proc/self' }", "libraries = { x = 'link/.ssh' }", "libraries = { x = '..' }",
             "libraries = { x = 'work/../..' }"}},
           {"rules", {"rules = '~/.ssh/id.lua'", "rules = 'policy.lua'", "rules = 'link/.ssh/id.lua'"}},
           {"hostfile", {"hostfile = '~/.ssh/hosts'", "hostfile = 'link/.ssh/hosts'"}}}) {
    for (const std::string& text : fields) {
      Site("  " + text + ",");
      for (const std::vector<std::string>& words : {std::vector<std::string>{"check", "recipe.lua"},
                                                    {"plan", "reads.lua"},
                                                    {"plan", "ships.lua"},
                                                    {"ls", "--recipes"}}) {
        const std::string err = Refused(words);
        EXPECT_TRUE(Has(err, "../muster.site.lua:3: error: " + field + " is \"")) << text << "\n" << err;
        EXPECT_TRUE(Has(err, "which is not below \"")) << text << "\n" << err;
      }
    }
  }
}

TEST_F(ForeignProject, ItsSiteFileMustNotBeALinkOutOfIt) {
  fs::create_symlink(home_ / ".ssh/id.lua", project_ / "muster.site.lua");
  EXPECT_TRUE(Has(Refused({"check", "recipe.lua"}), "../muster.site.lua: error: the site file is \""));
  Write("facts.lua", "return require('muster').site { devices = 3 }\n");
  fs::remove(project_ / "muster.site.lua");
  fs::create_symlink("facts.lua", project_ / "muster.site.lua");
  EXPECT_EQ(Muster({"check", "recipe.lua"}).exit_code, 0) << "a link to what is in the project is as good as a file";
}

TEST_F(ForeignProject, ItsRecipesMustNotBeLinksOutOfTheirFolder) {
  fs::create_symlink(home_ / ".ssh/id.lua", project_ / "work/sly.lua");
  EXPECT_TRUE(Has(Refused({"check", "sly.lua"}), "sly.lua: error: the recipe is a link that leads out of its folder"));
  EXPECT_TRUE(Has(Refused({"check", project_ / "work/sly.lua"}), "the recipe is a link that leads out of its folder"));
}

TEST_F(ForeignProject, ItsLibrariesReadNothingOutsideOfThem) {
  Site("  libraries = { x = 'lib' },");
  Write("lib/ok.lua", kEcho);
  fs::create_symlink(home_ / ".ssh/id.lua", project_ / "lib/sly.lua");
  fs::create_directory_symlink(home_ / ".ssh", project_ / "lib/d");
  EXPECT_EQ(Muster({"check", "@x/ok"}).exit_code, 0);
  EXPECT_TRUE(Has(Refused({"check", "@x/sly"}), "the recipe is a link that leads out of its folder"));
  EXPECT_TRUE(Has(Refused({"check", "@x/d/id"}), "@x/d/id leads out of the library @x"));
  EXPECT_TRUE(Has(Refused({"check", "@x/d/nope"}), "@x/d/nope leads out of the library @x"))
      << "nor are its names told";
  EXPECT_FALSE(Has(Muster({"ls", "--recipes"}).out, "hunter2"));
}

TEST_F(ForeignProject, TheUsersOwnSiteFileMayNameAnyFile) {
  fs::create_directories(home_ / ".config/muster");
  fs::create_directories(home_ / "recipes");
  std::ofstream(home_ / "recipes/echo.lua") << kEcho;
  std::ofstream(home_ / "facts.lua")
      << "return require('muster').site { libraries = { mine = '~/recipes' }, hostfile = '~/hosts' }\n";
  std::ofstream(home_ / "hosts") << "n7 slots=2\n";
  fs::create_symlink(home_ / "facts.lua", home_ / ".config/muster/site.lua");
  const std::string config = "XDG_CONFIG_HOME=" + (home_ / ".config");
  const CommandResult plan = Muster({"plan", "@mine/echo"}, {"HOME=" + home_.path(), config});
  EXPECT_TRUE(Has(plan.out, "named host0 n7\n")) << plan.out << plan.err;
  const CommandResult given = Muster({"plan", "@mine/echo", "--site", home_ / "facts.lua"}, {"HOME=" + home_.path()});
  EXPECT_TRUE(Has(given.out, "named host0 n7\n")) << given.out << given.err;
}

TEST_F(ForeignProject, ItsFilesAreLimitedInSize) {
  for (int i = 0; i < 30; ++i) fs::create_directory_symlink(".", project_ / ("work/l" + std::to_string(i)));
  std::ofstream large(project_ / "work/large.json");
  large << "{}";
  large.seekp((16 << 20) - 1);
  large << " ";
  large.close();
  Write("work/greedy.lua",
        "local muster = require 'muster'\nfor i = 0, 29 do\n  pcall(muster.read_json, 'l' .. i .. '/large.json')\nend\n"
        "return muster.recipe { name = 'x' }\n");
  EXPECT_TRUE(Has(Refused({"check", "greedy.lua"}), "greedy.lua:3: error: the recipe reads more than 64 MiB of files"));
  std::string text = "{\"" + std::string(7'000'000, 'k') + "\":{\"a\":0";
  for (int i = 0; i < 500'000; ++i) text += ",\"a" + std::to_string(i) + "\":0";
  Write("work/long.json", text + "}}");
  Write("work/greedy.lua",
        "local muster = require 'muster'\nmuster.read_json 'long.json'\nreturn muster.recipe { name = 'x' }\n");
  EXPECT_TRUE(Has(Refused({"check", "greedy.lua"}), "long.json:1: error: it would take more than 64 MiB of memory"));
}

TEST_F(AtSite, ProcessesInheritTheEnvironmentOfTheSite) {
  Site(
      "  environment = {\n    set = { FROM_SITE = \"a b\", LEVEL = 3 },\n    unset = { \"OMPI_*\" },\n    pass = { "
      "\"KEPT\", \"OMPI_*\" },\n  },");
  const std::vector<std::string> variables = {"KEPT=1", "OMPI_X=1", "OTHER=1"};
  const std::string log = Log(Run({"run", "recipe.lua"}, variables));
  EXPECT_TRUE(Has(log, "FROM_SITE=a b\n") && Has(log, "LEVEL=3\n") && Has(log, "KEPT=1\n")) << log;
  EXPECT_FALSE(Has(log, "OMPI_X") || Has(log, "OTHER")) << log;
  const CommandResult explained = Muster({"explain", "recipe.lua", "FROM_SITE"});
  EXPECT_TRUE(Has(explained.out, "a b") && Has(explained.out, "../muster.site.lua:4"))
      << explained.out << explained.err;
  const std::string shown = Muster({"plan", "recipe.lua", "--env", "worker:0"}).out;
  EXPECT_TRUE(Has(shown, "FROM_SITE=a b  (../muster.site.lua:4)")) << shown;
  EXPECT_TRUE(Has(shown, "of which pass KEPT OMPI_*")) << shown;
  EXPECT_TRUE(Has(Muster({"plan", "recipe.lua"}).out, "site env FROM_SITE=\"a b\"\nsite env LEVEL=3\n"));
}

TEST_F(AtSite, ActivationWinsOverTheSite) {
  Write("work/act.lua", R"(local muster = require "muster"
return muster.recipe { name = "act", plan = function(p, job)
  job:activate { source = muster.here "set.sh" }
  job:workers { count = 1, devices = 0, command = { "/usr/bin/env" } } end }
)");
  Write("work/set.sh", "export SEEN=$A A=activated\n");
  Site("  environment = { set = { A = \"site\" } },");
  const std::string log = Log(Run({"run", "act.lua"}));
  EXPECT_TRUE(Has(log, "\nA=activated\n") || log.starts_with("A=activated\n")) << log;
  EXPECT_TRUE(Has(log, "SEEN=site\n")) << log;
}

TEST_F(AtSite, RunsAreStoredInTheSitesFolder) {
  Site("  run_root = \"kept\",");
  ASSERT_EQ(Muster({"run", "recipe.lua", "--quiet"}).exit_code, 0);
  EXPECT_TRUE(fs::is_directory(project_ / "kept/runs/echo"));
  EXPECT_FALSE(fs::exists(project_ / "work/runs"));
  EXPECT_TRUE(Has(Muster({"ls"}).out, "echo"));
  EXPECT_EQ(Muster({"report", "echo"}).exit_code, 0);
  EXPECT_FALSE(Has(Muster({"ls"}, {"MUSTER_HOME=" + (project_ / "home")}).out, "echo")) << "the caller's variable wins";
}

mode_t ModeOf(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

TEST_F(AtSite, TheGroupCanReadAllButSecrets) {
  Site("  access = \"group\",");
  const std::string run = Run({"run", "recipe.lua"});
  EXPECT_EQ(ModeOf(run), 02750U);
  for (const char* file :
       {"/plan.json", "/journal.jsonl", "/report.json", "/lock", "/logs/worker.0.0.log", "/recipe/recipe.lua"}) {
    EXPECT_EQ(ModeOf(run + file), 0640U) << file;
  }
  EXPECT_EQ(ModeOf(run + "/logs"), 02750U);
  EXPECT_EQ(ModeOf(run + "/files"), 0700U);
  ASSERT_EQ(Muster({"run", "recipe.lua", "--quiet"}).exit_code, 0);
  EXPECT_EQ(ModeOf(project_ / "work/runs/echo"), 03770U) << "where others keep theirs beside it";
  Site("");
  const std::string alone = Run({"run", "recipe.lua"});
  EXPECT_EQ(ModeOf(alone), 0700U);
  EXPECT_EQ(ModeOf(alone + "/plan.json"), 0600U);
}

TEST_F(AtSite, FoldersThatExcludeTheGroupAreReported) {
  ASSERT_EQ(Muster({"run", "recipe.lua", "--quiet"}).exit_code, 0);
  Site("  access = \"group\",");
  const CommandResult warned = Muster({"run", "recipe.lua", "--quiet"});
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_TRUE(Has(warned.err, "../muster.site.lua:3: warning: access is \"group\"")) << warned.err;
  const std::size_t at = warned.err.find("hint: chmod 3770 ");
  ASSERT_NE(at, std::string::npos) << warned.err;
  const std::string mend = warned.err.substr(at + 6, warned.err.find('\n', at) - at - 6);
  ASSERT_EQ(RunCommand({.argv = {"/bin/sh", "-c", mend}}).exit_code, 0) << mend;
  EXPECT_EQ(ModeOf(project_ / "work/runs"), 03770U);
  EXPECT_EQ(ModeOf(project_ / "work/runs/echo"), 03770U);
  EXPECT_EQ(Muster({"run", "recipe.lua", "--quiet"}).err, "");
}

TEST_F(AtSite, RulesJudgeEveryPlan) {
  Site("  rules = \"policy.lua\",");
  Write("policy.lua",
        "return function(plan, check, warn)\n  check(plan.params.word ~= \"bad\", \"%s is no word for us\", "
        "plan.params.word)\n"
        "  check(false ~= plan.params.word:find(\"o\"), \"never\")\n  warn(plan.params.word ~= \"odd\", \"odd "
        "indeed\")\nend\n");
  for (const char* command : {"check", "plan", "run"}) {
    const CommandResult refused = Muster({command, "recipe.lua", "word=bad"});
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_TRUE(Has(refused.err, "policy.lua:2: error: bad is no word for us")) << refused.err;
  }
  EXPECT_FALSE(fs::exists(project_ / "work/runs")) << "nothing was started";
  EXPECT_TRUE(Has(Muster({"check", "recipe.lua", "word=bad", "--json"}).out, "\"kind\": \"policy\""));
  EXPECT_TRUE(Has(Muster({"plan", "recipe.lua", "word=odd"}).err, "policy.lua:4: warning: odd indeed"));

  const std::string run = Run({"run", "recipe.lua", "word=good"});
  EXPECT_TRUE(Has(Text(run + "/recipe/@rules/policy.lua"), "no word for us"));
  EXPECT_TRUE(Has(Text(run + "/recipe/@site/project/muster.site.lua"), "policy.lua"));
  const auto inputs = nlohmann::json::parse(Text(run + "/inputs.json"))["inputs"];
  EXPECT_TRUE(Has(inputs.dump(), "@rules/policy.lua") && Has(inputs.dump(), "\"site\"")) << inputs.dump();

  fs::remove(project_ / "policy.lua");
  Site("");
  EXPECT_EQ(Muster({"check", run, "word=bad"}).exit_code, 2) << "as it was judged then";
  EXPECT_EQ(Muster({"check", run, "word=odd"}).exit_code, 0);
  Site("  rules = \"today.lua\",");
  Write("today.lua", "return function(plan, check) check(plan.params.word ~= \"good\", \"not today\") end\n");
  EXPECT_TRUE(Has(Muster({"check", run}).err, "today.lua:1: error: not today"))
      << "what is started today obeys today's";
  EXPECT_EQ(Muster({"replay", run, "--quiet"}).exit_code, 0) << "a replay makes no plan";
}

TEST_F(AtSite, ARecipeCannotReplaceTheRules) {
  Site("  rules = \"policy.lua\",");
  Write("policy.lua", "return function(plan, check) check(false, \"not here\") end\n");
  Write("work/@rules/policy.lua", "return function() end\n");
  Write("work/sly.lua", R"(local muster = require "muster"
local read = muster.read_yaml "./@rules/policy.lua"
return muster.recipe { name = "sly",
  plan = function(p, job) job:workers { count = 1, devices = 0, command = { "/usr/bin/env" } } end }
)");
  const CommandResult check = Muster({"check", "sly.lua"});
  EXPECT_EQ(check.exit_code, 2);
  EXPECT_TRUE(Has(check.err, "sly.lua:2: error: muster.read_yaml: ./@rules/policy.lua is not beside the recipe"))
      << check.err;
}

class WithLibrary : public AtSite {
 protected:
  WithLibrary() {
    Site("  libraries = { acme = \"lib\" },");
    Write("lib/gpt.lua", R"(local muster = require "muster"
local words = require "parts.words"
return muster.recipe { name = "gpt", doc = "a model", params = { n = muster.int { 1 }, m = muster.int { 2 } },
  plan = function(p, job) job:workers { count = p.n, devices = 0, command = { "/bin/echo", words.hello, muster.here "x.txt" } } end }
)");
    Write("lib/parts/words.lua", "return { hello = \"from the library\" }\n");
    Write("lib/x.txt", "x");
    Write("lib/broken.lua", "return require(\"muster\").recipe { nam = 'x' }\n");
    Write("work/mine.lua",
          "local muster = require \"muster\"\nlocal words = require \"@acme/parts/words\"\nlocal base = muster.load "
          "\"@acme/gpt\"\n"
          "return base:extend { name = words.hello and \"mine\" }\n");
  }
};

TEST_F(WithLibrary, ItsRecipesRunByName) {
  const std::string run = Run({"run", "@acme/gpt"});
  EXPECT_EQ(Log(run), "from the library " + fs::canonical(project_ / "lib").string() + "/x.txt\n");
  EXPECT_EQ(Muster({"params", "@acme/gpt.lua"}).exit_code, 0);
}

TEST_F(WithLibrary, ARunOfItWorksAfterItIsRemoved) {
  const std::string run = Run({"run", "mine.lua"});
  EXPECT_TRUE(fs::exists(run + "/recipe/@acme/parts/words.lua"));
  const std::string id = Muster({"plan", run, "--id"}).out;
  fs::rename(project_ / "lib/x.txt", project_ / "x.txt");
  fs::remove_all(project_ / "lib");
  fs::create_directories(project_ / "lib");
  fs::rename(project_ / "x.txt", project_ / "lib/x.txt");  // not a source: the processes need it at its place
  fs::remove(project_ / "muster.site.lua");
  EXPECT_EQ(Muster({"plan", run, "--id"}).out, id);
  EXPECT_FALSE(id.empty());
  EXPECT_EQ(Log(Run({"run", run})), Log(run));
  EXPECT_EQ(Log(Run({"replay", run})), Log(run));
}

TEST_F(WithLibrary, AMissingRecipeIsReportedWithTheExistingOnes) {
  const auto reported = [&](const std::string& recipe) { return Muster({"check", recipe}).err; };
  EXPECT_TRUE(Has(reported("@acm/gpt"), "there is no library @acm\nhint: did you mean \"@acme\"?"))
      << reported("@acm/gpt");
  EXPECT_TRUE(Has(reported("@acme/gpd"), "there is no recipe @acme/gpd\nhint: did you mean \"@acme/gpt\"?"))
      << reported("@acme/gpd");
  EXPECT_TRUE(Has(reported("@acme/gpd"), "the library is named here")) << reported("@acme/gpd");
  EXPECT_TRUE(Has(reported("@acme"), "@acme is a library, not a recipe")) << reported("@acme");
  EXPECT_TRUE(Has(reported("@acme/../muster.site"), "leads out of the library @acme"));
  const std::string absolute = "@acme/" + (project_ / "work/recipe.lua");
  EXPECT_TRUE(Has(reported(absolute), absolute + " leads out of the library @acme")) << reported(absolute);
  EXPECT_TRUE(Has(reported("@torc"), "did you mean \"@torch\"?; libraries: @acme")) << reported("@torc");
  Write("work/bad.lua", "local muster = require \"muster\"\nreturn muster.load \"@acme/gqt\"\n");
  EXPECT_TRUE(Has(reported("bad.lua"), "bad.lua:2: error: muster.load: @acme/gqt cannot be read: it is not in "))
      << reported("bad.lua");
  Write("work/bad.lua", "local muster = require \"muster\"\nreturn muster.load \"@zoo/gpt\"\n");
  EXPECT_TRUE(Has(reported("bad.lua"), "there is no library @zoo; known: @acme")) << reported("bad.lua");
  EXPECT_TRUE(Has(Muster({"check", "@acme/gpt", "--site", "none"}).err, "libraries = { acme = \"FOLDER\" }"));
}

TEST_F(WithLibrary, NoFileOutsideOfItIsRead) {
  Write("secret.lua", "return 'secret'\n");
  fs::create_symlink(project_ / "secret.lua", project_ / "lib/link.lua");
  Write("work/bad.lua", "local word = require \"@acme/link\"\nreturn word\n");
  const std::string err = Muster({"check", "bad.lua"}).err;
  EXPECT_TRUE(Has(err, "it is not below the library's folder")) << err;
}

TEST_F(WithLibrary, LsListsRecipesWithTheirDescriptions) {
  Write("work/search.lua",
        "local muster = require 'muster'\nreturn muster.sweep { recipe = muster.load 'recipe.lua', space = muster.grid "
        "{ n = "
        "{ 1, 2 } } }\n");
  const auto json = nlohmann::json::parse(Muster({"ls", "--recipes", "--json"}).out);
  std::map<std::string, nlohmann::json> by_name;
  std::vector<std::string> names;
  for (const auto& recipe : json["recipes"]) {
    names.push_back(recipe["recipe"]);
    by_name[recipe["recipe"]] = recipe;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"@mindspore", "@mpi", "@ps-lite", "@torch", "mine.lua", "recipe.lua",
                                             "search.lua", "@acme/broken", "@acme/gpt"}))
      << "modules are none";
  EXPECT_EQ(by_name["@acme/gpt"]["doc"], "a model");
  EXPECT_EQ(by_name["@acme/gpt"]["parameters"], 2);
  EXPECT_EQ(by_name["mine.lua"]["name"], "mine");
  EXPECT_EQ(by_name["@acme/broken"]["ok"], false);
  EXPECT_EQ(by_name["@acme/broken"]["diagnostics"][0]["kind"], "unknown_key");
  const CommandResult text = Muster({"ls", "--recipes"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_TRUE(Has(text.out, "broken: ")) << text.out;
}

TEST_F(WithLibrary, HiddenFilesAndRunsInItAreNotListed) {
  Write("lib/.draft.lua", kEcho);
  Write("lib/.git/x.lua", kEcho);
  Write("lib/runs/sprint.lua", kEcho);
  ASSERT_EQ(Muster({"run", "recipe.lua", "--quiet"}, {"MUSTER_HOME=" + (project_ / "lib")}).exit_code, 0);
  std::vector<std::string> names;
  const auto json = nlohmann::json::parse(Muster({"ls", "--recipes", "--json"}).out);
  for (const auto& recipe : json["recipes"]) {
    if (const std::string name = recipe["recipe"]; name.starts_with("@acme/")) names.push_back(name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"@acme/broken", "@acme/gpt", "@acme/runs/sprint"}));
  EXPECT_EQ(Muster({"completion", "--words", "--", "check", "@acme/."}).out, ":files\n");
}

TEST_F(AtSite, DoctorWritesASiteFileThatLoads) {
  const CommandResult written = Muster({"doctor", "--write-site", "new.lua"}, {"MUSTER_HOST_DEVICES=3"});
  EXPECT_TRUE(Has(written.err, "new.lua is written")) << written.err;
  const std::string plan = Muster({"plan", "recipe.lua", "--site", "new.lua"}).out;
  EXPECT_TRUE(Has(plan, "site memory from new.lua:")) << plan;
  const std::string before = Text(project_ / "work/new.lua");
  const CommandResult again = Muster({"doctor", "--write-site", "new.lua"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_TRUE(Has(again.err, "already exists")) << again.err;
  EXPECT_EQ(Text(project_ / "work/new.lua"), before);
  EXPECT_EQ(Muster({"doctor", "recipe.lua", "--write-site", "x.lua"}).exit_code, 2);
}

TEST_F(AtSite, EveryCommentedFactOfTheWrittenFileIsValid) {
  ASSERT_FALSE(Muster({"doctor", "--write-site", "new.lua"}).err.empty());
  std::string text = Text(project_ / "work/new.lua");
  std::string all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t mark = line.find("-- ");
    const bool fact = mark != std::string::npos && line.find_first_not_of(' ') == mark &&
                      (line.find(" = ", mark) != std::string::npos || line.ends_with("-- },"));
    all += (fact && line.starts_with("  --") ? "  " + line.substr(mark + 3) : line) + "\n";
  }
  Write("work/all.lua", all);
  Write("work/policy.lua", "return function() end\n");
  const CommandResult plan = Muster({"plan", "recipe.lua", "--site", "all.lua"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err << all;
  for (const char* field : {"hosts", "devices", "memory", "environment.set.NCCL_SOCKET_IFNAME", "environment.unset",
                            "environment.pass", "rules"}) {
    EXPECT_TRUE(Has(plan.out, "site " + std::string(field) + " from all.lua:")) << field << plan.out;
  }
}

TEST_F(AtSite, TransportDecidesWhetherItsHostsAreUsed) {
  Site("  hosts = \"n[1-2]\",\n  transport = \"local\",");
  EXPECT_FALSE(Has(Muster({"plan", "recipe.lua"}).out, "n1"));
  Site("  transport = \"ssh\",");
  const CommandResult nobody = Muster({"run", "recipe.lua"});
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_TRUE(Has(nobody.err, "muster.site.lua:3: error: the site's transport is ssh, but no hosts are named"))
      << nobody.err;
  EXPECT_EQ(Log(Run({"run", "recipe.lua", "--host", "localhost"})).empty(), false);
  Site("");
  const std::string run = Run({"run", "recipe.lua"});
  Site("  transport = \"ssh\",");
  EXPECT_FALSE(Log(Run({"replay", run})).empty()) << "a replay goes where the run was";
}

// Returns the Lua blocks of a page.
std::vector<std::string> LuaBlocks(const std::string& page) {
  std::vector<std::string> blocks;
  for (std::size_t at = 0; (at = page.find("```lua\n", at)) != std::string::npos;) {
    at += 7;
    const std::size_t end = page.find("```", at);
    blocks.push_back(page.substr(at, end - at));
    at = end + 3;
  }
  return blocks;
}

TEST_F(AtSite, ThePageAboutSiteFilesIsCorrect) {
  const auto blocks = LuaBlocks(Text(std::string(MUSTER_SOURCE_DIR) + "/docs/site.md"));
  ASSERT_EQ(blocks.size(), 2U);
  Write("muster.site.lua", blocks[0]);
  Write("policy.lua", blocks[1]);
  const CommandResult plan = Muster({"plan", "recipe.lua", "hosts=8"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_TRUE(Has(plan.out, "named host7 n08\n")) << plan.out;
  // Prevents: the devices of the hosts are counted, whatever the job takes of them.
  const CommandResult few = Muster({"plan", "recipe.lua"});
  EXPECT_EQ(few.exit_code, 0) << "16 hosts with 128 devices, of which it takes none\n" << few.err;
  Write("work/many.lua", R"(local muster = require "muster"
return muster.recipe { name = "many", params = { workers = muster.int { 64 } }, plan = function(p, job)
  job:workers { count = p.workers, devices = 1, command = { "true" } } end }
)");
  EXPECT_EQ(Muster({"plan", "many.lua"}).exit_code, 0);
  const CommandResult many = Muster({"plan", "many.lua", "workers=72"});
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_TRUE(Has(many.err, "policy.lua:8: error: at most 64 devices for one job, many takes 72")) << many.err;
}

TEST_F(AtSite, PlansWithHostsGetNoPartOfAHostList) {
  const std::string run = Run({"run", "recipe.lua"});
  Site("  hosts = \"n[1-3]:1\",");
  Write("work/a.plan.json", Muster({"plan", "recipe.lua", "--json"}).out);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"replay", run}, {"run", "--plan", "a.plan.json"}, {"plan", run}, {"check", run}}) {
    for (const auto& [option, value] : {std::pair{"--exclude", "n2"}, std::pair{"--spares", "1"}}) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {option, value});
      const CommandResult refused = Muster(all);
      EXPECT_EQ(refused.exit_code, 2) << words.front();
      EXPECT_TRUE(Has(refused.err, std::string(option) + " without --host or --hostfile: the hosts are those of the "))
          << words.front() << refused.err;
    }
  }
  EXPECT_TRUE(Has(Muster({"plan", run, "--host", "m[1-2]", "--exclude", "m1"}).out, "named host0 m2\n"));
}

TEST_F(AtSite, HostsMayBeListedInAFile) {
  Site("  hostfile = \"hosts.txt\",");
  Write("hosts.txt", "n1 slots=2\nn2 slots=2\n");
  EXPECT_TRUE(Has(Muster({"plan", "recipe.lua"}).out, "host host1 devices 2\n"));
  EXPECT_TRUE(Has(Muster({"plan", "recipe.lua", "--exclude", "n1"}).out, "named host0 n2\n"));
  fs::remove(project_ / "hosts.txt");
  EXPECT_TRUE(Has(Muster({"plan", "recipe.lua"}).err, "muster.site.lua:3: error: hostfile: ")) << "told at its line";
}

}  // namespace
}  // namespace muster::testing
