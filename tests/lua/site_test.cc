// Tests site files, their rules and recipe libraries inside the evaluator.
#include <gtest/gtest.h>

#include "lua/engine/planning.h"
#include "lua/evaluated.h"

namespace muster::testing {
namespace {

using LineMap = std::map<std::string, std::uint32_t>;

TEST(KeyLines, AreThoseOfATableLiteral) {
  EXPECT_EQ(
      KeyLines("local x = { y = 1 }\nreturn muster.site {\n  hosts = { 'a', b = 2 },\n  -- no = 1\n  environment = {\n"
               "    set = { A = \"x = 1, z\", [\"B\"] = [[\nq = 1,\n]],\n      C = f(d, { e = 1 }) },\n  }, run_root = "
               "'x',\n}\nlast = 1",
               2),
      (LineMap{{"hosts", 3},
               {"hosts.b", 3},
               {"environment", 5},
               {"environment.set", 6},
               {"environment.set.A", 6},
               {"environment.set.B", 6},
               {"environment.set.C", 9},
               {"run_root", 10}}));
  EXPECT_EQ(KeyLines("return muster.site(t)", 1), LineMap{});
  const std::string key(2'000, 'k');
  EXPECT_EQ(KeyLines("return muster.site { a = 1, " + key + " = { b = { c = 2 } }, d = 3 }", 1),
            (LineMap{{"a", 1}, {"d", 1}}))
      << "of long keys there are none: what is below one would have their length each";
  EXPECT_EQ(KeyLines("return muster.site { a == b, c = {", 1), (LineMap{{"c", 1}})) << "what is cut off does no harm";
  EXPECT_EQ(KeyLines("return muster.site { 'x', --[==[ }\n ]==] a = 1 }", 1), (LineMap{{"a", 2}}));
}

TEST(SiteFiles, ReturnTheirTable) {
  Request request{"local muster = require 'muster'\nreturn muster.site {\n  devices = 8,\n}"};
  request.task = TableTask();
  const Evaluated evaluated = Evaluate(request);
  EXPECT_EQ(evaluated.problems(), Lines{});
  ASSERT_TRUE(evaluated.answer.site_file);
  EXPECT_EQ(evaluated.answer.site_file->table, Value(Value::Map{{"devices", Value(8)}}));
  EXPECT_EQ(evaluated.answer.site_file->lines, (LineMap{{"devices", 3}}));
  EXPECT_FALSE(evaluated.answer.plan);
}

TEST(SiteFiles, AreRefusedIfInvalid) {
  const auto problems = [](const std::string& text) {
    Request request{text};
    request.task = TableTask();
    return Evaluate(request).problems();
  };
  EXPECT_EQ(problems("return {}"), Lines{"recipe.lua error site: the file returns no facts about a site"});
  EXPECT_EQ(problems("return require('muster').site { rules = function() end }").size(), 1U);
  EXPECT_EQ(problems("return require('muster').site 'x'"),
            Lines{"recipe.lua:1 error type: muster.site expects a table, got \"x\""});
  EXPECT_EQ(problems("hosts = 'n1'"), Lines{"recipe.lua:1 error global: hosts is assigned but not local"});
  EXPECT_EQ(problems("return os.getenv 'HOME'"), Lines{"recipe.lua:1 error undefined: os is not available in a recipe"})
      << "it is locked in as a recipe is";
}

TEST(EnginePages, ArePlainTablesWithTheLinesOfTheirKeys) {
  Request request{"-- ours\nreturn {\n  name = 'mine',\n  hosts = {\n    file = 'HOSTS' },\n}"};
  request.task = TableTask{.engine_page = true};
  const Evaluated evaluated = Evaluate(request);
  EXPECT_EQ(evaluated.problems(), Lines{});
  ASSERT_TRUE(evaluated.answer.site_file);
  EXPECT_EQ(evaluated.answer.site_file->lines, (LineMap{{"name", 3}, {"hosts", 4}, {"hosts.file", 5}}));
}

TEST(EnginePages, AreNoSiteFilesAndHoldNoFunctions) {
  Request request{"return require('muster').site {}"};
  request.task = TableTask{.engine_page = true};
  EXPECT_EQ(Evaluate(request).problems(), Lines{"recipe.lua error engine: the file returns no page of an engine"});
  request.text = "return { start = function() end }";
  EXPECT_EQ(Evaluate(request).problems().size(), 1U);
}

std::string EngineSettings(const std::string& recipe) {
  const Evaluated evaluated = Evaluate({recipe});
  std::string reported;
  for (const std::string& problem : evaluated.problems()) reported += problem + "\n";
  for (const EngineField& field : evaluated.answer.engine_settings) {
    reported += field.engine + "." + field.name + " = " + ToText(field.value) + " at " +
                std::to_string(field.place.line) + "\n";
  }
  return reported;
}

TEST(Recipes, SetOptionsOfEngines) {
  EXPECT_EQ(EngineSettings(Recipe("job:workers { count = 1, command = { 'x' } }",
                                  "slurm = { time = '12h', extra = { '--mem=0' } }, pbs = {},")),
            "slurm.extra = {\"--mem=0\"} at 2\nslurm.time = \"12h\" at 2\n");
  EXPECT_EQ(EngineSettings(Recipe("", "slurm = 'gpu',")),
            "recipe.lua:2 error type: slurm must be a table, got \"gpu\"\n");
}

TEST(Recipes, ThatExtendOthersOverrideTheirOptionsOfEngines) {
  EXPECT_EQ(EngineSettings(R"(local muster = require "muster"
local base = muster.recipe { name = "t", slurm = { partition = "all", qos = "high" },
  plan = function(p, job) job:workers { count = 1, command = { "x" } } end }
return base:extend {
  slurm = { partition = "gpu" } })"),
            "slurm.partition = \"gpu\" at 4\nslurm.qos = \"high\" at 2\n");
}

TEST(Recipes, ThatReturnASiteAreRefused) {
  EXPECT_EQ(Evaluate({"return require('muster').site {}"}).problems(),
            Lines{"recipe.lua error no_recipe: the file returns no recipe"});
}

Evaluated CheckedByRules(const std::string& rules,
                         const std::string& body = "job:workers { count = 2, devices = 0, command = { 'x' } }") {
  Request request{
      Recipe(body, "params = { lr = muster.float { 0.5 } }, cluster = { hosts = 2, devices_per_host = 4 },")};
  request.outside.files["@rules/policy.lua"] = rules;
  request.libraries[kRulesLibrary] = {"/etc/rules"};
  request.rules = "policy.lua";
  return Evaluate(request);
}

TEST(Rules, CheckEveryPlanWithTheirOwnMessages) {
  const Evaluated evaluated = CheckedByRules(R"(return function(plan, check, warn)
  check(plan.cluster.devices <= 4, "at most 4 devices, and %s takes %d", plan.name, plan.cluster.devices)
  check(#plan.hosts == 2, "never said")
  for _, process in ipairs(plan.processes) do
    check(process.env.NCCL_DEBUG, "no NCCL_DEBUG")
  end
  warn(plan.params.lr < 0.1, "lr is %.1f", plan.params.lr)
end)");
  EXPECT_EQ(evaluated.problems(), (Lines{"/etc/rules/policy.lua:2 error policy: at most 4 devices, and t takes 8",
                                         "/etc/rules/policy.lua:5 error policy: no NCCL_DEBUG",
                                         "/etc/rules/policy.lua:7 warning policy: lr is 0.5"}))
      << "what holds for many processes is told once";
  EXPECT_EQ(evaluated.asked, Lines{"file @rules/policy.lua"}) << "they are an input";
}

TEST(Rules, GetThePlanAsInItsJson) {
  const Evaluated evaluated = CheckedByRules(R"(return function(plan, check)
  local process = plan.processes[2]
  check(false, "%s %d %s %s %s %s", process.role, process.index, process.command[1], process.rank, plan.framework, plan.time_limit_ms)
end)");
  EXPECT_EQ(evaluated.problems(), Lines{"/etc/rules/policy.lua:3 error policy: worker 1 x 1 none 0"});
}

TEST(Rules, ThatAreSatisfiedChangeNothing) {
  const Evaluated evaluated = CheckedByRules("return function(plan, check) plan.processes = nil check(true, 'x') end");
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.plan().processes.size(), 2U);
}

TEST(Rules, WithErrorsAreReportedAtTheirLine) {
  EXPECT_EQ(CheckedByRules("return 3").problems(),
            Lines{"/etc/rules/policy.lua:1 error policy: the rules of the site must be a function, got 3"});
  EXPECT_EQ(CheckedByRules("return function(plan)\n  return plan.nothing.more\nend").problems().front().substr(0, 34),
            "/etc/rules/policy.lua:2 error lua:");
  EXPECT_EQ(CheckedByRules("return function(plan, check)\n  check(false)\nend").problems(),
            Lines{"/etc/rules/policy.lua:2 error policy: check expects a condition and a message"});
}

TEST(Rules, AreSkippedIfThePlanIsInvalid) {
  EXPECT_EQ(CheckedByRules("return function(plan, check) check(false, 'x') end", "job:check(false, 'own')")
                .problems()
                .back()
                .find("policy"),
            std::string::npos);
}

Evaluated FromLibrary(const std::string& text, std::map<std::string, std::string> files) {
  Request request{"local muster = require 'muster'\n" + text};
  request.outside.files = std::move(files);
  request.libraries["acme"] = {"/opt/acme"};
  return Evaluate(request);
}

constexpr const char* kOfLibrary = R"(local muster = require "muster"
local words = require "lib.words"
return muster.recipe { name = "gpt", plan = function(p, job)
  job:workers { count = 1, devices = 0, command = { "x", words.word, muster.here "train.py", muster.file "conf/a.txt" } }
end }
)";

TEST(Libraries, LoadRecipesThatFindTheirOwnFiles) {
  const Evaluated evaluated =
      FromLibrary("return muster.load '@acme/nlp/gpt'", {{"@acme/nlp/gpt.lua", kOfLibrary},
                                                         {"@acme/nlp/lib/words.lua", "return { word = 'hello' }"},
                                                         {"@acme/nlp/train.py", ""},
                                                         {"@acme/nlp/conf/a.txt", "a"}});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(CommandOf(evaluated.plan(), "worker.0"),
            (Lines{"x", "hello", "/opt/acme/nlp/train.py", "${muster:run_dir}/files/acme/nlp/conf/a.txt"}));
}

TEST(Libraries, ProvideModules) {
  const Evaluated evaluated = FromLibrary(
      "local optim = require '@acme/lib.optim'\nassert(optim == require '@acme.lib.optim')\n"
      "return muster.recipe { name = 't', plan = function(p, job) job:workers { count = 1, devices = 0, command = { "
      "optim.name } } end }",
      {{"@acme/lib/optim.lua", "return { name = require('lib.more') }"}, {"@acme/lib/more.lua", "return 'adam'"}});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(CommandOf(evaluated.plan(), "worker.0"), Lines{"adam"}) << "a module's own are of its library";
}

TEST(Libraries, ConfineTheirRecipes) {
  EXPECT_EQ(FromLibrary("return muster.load '@acme/../secret'", {{"secret.lua", kOfLibrary}}).problems(),
            Lines{"recipe.lua:2 error recipe: muster.load: @acme/../secret leads out of the library @acme"});
  EXPECT_EQ(FromLibrary("return muster.load '@acme/a'",
                        {{"@acme/a.lua", "return require('muster').load '../own.lua'"}, {"own.lua", kOfLibrary}})
                .problems(),
            Lines{"/opt/acme/a.lua:1 error recipe: muster.load: ../own.lua leads out of the library @acme"});
  EXPECT_EQ(FromLibrary("return muster.load '@torch'", {}).problems(),
            Lines{"recipe.lua:2 error type: muster.load: @torch names no recipe of a library"});
}

Evaluated OnSite(const std::string& cluster, const std::vector<SiteHost>& hosts, std::vector<Override> overrides = {}) {
  Request request{Recipe("job:workers { command = { 'x' }, devices = 1 }", cluster)};
  request.overrides = std::move(overrides);
  request.site.hosts = hosts;
  request.site.sources["hosts"] = "muster.site.lua:4 (project site file)";
  return Evaluate(request);
}

TEST(SiteHosts, AreTheHostsThatARecipeChoosesFrom) {
  const std::vector<SiteHost> hosts = {{"n1", {}, 8}, {"n2", {}, 8}, {"n3", {}, 8}};
  const auto names = [](const Evaluated& evaluated) {
    Lines lines;
    for (const PlanHost& host : evaluated.plan().hosts) lines.push_back(host.name + ":" + std::to_string(host.devices));
    return lines;
  };
  EXPECT_EQ(names(OnSite("", hosts)), (Lines{"n1:8", "n2:8", "n3:8"})) << "who says nothing has them all";
  EXPECT_EQ(names(OnSite("cluster = { hosts = 2, devices_per_host = 4 },", hosts)), (Lines{"n1:4", "n2:4"}));
  EXPECT_EQ(names(OnSite("cluster = { hosts = 2 },", hosts, {Text("hosts", "1")})), (Lines{"n1:8"}));
  EXPECT_EQ(names(OnSite("cluster = { host_list = 'm1:2' },", hosts)), (Lines{"m1:2"})) << "the recipe names its own";
  EXPECT_EQ(OnSite("cluster = { hosts = 9 },", hosts).problems(),
            Lines{"error hosts: hosts = 9, but only 3 are named: n[1-3]:8 (muster.site.lua:4 (project site file))"});
  EXPECT_EQ(OnSite("cluster = { hosts = 1, devices_per_host = 16 },", hosts).problems(),
            Lines{"error conflict: devices_per_host 16 (recipe.lua:2), and host n1 has 8 devices (muster.site.lua:4 "
                  "(project site file))"});
  EXPECT_EQ(OnSite("", hosts).answer.origins.cluster.front().origin, "muster.site.lua:4 (project site file)");
}

TEST(SiteDevices, AreADefault) {
  Request request{Recipe("job:workers { command = { 'x' }, devices = 1 }")};
  request.site.host_devices = 2;
  request.site.devices_per_host = 6;
  request.site.sources["devices"] = "s";
  const Evaluated evaluated = Evaluate(request);
  EXPECT_EQ(evaluated.plan().hosts.front().devices, 6U) << "what is said counts, not what is found";
  EXPECT_EQ(evaluated.answer.origins.cluster.back().origin, "s");
}

TEST(SiteEnvironment, IsPartOfThePlanAndOfItsProvenance) {
  Request request{Recipe("job:env { A = 'job' } job:workers { count = 1, devices = 0, command = { 'x' } }")};
  request.site.environment = {{{"A", "site"}, {"B", "site"}}, {"OMPI_*"}, {}};
  request.site.places["environment.set.B"] = {"muster.site.lua", 3};
  const Evaluated evaluated = Evaluate(request);
  EXPECT_EQ(evaluated.plan().site_environment, request.site.environment);
  const auto& sources = evaluated.answer.provenance.at("worker");
  EXPECT_EQ(sources.at("B"), (VariableSource{Layer::kSite, {"muster.site.lua", 3}}));
  EXPECT_EQ(sources.at("A").layer, Layer::kJob);
}

}  // namespace
}  // namespace muster::testing
