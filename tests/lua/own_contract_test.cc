// Tests contracts defined by recipes: how their functions are called, what they cannot change, and error messages.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

// Returns a recipe whose framework is the contract with these fields, on line 2.
std::string WithContract(const std::string& fields, const std::string& body = "", const std::string& options = "") {
  return "local muster, context = require 'muster', require 'muster.context'\n"
         "local mine = muster.contract { name = 'mine', " +
         fields + " }\nreturn muster.recipe { name = 't', framework = { mine, " + options +
         " }, cluster = { hosts = 2, devices_per_host = 2 },\n plan = function(p, job)\n" + body +
         "\njob:workers { count = 3, devices = 1, command = { 'x' } } end }\n";
}

Lines Problems(const std::string& fields, const std::string& body = "", const std::string& options = "") {
  return Evaluate({WithContract(fields, body, options)}).problems();
}

TEST(OwnContract, SetsTheVariablesOfItsProcesses) {
  const Evaluated evaluated = Evaluate({WithContract(
      "doc = 'Mine.', roles = { worker = { min = 1 }, keeper = { max = 1, add = 'worker', command = { 'keep' }, done = "
      "'never', linger = '3s' } },"
      "meeting = { role = 'keeper', port = 'keeper' }, clear = { 'MINE_*' }, options = { colour = { 'red', 'green' } },"
      "prepare = function(job) return { list = job.file('list.txt', 'of ' .. job.worlds.worker.size) } end,"
      "defaults = function(role, job) return { HINT = 1 } end,"
      "common = function(role, job) return { MINE_AT = job.meeting.address .. ':' .. job.meeting.port, MINE_SIZE = "
      "job.count.worker,"
      "  MINE_ROLE = role.plays, MINE_COLOUR = job.option.colour, MINE_LIST = job.prepared.list } end,"
      "env = function(process, job) return { MINE_RANK = process.rank, MINE_NODE = process.host.index,"
      "  MINE_DEVICE = process.devices[1], MINE_NOTHING = '' } end",
      "", "colour = 'green'")});
  ASSERT_EQ(evaluated.problems(), Lines{});
  const Plan& plan = evaluated.plan();
  EXPECT_EQ(plan.framework, "mine");
  using Env = std::map<std::string, std::string>;
  const Env all{{"MINE_AT", "${muster:host_address:0}:${muster:port:keeper}"},
                {"MINE_SIZE", "3"},
                {"MINE_COLOUR", "green"},
                {"MINE_LIST", "${muster:run_dir}/files/list.txt"},
                {"HINT", "${muster:inherited:HINT:1}"},
                {"MINE_NOTHING", ""}};
  Env worker = all;
  worker.insert({{"MINE_ROLE", "worker"}, {"MINE_RANK", "2"}, {"MINE_NODE", "1"}, {"MINE_DEVICE", "0"}});
  EXPECT_EQ(OwnEnv(plan, "worker.2"), worker);
  Env keeper = all;
  keeper.insert({{"MINE_ROLE", "keeper"}, {"MINE_NODE", "0"}});
  EXPECT_EQ(OwnEnv(plan, "keeper.0"), keeper);
  EXPECT_EQ(CommandOf(plan, "keeper.0"), Lines{"keep"});
  EXPECT_EQ(plan.files.at("files/list.txt").content.marked, "of 3");
  EXPECT_EQ(plan.roles[0].unset, Lines{"MINE_*"});
}

// A world's `hosts` is a list; everywhere else `hosts` is a number.
TEST(OwnContract, GetsTheHostsOfItsWorldsInTheOrderOfRanks) {
  const std::string order =
      "roles = { worker = {} },\ncommon = function(role, job) return { AT = table.concat(job.worlds.worker.";
  const Evaluated evaluated = Evaluate({WithContract(order + "host_order, ',') } end")});
  ASSERT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(OwnEnv(evaluated.plan(), "worker.0").at("AT"), "0,1");
}

