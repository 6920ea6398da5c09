// Tests reading and writing JSON and YAML beside the recipe.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

constexpr const char* kWorker = " job:workers { count = 1, command = { 'x' } }";

TEST(FilesBeside, AreReadAsValues) {
  const Outside outside{{{"c.json", R"({"layers": 3, "list": [], "none": null, "deep": {"a": [1, "x"]}})"},
                         {"lib/c.yaml", "lr: 1.0e-3\nlist: [a, b]\n"}},
                        {}};
  const Evaluated evaluated =
      Evaluate({"local muster = require 'muster'\nlocal c = muster.read_json 'c.json'\nreturn muster.recipe { name = "
                "'t', params = { n "
                "= muster.int { c.layers } }, plan = function(p, job)\n local y = muster.read_yaml 'lib/c.yaml'\n "
                "print(p.n, c.none == "
                "muster.null, c.deep.a[2], y.lr, #y.list)\n c.list[1] = 'changed' print(c.list[1])" +
                    std::string(kWorker) + " end }",
                {},
                {},
                outside});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.printed, (Lines{"3\ttrue\tx\t0.001\t2", "changed"}));
  EXPECT_EQ(evaluated.asked, (Lines{"file c.json", "file lib/c.yaml"}));
}

TEST(FilesBeside, WithInvalidValuesAreReportedAtTheirLines) {
  const auto problems = [](const std::string& call, const std::string& text) {
    return Evaluate({Recipe(call + kWorker), {}, {}, {{{"f", text}}, {}}}).problems();
  };
  EXPECT_EQ(problems("muster.read_json 'f'", "{\n\"a\": 1,\n\"a\": 2}").front().substr(0, 14), "f:3 error json");
  EXPECT_EQ(problems("muster.read_json 'f'", "{\"a\": 9007199254740993}"),
            Lines{"f:1 error json: 9007199254740993 is beyond 2^53, where Lua's numbers have gaps"});
  EXPECT_EQ(problems("muster.read_yaml 'f'", "a: 1\na: 2\n"), Lines{"f:2 error yaml: the key \"a\" appears twice"});
  EXPECT_EQ(problems("muster.read_yaml 'f'", "a: 1\nb: no\n"),
            Lines{"f:2 warning yaml_1_1: no is \"no\" here, and false to programs that read YAML 1.1"});
  EXPECT_EQ(problems("muster.read_yaml 'f'", "a: 1\nb: caf\xe9\n"),
            Lines{"f:2 error yaml: byte \\xe9 is not UTF-8; files of values are read as UTF-8"});
  EXPECT_EQ(problems("muster.read_json 'f'", std::string("\xff\xfe{\0}\0", 6)),
            Lines{"f:1 error json: it is UTF-16; files of values are read as UTF-8"});
  EXPECT_EQ(problems("muster.read_yaml 'g'", ""),
            Lines{"recipe.lua:4 error missing_path: muster.read_yaml: g is not beside the recipe: there is none"});
  EXPECT_EQ(problems("muster.read_json()", "").size(), 1U);
}

std::string Written(const std::string& file, const std::string& fields = "") {
  const Evaluated evaluated = Evaluate({Recipe("job:file { 'f', " + file + " }" + kWorker, fields)});
  if (!evaluated.problems().empty()) return evaluated.problems().front();
  return evaluated.plan().files.at("files/f").content.marked;
}

TEST(Files, AreRenderedFromValues) {
  EXPECT_EQ(Written("yaml = { b = { 1, 2.5 }, a = 'no', c = {}, d = muster.null }"),
            "a: \"no\"\nb:\n- 1\n- 2.5\nc: {}\nd: null\n");
  EXPECT_EQ(Written("json = { b = { 1 }, a = 'x' }"), "{\n  \"a\": \"x\",\n  \"b\": [\n    1\n  ]\n}\n");
  EXPECT_EQ(Written("yaml = p", "params = { o = { lr = muster.float { 1e-5 } }, l = muster.list { {} } },"),
            "l: []\no:\n  lr: 1.0e-05\n");
  EXPECT_EQ(Written("yaml = { port = job:port 'rpc', dir = job.run_dir }"),
            "dir: \"${muster:run_dir}\"\nport: ${muster:port:rpc}\n");
}

