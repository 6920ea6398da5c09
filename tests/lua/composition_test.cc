// Tests recipes composed of others: loading, extending, profiles, and precedence of values.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

constexpr const char* kBase = R"(local muster, context = require "muster", require "muster.context"
return muster.recipe { name = "base", doc = "the base", framework = "mindspore", mindspore = "2.3.1",
  params = { layers = muster.int { 4, min = 1 }, lr = muster.float { 0.5, was = "rate" }, opt = { beta = muster.float { 0.9 } } },
  cluster = { hosts = 2, devices_per_host = 4 }, limits = { time = "1h" },
  profiles = { smoke = { layers = 2, hosts = 1 } },
  plan = function(p, job)
    local d = job:derive { twice = p.layers * 2, all = job.cluster.devices }
    context.set_context { mode = context.GRAPH_MODE, device_target = "Ascend" }
    context.set_auto_parallel_context { parallel_mode = "data_parallel" }
    job:env { WHO = "base" }
    job:workers { command = { "x", d.twice, p.lr, p.opt.beta } }
  end }
)";

std::string Extension(const std::string& fields) {
  return "local muster, context = require 'muster', require 'muster.context'\nlocal base = muster.load 'base.lua'\n"
         "return base:extend { " +
         fields + " }\n";
}

Evaluated Extended(const std::string& fields, std::vector<Override> overrides = {},
                   std::vector<std::string> profiles = {}) {
  Request request{Extension(fields), std::move(overrides), {}, {{{"base.lua", kBase}}, {}}};
  request.profiles = std::move(profiles);
  return Evaluate(request);
}

Lines FirstCommand(const Evaluated& evaluated) {
  EXPECT_EQ(evaluated.problems(), Lines{});
  return CommandOf(evaluated.plan(), "worker.0");
}