TEST(OwnContract, MayBeAModuleBesideTheRecipe) {
  Request request{
      "local muster = require 'muster'\nreturn muster.recipe { name = 't', framework = require 'mine',\n"
      "plan = function(p, job) job:workers { count = 1, command = { 'x' } } end }\n"};
  request.outside.files["mine.lua"] =
      "local muster = require 'muster'\nreturn muster.contract { name = 'mine', roles = { worker = {} },\n"
      "env = function(process) return { A = process.rank } end }\n";
  const Evaluated evaluated = Evaluate(request);
  ASSERT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(OwnEnv(evaluated.plan(), "worker.0").at("A"), "0");
}

TEST(OwnContract, DeclaresWhatItsVariablesCarry) {
  const Evaluated evaluated = Evaluate({WithContract(
      "roles = { worker = { min = 1 }, keeper = { min = 1, max = 1, add = 'worker', done = 'never' } },"
      "meeting = { role = 'keeper', port = 'keeper' }, variables = { { 'MINE_AT', 'all', 'where', is = 'endpoint' },"
      "{ 'MINE_RANK', 'worker', 'rank', is = 'rank', optional = true }, { 'MINE_COLOUR', 'all', 'a colour' },"
      "{ 'MINE_KEEPERS', 'keeper, worker', 'keepers', is = 'count', of = 'keeper' },"
      "{ 'MINE_ROLE', 'all', 'role', is = 'role', words = { keeper = 'K' } } }")});
  ASSERT_EQ(evaluated.problems(), Lines{});
  using Meaning = ContractVariable::Meaning;
  EXPECT_EQ(evaluated.plan().contract,
            (std::vector<ContractVariable>{{"MINE_AT", {}, Meaning::kEndpoint, "keeper"},
                                           {"MINE_RANK", {"worker"}, Meaning::kRank, "", {}, true},
                                           {"MINE_KEEPERS", {"keeper", "worker"}, Meaning::kCount, "keeper"},
                                           {"MINE_ROLE", {}, Meaning::kRole, "", {{"keeper", "K"}}}}));
  // What muster's own contracts declare is on their pages, and in no plan.
  EXPECT_TRUE(PlanOf("job:workers { count = 1, command = { 'x' } }", "framework = 'torch',").contract.empty());
}

TEST(OwnContract, ReportsMistakesInItsForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"roles = {}, colour = 1", "recipe.lua:2 error contract: a contract has no field \"colour\""},
      {"", "recipe.lua:2 error contract: a contract needs roles"},
      {"roles = { worker = 3 }", "recipe.lua:2 error contract: role \"worker\" of a contract must be a table, got 3"},
      {"roles = { server = { done = 'never', linger = 5 } }",
       "recipe.lua:2 error contract: role server of a contract: linger must be a duration such as \"35s\", got 5"},
      {"roles = { worker = { most = 3 } }",
       "recipe.lua:2 error contract: role worker of a contract has no field \"most\""},
      {"roles = { worker = { min = -1 } }",
       "recipe.lua:2 error contract: role worker of a contract: min must be a whole number, got -1"},
      {"roles = { worker = { done = 'sometimes' } }",
       "recipe.lua:2 error contract: role worker of a contract: done must be \"all\", \"any\" or \"never\", got "
       "\"sometimes\""},
      {"roles = { worker = { command = { true } } }",
       "recipe.lua:2 error command: word 1 of the command of role worker of a contract is true"},
      {"roles = { worker = { ports = { 'a b' } } }",
       "recipe.lua:2 error format: ports of role worker of a contract: \"a b\" is not a valid name for a port"},
      {"roles = { worker = {} }, meeting = { role = 'server', port = 'rpc' }",
       "recipe.lua:2 error contract: meeting must name one of the contract's roles and a port, got \"server\" and "
       "\"rpc\""},
      {"roles = { worker = {} }, clear = { 3 }",
       "recipe.lua:2 error contract: clear must be a list of variables, got {3}"},
      {"roles = { worker = {} }, options = { a = 3 }",
       "recipe.lua:2 error contract: option \"a\" must be a list of words, got 3"},
      {"roles = { worker = {} }, variables = { { 'A B', 'worker', '', is = 'rank' } }",
       "recipe.lua:2 error contract: variable 1 of a contract must be { NAME, processes, meaning, is = … }, got "
       "{[\"1\"] = \"A B\", [\"2\"] = \"worker\", [\"3\"] = \"\", is = \"rank\"}"},
      {"roles = { worker = {} }, variables = { { 'A', 'server', '', is = 'rank' } }",
       "recipe.lua:2 error contract: variable A of a contract names the role \"server\", which the contract does not "
       "have"},
      {"roles = { worker = {} }, variables = { { 'A', 'all', '', is = 'colour' } }",
       "recipe.lua:2 error contract: contract mine: variable A: \"is\" must be one of rank, world_size, local_rank, "
       "local_size, count, worker_hosts, role, tasks, address, port, endpoint"},
      {"roles = { worker = {} }, variables = { { 'A', 'all', '', is = 'count' } }",
       "recipe.lua:2 error contract: contract mine: variable A: `of` must name a role"},
      {"roles = {}, env = 3", "recipe.lua:2 error contract: a contract: env must be a function, got 3"},
      {"roles = {}, arrange = function() end", "recipe.lua:2 error contract: a contract of a recipe has no arrange"},
      {"roles = {}, clear = function() end",
       "recipe.lua:2 error contract: clear of a recipe's contract must be a list of variables, got a function"},
  };
  for (const auto& [fields, problem] : cases) EXPECT_EQ(Problems(fields).front(), problem) << fields;
  EXPECT_EQ(
      Evaluate({"local muster = require 'muster' muster.contract { name = 'torch', roles = {} }"}).problems().front(),
      "recipe.lua:1 error contract: muster has a framework torch of its own");
}