TEST(Files, AreRenderedFromOneValue) {
  EXPECT_EQ(Written("text = 'x', yaml = {}"),
            "recipe.lua:4 error conflict: file \"f\" has more than one of text, yaml and json");
  EXPECT_EQ(Written("yaml = print"), "recipe.lua:4 error type: file \"f\": yaml: a function is no plain value");
  EXPECT_EQ(Written("yaml = p", "params = { s = muster.secret { from_env = 'S' } },").substr(0, 26),
            "recipe.lua:4 error secret:");
}

TEST(EmptyLists, StayListsInARecipe) {
  const Outside outside{{{"c.json", "{\"list\": [], \"map\": {}}"}}, {}};
  const Evaluated evaluated = Evaluate({Recipe("local c = muster.read_json 'c.json' job:file { 'f', json = c }\n"
                                               "table.insert(c.list, 1) job:file { 'g', json = c.list }" +
                                               std::string(kWorker)),
                                        {},
                                        {},
                                        outside});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.plan().files.at("files/f").content.marked, "{\n  \"list\": [],\n  \"map\": {}\n}\n");
  EXPECT_EQ(evaluated.plan().files.at("files/g").content.marked, "[\n  1\n]\n");
}

TEST(Files, WriteFloatsAsFloats) {
  const std::string params =
      "params = { lr = muster.float { 1 }, steps = muster.int { 2 }, o = { decay = muster.float { 3 }, steps = "
      "muster.int { "
      "4 } },\n"
      "betas = muster.list { {} }, size = muster.float { 1 }, m = { size = muster.int { 1 } } },";
  EXPECT_EQ(Written("yaml = p", params),
            "betas: []\nlr: 1.0\nm:\n  size: 1\no:\n  decay: 3.0\n  steps: 4\nsize: 1.0\nsteps: 2\n");
  EXPECT_EQ(Written("json = p.o", params), "{\n  \"decay\": 3.0,\n  \"steps\": 4\n}\n");
  // In a table of the recipe's own: by the name of the parameter, unless another one of that name is no float.
  EXPECT_EQ(
      Written("yaml = { lr = p.lr, decay = 2 * p.o.decay, steps = p.steps, size = p.size, other = p.lr }", params),
      "decay: 6.0\nlr: 1.0\nother: 1\nsize: 1\nsteps: 2\n");
  EXPECT_EQ(Evaluate({Recipe("job:file { 'f', json = { p.betas } }" + std::string(kWorker), params),
                      {Json("betas", Value(Value::List{Value(0.9), Value(1.0), Value(2)}))}})
                .plan()
                .files.at("files/f")
                .content.marked,
            "[\n  [\n    0.9,\n    1.0,\n    2\n  ]\n]\n");
}

TEST(Files, KeepTheFloatsOfAFileThatWasRead) {
  const auto written = [](const std::string& change) {
    const Evaluated evaluated = Evaluate(
        {Recipe("local c = muster.read_yaml 'c.yaml' local j = muster.read_json 'c.json' " + change +
                " job:file { 'f', yaml = { yaml = c, json = j } }" + kWorker),
         {},
         {},
         {{{"c.yaml", "a: 1.0\nb: 1\nc: [1.0, 2]\nd: {e: 1e5}\n"}, {"c.json", "{\"a\": 2.0, \"b\": 2}"}}, {}}});
    if (!evaluated.problems().empty() && evaluated.problems().front().find(" error ") != std::string::npos) {
      return evaluated.problems().front();
    }
    return evaluated.plan().files.at("files/f").content.marked;
  };
  EXPECT_EQ(written(""),
            "json:\n  a: 2.0\n  b: 2\nyaml:\n  a: 1.0\n  b: 1\n  c:\n  - 1.0\n  - 2\n  d:\n    e: 1.0e+05\n");
  EXPECT_EQ(written("c.a = 3 c.b = 3 c.d.e = 2 j.a = 0.5"),
            "json:\n  a: 0.5\n  b: 2\nyaml:\n  a: 3.0\n  b: 3\n  c:\n  - 1.0\n  - 2\n  d:\n    e: 2.0\n");
}