TEST(Extensions, DeclareOnlyDifferences) {
  const Evaluated evaluated = Extended("params = { layers = 8 }, cluster = { hosts = 3 }, limits = { start = '5m' }");
  EXPECT_EQ(FirstCommand(evaluated), (Lines{"x", "16", "0.5", "0.9"}));
  EXPECT_EQ(evaluated.asked, Lines{"file base.lua"}) << "it is an input";
  EXPECT_EQ(evaluated.plan().name, "base");
  EXPECT_EQ(evaluated.plan().doc, "the base");
  EXPECT_EQ(evaluated.plan().hosts.size(), 3U);
  EXPECT_EQ(evaluated.plan().derived.at("all"), Value(12)) << "devices_per_host is the base's";
  EXPECT_EQ(evaluated.plan().time_limit_ms, 3'600'000U);
  EXPECT_EQ(evaluated.plan().start_limit_ms, 300'000U);
}

TEST(Extensions, CallThePlanFunctionOfTheirBaseAnywhere) {
  const Evaluated evaluated = Extended(R"(name = "own", plan = function(p, job, base)
    base(p, job)
    context.set_auto_parallel_context { parallel_mode = "semi_auto_parallel" }
    job:env { WHO = "extension" }
  end)");
  EXPECT_EQ(evaluated.problems(), Lines{}) << "what a base says may be said otherwise without a word";
  EXPECT_EQ(evaluated.plan().name, "own");
  EXPECT_EQ(OwnEnv(evaluated.plan(), "worker.0").at("WHO"), "extension");
  EXPECT_EQ(EffectiveContext(evaluated.plan(), ProcessNamed(evaluated.plan(), "worker.0"))
                .at("set_auto_parallel_context.parallel_mode"),
            Value("semi_auto_parallel"));
}

TEST(Extensions, PassTheirArgumentsToTheirBase) {
  EXPECT_EQ(Extended("plan = function(p, job, base) base({ layers = 1 }, job) end").problems(),
            Lines{"recipe.lua:3 error type: base expects the p and the job that the plan function was given"});
  EXPECT_EQ(Evaluate({"local muster = require 'muster' local r = muster.recipe { name = 'x', plan = function() end }\n"
                      "return r.extend { }"})
                .problems(),
            Lines{"recipe.lua:2 error type: extend is called with a dot"});
  EXPECT_EQ(Evaluate({"local muster = require 'muster' local r = muster.recipe { name = 'x', plan = function() end }\n"
                      "local n = r.name"})
                .problems(),
            Lines{"recipe.lua:2 error unknown_key: a recipe has no field \"name\" that a recipe could read"});
}

TEST(Extensions, DeclareNewParametersAndNameExistingOnes) {
  const Evaluated evaluated = Extended(
      "params = { opt = { beta = 0.8, warmup = muster.int { 3 } }, lr = muster.float { 0.25, below = 1 } }, "
      "plan = function(p, job, base) base(p, job) job:env { WARMUP = p.opt.warmup } end");
  EXPECT_EQ(FirstCommand(evaluated), (Lines{"x", "8", "0.25", "0.8"}));
  EXPECT_EQ(OwnEnv(evaluated.plan(), "worker.0").at("WARMUP"), "3");
  EXPECT_EQ(Extended("params = { layer = 3 }").problems(),
            Lines{"recipe.lua:3 error unknown_parameter: the recipe has no parameter \"layer\" (from the extension)"});
  EXPECT_EQ(Extended("params = { layers = 0 }").problems(),
            Lines{"recipe.lua:3 error parameter_value: parameter layers = 0 is out of range (from the extension)"});
  EXPECT_EQ(
      Extended("params = { layers = muster.string { 'x' } }").problems(),
      Lines{"recipe.lua:3 error parameter: parameter layers has the type int in the recipe that is extended, and is "
            "declared with string"});
  EXPECT_EQ(Extended("params = { opt = 3 }").problems(),
            Lines{"recipe.lua:3 error parameter: opt must be a block of parameters, got 3"});
  EXPECT_EQ(Extended("params = { beta = 0.5 }").problems().size(), 1U) << "recipes write names whole";
  EXPECT_EQ(Extended("parms = {}").problems(),
            Lines{"recipe.lua:3 error unknown_key: an extension has no option \"parms\""});
}

TEST(Extensions, CanBeExtended) {
  const Outside outside{{{"base.lua", kBase},
                         {"middle.lua",
                          "local muster = require 'muster'\nreturn muster.load('base.lua'):extend { name = "
                          "'middle', params = { layers = 5, lr = 0.1 }, profiles = { smoke = { lr = 0.3 } } }"}},
                        {}};
  Request request{
      "local muster = require 'muster'\nreturn muster.load('middle.lua'):extend { params = { layers = 6 } }",
      {},
      {},
      outside};
  EXPECT_EQ(FirstCommand(Evaluate(request)), (Lines{"x", "12", "0.1", "0.9"}));
  request.profiles = {"smoke"};
  EXPECT_EQ(FirstCommand(Evaluate(request)), (Lines{"x", "4", "0.3", "0.9"})) << "profiles of one name are merged";
}

TEST(Hosts, AreCountedOrNamedByTheLastSource) {
  const Evaluated named = Extended("cluster = { host_list = 'n[1-3]:2' }");
  EXPECT_EQ(named.problems(), Lines{});
  EXPECT_EQ(named.plan().hosts.size(), 3U);
  EXPECT_EQ(named.plan().hosts[2].name, "n3");
}

TEST(Profiles, AreChosenByName) {
  EXPECT_EQ(FirstCommand(Extended("", {}, {"smoke"})), (Lines{"x", "4", "0.5", "0.9"}));
  const Evaluated evaluated =
      Extended("profiles = { fast = { layers = 3, opt = { beta = 0 } } }", {}, {"smoke", "fast"});
  EXPECT_EQ(FirstCommand(evaluated), (Lines{"x", "6", "0.5", "0"})) << "the later one is stronger";
  EXPECT_EQ(evaluated.plan().hosts.size(), 1U);
  EXPECT_EQ(evaluated.plan().profiles, (Lines{"smoke", "fast"}));
  ASSERT_EQ(evaluated.answer.profiles.size(), 2U);
  EXPECT_EQ(evaluated.answer.profiles[0].name, "fast");
  const Evaluated unknown = Extended("", {}, {"smok"});
  EXPECT_EQ(unknown.problems(), Lines{"recipe.lua:3 error profile: the recipe has no profile \"smok\""});
  EXPECT_EQ(unknown.answer.diagnostics[0].hint, "did you mean \"smoke\"?");
}

TEST(Profiles, AreCheckedLikeOverrides) {
  EXPECT_EQ(Extended("profiles = { p = { layers = 'x' } }", {}, {"p"}).problems(),
            Lines{"recipe.lua:3 error parameter_value: parameter layers must be an int, got string \"x\" (from the "
                  "profile p)"});
  EXPECT_EQ(Extended("profiles = { p = { layrs = 1 } }", {}, {"p"}).problems(),
            Lines{"recipe.lua:3 error unknown_parameter: the recipe has no parameter \"layrs\" (from the profile p)"});
  EXPECT_EQ(Extended("profiles = { p = { x = muster.int { 1 } } }").problems(),
            Lines{"recipe.lua:3 error parameter: profile p declares x, and a profile only gives values"});
  EXPECT_EQ(Extended("profiles = { p = 3, ['a b'] = {} }").problems().size(), 2U);
}

TEST(Sources, RankFromTheDefaultToTheCommandLine) {
  const auto state = [](const Evaluated& evaluated, const std::string& name) {
    for (const ParameterState& each : evaluated.answer.parameters) {
      if (each.parameter.name == name) return each;
    }
    return ParameterState{};
  };
  Override set = Text("layers", "40");
  set.origin = ParameterOrigin::kMusterSet;
  const std::string fields = "params = { layers = 20 }, profiles = { p = { layers = 30 } }";
  const std::tuple<std::vector<Override>, Lines, int, ParameterOrigin> cases[] = {
      {{}, {}, 20, ParameterOrigin::kExtension},
      {{}, {"p"}, 30, ParameterOrigin::kProfile},
      {{set}, {"p"}, 40, ParameterOrigin::kMusterSet},
      {{Text("layers", "50"), set}, {"p"}, 50, ParameterOrigin::kCommandLine}};
  for (const auto& [overrides, profiles, value, origin] : cases) {
    const ParameterState layers = state(Extended(fields, overrides, profiles), "layers");
    EXPECT_EQ(layers.value, Value(value));
    EXPECT_EQ(layers.origin, origin);
    const bool of_recipe = origin == ParameterOrigin::kExtension || origin == ParameterOrigin::kProfile;
    EXPECT_EQ(layers.place, (of_recipe ? Place{"recipe.lua", 3} : Place{}));
  }
  EXPECT_EQ(state(Extended(fields, {}, {"p"}), "layers").profile, "p");
  EXPECT_EQ(state(Extended(fields), "lr").origin, ParameterOrigin::kDefault);
  Override unset;
  unset.kind = Override::Kind::kUnset;
  unset.name = "layers";
  EXPECT_EQ(state(Extended(fields, {set, unset}, {"p"}), "layers").value, Value(20)) << "what the recipe itself says";
}

TEST(FormerNames, WorkInExtensionsAndProfilesWithAWarning) {
  const Evaluated evaluated = Extended("params = { rate = 0.1 }");
  EXPECT_EQ(evaluated.problems(), Lines{"recipe.lua:3 warning renamed: parameter rate is now called lr"});
  EXPECT_EQ(CommandOf(evaluated.plan(), "worker.0"), (Lines{"x", "8", "0.1", "0.9"}));
}

TEST(LoadedRecipes, AreFoundBesideTheRecipeThatLoadsThem) {
  const Outside outside{
      {{"lib/a.lua",
        "local muster = require 'muster'\nlocal m = require 'm'\nreturn muster.load('b.lua'):extend { name = "
        "m.name, plan = function(p, job, base) base(p, job) job:env { F = muster.here 'f.txt' } end }"},
       {"lib/b.lua",
        "local muster = require 'muster'\nreturn muster.recipe { name = 'b', plan = function(p, job)\n"
        "job:workers { count = 1, command = { 'x' } } end }"},
       {"lib/m.lua", "return { name = 'of-lib' }"},
       {"m.lua", "return { name = 'of-main' }"},
       {"lib/f.txt", ""}},
      {}};
  const Evaluated evaluated = Evaluate(
      {"local muster = require 'muster'\nassert(require('m').name == 'of-main')\nreturn muster.load './lib//a.lua'",
       {},
       {},
       outside});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.plan().name, "of-lib");
  EXPECT_EQ(OwnEnv(evaluated.plan(), "worker.0").at("F"), "/recipes/lib/f.txt");
}