TEST(OwnContract, ReportsMistakesInItsVariables) {
  const std::pair<const char*, const char*> cases[] = {
      {"env = function() return 3 end", "error type: contract mine must be a table of variables, got 3"},
      {"env = function() return { A = true } end",
       "error variable: contract mine: A must be a string or a number, got true"},
      {"env = function() return { ['A=B'] = 1 } end", "error variable: contract mine: \"A=B\" is not a variable name"},
      {"env = function() return { A = muster.unset } end", "error variable: contract mine: A is unset"},
      {"common = function() return { A = '${muster:port' } end", "error "},
      {"env = function(process) process.rank = 3 end", "error read_only: rank cannot be set in process"},
      {"env = function(process) process.host.index = 3 end", "error read_only: index cannot be set in process.host"},
      {"common = function(role, job) job.worlds.worker.size = 7 end",
       "error read_only: size cannot be set in job.worlds.worker"},
      {"clear = { 'A*' }, defaults = function() return { AB = 1 } end",
       "error contract: contract mine: its default AB is also cleared, as A*"},
      {"prepare = function(job) job.file('../x', 'y') end",
       "error format: \"../x\" is not a valid name for a file below the run directory"},
      {"prepare = function(job) job.file('x') end", "error type: job.file expects a name and a text"},
      {"prepare = function(job) local t = {} t.t = t return t end, env = function(p, job) return { A = "
       "job.prepared.t.t } end",
       "error variable: contract mine: A must be a string or a number"},
      {"check = function(job) job.report('too few', 'more') end", "error contract: too few"},
      {"env = function() error('no') end", "error lua: no"},
      {"prepare = function() return nil + 1 end", "error lua: attempt to perform arithmetic on a nil value"},
  };
  for (const auto& [fields, problem] : cases) {
    const Lines problems = Problems(std::string("roles = { worker = {} }, ") + fields);
    ASSERT_FALSE(problems.empty()) << fields;
    EXPECT_NE(problems[0].find(problem), std::string::npos) << problems[0];
    EXPECT_TRUE(problems[0].starts_with("recipe.lua:2 ") || problems[0].starts_with("recipe.lua:3 ")) << problems[0];
  }
}

TEST(OwnContract, CannotChangeTheLayout) {
  const Evaluated evaluated =
      Evaluate({WithContract("roles = { worker = {} }, env = function(process) process.devices[1] = 7 end")});
  ASSERT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(ProcessNamed(evaluated.plan(), "worker.1").devices, (std::vector<std::uint32_t>{1}));
}

}  // namespace
}  // namespace muster::testing
