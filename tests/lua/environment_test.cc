// Tests variables set by recipes: allowed values, precedence, and variables that cannot be overridden.
#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "lua/filled_env.h"

namespace muster::testing {
namespace {

TEST(Env, OfTheJobTheRoleAndTheProcessAreMerged) {
  const Plan plan = PlanOf(
      "job:env { A = 'job', B = 'job', C = 'job' }\n"
      "job:workers { count = 2, command = { 'x' }, env = { B = 'role', C = 'role' }, each = function(process) "
      "process.env.C = process.index end }\n"
      "job:role 'other' { command = { 'y' } }");
  EXPECT_EQ(OwnEnv(plan, "worker.1"), (Env{{"A", "job"}, {"B", "role"}, {"C", "1"}}));
  EXPECT_EQ(OwnEnv(plan, "other.0"), (Env{{"A", "job"}, {"B", "job"}, {"C", "job"}}));
}

TEST(Env, AcceptsStringsAndNumbers) {
  EXPECT_EQ(
      OwnEnv(
          PlanOf(
              "job:workers { count = 1, command = { 'x' }, env = { A = 0.1 + 0.2, B = 2 ^ 53, C = '', D = 'ä b' } }"),
          "worker.0"),
      (Env{{"A", "0.30000000000000004"}, {"B", "9007199254740992"}, {"C", ""}, {"D", "ä b"}}));
}

TEST(Env, RefusesInvalidNamesAndValues) {
  const std::pair<const char*, const char*> cases[] = {
      {"A = true", "variable"},        {"A = {}", "variable"},          {"A = print", "variable"},
      {"A = muster.null", "variable"}, {"[1] = 'x'", "variable"},       {"['A=B'] = 'x'", "variable"},
      {"[''] = 'x'", "variable"},      {"['a\\0b'] = 'x'", "variable"}, {"['\\255'] = 'x'", "variable"},
      {"A = 'a\\0b'", "text"},         {"A = '\\255'", "text"},         {"MUSTER_RANK = '1'", "contract_variable"},
      {"A = '${muster:'", "hole"},
  };
  for (const auto& [variable, kind] : cases) {
    for (const std::string& code :
         {"job:env { " + std::string(variable) + " } job:workers { count = 1, command = { 'x' } }",
          "job:workers { count = 1, command = { 'x' }, env = { " + std::string(variable) + " } }",
          "job:workers { count = 1, command = { 'x' }, each = function(process) process.env { " +
              std::string(variable) + " } end }"}) {
      const Evaluated evaluated = Evaluate({Recipe(code)});
      ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << code;
      EXPECT_EQ(evaluated.answer.diagnostics[0].kind, kind) << code;
      EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", kBodyLine})) << code;
    }
  }
  EXPECT_EQ(ProblemsOf("job:env 'A=1'"),
            (Lines{"recipe.lua:4 error type: job:env must be a table of variables, got \"A=1\"",
                   "recipe.lua:2 error roles: the plan describes no process"}));
}

TEST(Env, RemovesInheritedVariables) {
  const Plan plan = PlanOf(
      "job:env { LD_PRELOAD = muster.unset } job:workers { count = 1, command = { 'x' }, env = { ['OMPI_*'] = "
      "muster.unset } }");
  EXPECT_EQ(plan.roles[0].unset, (Lines{"LD_PRELOAD", "OMPI_*"}));
  const Lines problems = ProblemsOf(
      "job:workers { count = 1, command = { 'x' }, each = function(process) process.env.A = muster.unset end }");
  EXPECT_EQ(problems, Lines{"recipe.lua:4 error variable: each: A cannot be unset for one process"});
}

TEST(Env, OfAContractIsOverriddenOnlyExplicitly) {
  const std::string framework = "framework = 'mindspore',";
  EXPECT_EQ(
      ProblemsOf("job:workers { count = 2, command = { 'x' }, env = { RANK_ID = '7' } }", framework),
      Lines{"recipe.lua:4 error contract_variable: role worker: RANK_ID belongs to contract mindspore, which sets it"});
  EXPECT_EQ(ProblemsOf("job:env { RANK_TABLE_FILE = '/x' } job:workers { count = 2, command = { 'x' } }", framework),
            Lines{"recipe.lua:4 error contract_variable: job:env: RANK_TABLE_FILE belongs to contract mindspore, which "
                  "removes it"});
  const Plan plan = PlanOf(
      "job:workers { count = 2, command = { 'x' }, env = { MS_TOPO_TIMEOUT = 30, override = true } }", framework);
  EXPECT_EQ(OwnEnv(plan, "worker.1").at("MS_TOPO_TIMEOUT"), "30");
  EXPECT_EQ(
      OwnEnv(PlanOf("job:workers { count = 1, command = { 'x' }, env = { override = 'a variable of that name' } }"),
             "worker.0")
          .at("override"),
      "a variable of that name");
}

TEST(Env, OfPythonDisablesBufferingAndEnablesFaulthandler) {
  const Env python{{"PYTHONFAULTHANDLER", "1"},
                   {"PYTHONPATH", "${muster:run_dir}/python${muster:inherited_path:PYTHONPATH}"},
                   {"PYTHONUNBUFFERED", "1"}};
  for (const char* command : {"{ 'python3', 'x.py' }", "{ '/usr/bin/python3.11' }", "{ './train.py' }"}) {
    EXPECT_EQ(OwnEnv(PlanOf(std::string("job:workers { count = 1, command = ") + command + " }"), "worker.0"), python)
        << command;
  }
  EXPECT_EQ(OwnEnv(PlanOf("job:workers { count = 1, command = { 'ps_digits', 'x.py' } }"), "worker.0"),
            (Env{{"PYTHONPATH", python.at("PYTHONPATH")}}));
  EXPECT_EQ(OwnEnv(PlanOf("job:workers { count = 1, command = { 'ps_digits', 'x' } }"), "worker.0"), Env{});
  EXPECT_EQ(
      OwnEnv(PlanOf("job:workers { count = 1, command = { 'python3' }, env = { PYTHONUNBUFFERED = '' } }"), "worker.0")
          .at("PYTHONUNBUFFERED"),
      "");
}

}  // namespace
}  // namespace muster::testing