TEST(LoadedRecipes, WithErrorsAreReportedAtTheirOwnLines) {
  const auto problems = [](std::map<std::string, std::string> files,
                           const std::string& main = "return muster.load 'a.lua'") {
    return Evaluate({"local muster = require 'muster'\n" + main, {}, {}, {std::move(files), {}}}).problems();
  };
  EXPECT_EQ(problems({}), Lines{"recipe.lua:2 error recipe: muster.load: a.lua cannot be read: there is none"});
  EXPECT_EQ(problems({{"a.lua", "return {}"}}),
            Lines{"recipe.lua:2 error recipe: muster.load: a.lua returns no recipe"});
  EXPECT_EQ(problems({{"a.lua", "\n\nlocal x = = 1"}}), Lines{"a.lua:3 error syntax: unexpected symbol near '='"});
  EXPECT_EQ(
      problems({{"a.lua", "local muster = require 'muster'\n\nreturn muster.recipe { nam = 'x', plan = print }"}}),
      (Lines{"a.lua:3 error unknown_key: a recipe has no option \"nam\"",
             "a.lua:3 error missing: the recipe has no name"}));
  EXPECT_EQ(problems({{"a.lua", "local muster = require 'muster'\nlocal b = muster.load 'b.lua'\nreturn b"},
                      {"b.lua", "local muster = require 'muster'\nlocal b = muster.load 'a.lua'\nreturn b"}}),
            Lines{"b.lua:2 error recipe: muster.load: a.lua loads itself: a.lua → b.lua → a.lua"});
  EXPECT_EQ(problems({{"a.lua", "return require('muster').load 'recipe.lua'"}}),
            Lines{"a.lua:1 error recipe: muster.load: recipe.lua loads itself: recipe.lua → a.lua → recipe.lua"});
  EXPECT_EQ(problems({}, "muster.load '/etc/x.lua'").size(), 1U);
  EXPECT_EQ(problems({}, "muster.load {}").size(), 1U);
  EXPECT_EQ(problems({}, "muster.load '@acme/gpt'"),
            Lines{"recipe.lua:2 error recipe: muster.load: @acme/gpt cannot be read: there is none"});
  std::map<std::string, std::string> deep;
  for (int i = 0; i < 40; ++i) {
    deep["a" + std::to_string(i) + ".lua"] =
        "local r = require('muster').load 'a" + std::to_string(i + 1) + ".lua'\nreturn r";
  }
  EXPECT_EQ(problems(deep, "return muster.load 'a0.lua'"),
            Lines{"a15.lua:1 error recipe: muster.load: recipes load each other more than 16 deep"});
}