// --- overrides of what was read ------------------------------------------------------------------------

std::string Overridden(const std::string& calls) {
  const Evaluated evaluated =
      Evaluate({Recipe("local c = muster.read_yaml 'conf.yaml'\n" + calls + "\njob:file { 'f', json = c }" + kWorker),
                {},
                {},
                {{{"conf.yaml",
                   "parallel_config: {data_parallel: 8, micro: {size: 2}}\nlr: 1.0\nlayers: [{size: 1}, {size: 2}]\n"
                   "\"a.b\": 1\nnone: null\n"},
                  {}},
                 {}}});
  std::string text;
  for (const std::string& problem : evaluated.problems()) text += problem + "\n";
  if (!text.empty()) return text;
  text = evaluated.plan().files.at("files/f").content.marked;
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(Override, SetsValuesThatTheFileHas) {
  EXPECT_EQ(
      Overridden("muster.override(c, 'parallel_config.data_parallel', 4) muster.override(c, 'layers.2.size', 7)\n"
                 "muster.override(c, { lr = 2, ['a.b'] = 3, none = 'x' }) muster.override(c.parallel_config, "
                 "'micro.size', muster.null)"),
      R"({"a.b":3,"layers":[{"size":1},{"size":7}],"lr":2.0,"none":"x","parallel_config":{"data_parallel":4,"micro":{"size":null}}})");
  EXPECT_NE(Overridden("muster.override(c, 'parallel_config.micro', { size = 3 })").find("\"micro\":{\"size\":3}"),
            std::string::npos);
}

TEST(Override, RefusesKeysThatTheFileHasNot) {
  EXPECT_EQ(Overridden("muster.override(c, 'parallel_config.data_paralel', 4)"),
            "recipe.lua:5 error unknown_key: muster.override: conf.yaml has no key parallel_config.data_paralel\n");
  EXPECT_EQ(Overridden("muster.override(c, 'paralel_config.data_parallel', 4)"),
            "recipe.lua:5 error unknown_key: muster.override: conf.yaml has no key paralel_config\n");
  EXPECT_EQ(Overridden("muster.override(c, 'layers.3.size', 4)"),
            "recipe.lua:5 error unknown_key: muster.override: conf.yaml has no key layers.3\n");
  EXPECT_EQ(Overridden("muster.override(c, 'lr.x', 4)"),
            "recipe.lua:5 error unknown_key: muster.override: lr.x: lr is 1, not a block\n");
  EXPECT_EQ(Overridden("muster.override(c, 'parallel_config', 4)"),
            "recipe.lua:5 error type: muster.override: parallel_config is a block, and would become 4\n");
  for (const char* call :
       {"muster.override(c, 'lr', nil)", "muster.override(c, 'lr', print)", "muster.override(c, 1, 2)",
        "muster.override('c', 'lr', 2)", "muster.override(p, 'lr', 2)"}) {
    EXPECT_NE(Overridden(call).find(" error "), std::string::npos) << call;
  }
}

TEST(FilesBeside, AreNamedIfABlockOfThemIsMissing) {
  const auto hint = [](const std::string& body) {
    const Evaluated evaluated = Evaluate({Recipe("local c = muster.read_yaml 'conf.yaml'\n" + body + kWorker),
                                          {},
                                          {},
                                          {{{"conf.yaml", "runner: {parallel_config: {x: 1}, micro: 2}\n"}}, {}}});
    return evaluated.answer.diagnostics.empty() ? std::string() : evaluated.answer.diagnostics.front().hint;
  };
  EXPECT_EQ(hint("c.paralel_config.x = 1"), "conf.yaml has no paralel_config; did you mean \"parallel_config\"?");
  EXPECT_EQ(hint("c.parallel_config.x = 1"), "conf.yaml has parallel_config in another block");
  EXPECT_EQ(hint("c.unlike_anything.x = 1"), "no file that was read (conf.yaml) has a key unlike_anything");
}

}  // namespace
}  // namespace muster::testing
