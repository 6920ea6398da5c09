// Tests reading and writing JSON and YAML beside the recipe.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

constexpr const char* kWorker = " job:workers { count = 1, command = { 'x' } }";

TEST(FilesBeside, AreReadAsValues) {
  const Outside outside{{{"c.json", R"({"layers": 3, "list": [], "none": null, "deep": {"a": [1, "x"]}})"},
                         {"lib/c.yaml", "lr: 1e-3\nlist: [a, b]\n"}},
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

}  // namespace
}  // namespace muster::testing