TEST(LoadedRecipes, AreLoadedOnce) {
  const Evaluated evaluated =
      Evaluate({"local muster = require 'muster'\nassert(muster.load 'base.lua' == muster.load './base.lua')\nreturn "
                "muster.load 'base.lua'",
                {},
                {},
                {{{"base.lua", kBase}}, {}}});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.asked, Lines{"file base.lua"});
}

TEST(DerivedValues, ArePinnedOnlyExplicitly) {
  Request request{kBase};
  request.pins = {Text("twice", "3")};
  const Evaluated evaluated = Evaluate(request);
  EXPECT_EQ(evaluated.problems(), Lines{"recipe.lua:7 warning pin: twice is pinned to 3; the recipe derives 8"});
  EXPECT_EQ(CommandOf(evaluated.plan(), "worker.0"), (Lines{"x", "3", "0.5", "0.9"}));
  EXPECT_EQ(evaluated.plan().derived.at("twice"), Value(3));
  EXPECT_EQ(evaluated.plan().pinned.at("twice"), Value(8));
  request.pins = {Text("twice", "many")};
  EXPECT_EQ(
      Evaluate(request).problems(),
      Lines{"recipe.lua:7 error pin: --pin twice: the recipe derives the int 8, and \"many\" is of another type"});
  request.pins = {Text("twise", "3"), Text("layers", "3")};
  const Evaluated unknown = Evaluate(request);
  EXPECT_EQ(unknown.problems(), (Lines{"error pin: --pin twise: the recipe derives no such value",
                                       "error pin: --pin layers: this is a parameter"}));
  EXPECT_EQ(unknown.answer.diagnostics[0].hint, "did you mean \"twice\"?");
}

TEST(DerivedValues, CannotBeSetLikeParameters) {
  const Evaluated evaluated = Evaluate({kBase, {Text("twice", "3"), Text("device_num", "8"), Text("twic", "3")}});
  EXPECT_EQ(evaluated.problems(),
            Lines{"error unknown_parameter: the recipe has no parameter \"twic\" (from the command line)"});
  EXPECT_EQ(evaluated.answer.diagnostics[0].hint, "did you mean \"twice\"?");
  EXPECT_FALSE(evaluated.answer.plan);
  ASSERT_EQ(evaluated.answer.not_settable.size(), 2U);
  EXPECT_EQ(evaluated.answer.not_settable[0],
            (DerivedOverride{"twice", ParameterOrigin::kCommandLine, true, {"recipe.lua", 7}}));
  EXPECT_FALSE(evaluated.answer.not_settable[1].by_recipe) << "muster derives it of the context";
}

}  // namespace
}  // namespace muster::testing
