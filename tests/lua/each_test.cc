// Tests `each`: the properties of a process, and what `each` may set.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

std::string Each(const std::string& body, const std::string& more = "") {
  return "job:workers { count = 4, command = { 'x' }, " + more + " each = function(process)\n" + body + "\nend }";
}

TEST(Each, ProvidesTheProcesssPlacement) {
  const Evaluated evaluated =
      Evaluate({Recipe(Each("print(process.role, process.index, process.rank, process.local_rank, process.world_size, "
                            "process.local_size, process.stage,"
                            " process.rank_in_stage, #process.devices, process.devices[1], process.host.index, "
                            "process.host.name, process.host.address,"
                            " process.attempt, process.ports.rpc)",
                            "devices = 1, ports = 'rpc',"),
                       "cluster = { hosts = 2, devices_per_host = 2 },")});
  EXPECT_EQ(evaluated.problems(), Lines{});
  ASSERT_EQ(evaluated.printed.size(), 4U);
  EXPECT_EQ(evaluated.printed[3],
            "worker\t3\t3\t1\t4\t2\t0\t3\t1\t1\t1\t${muster:host_name:1}\t${muster:host_address:1}\t${muster:attempt}"
            "\t${muster:port:worker.3.rpc}");
}

TEST(Each, RunsAfterThePlanAndOncePerProcess) {
  const Evaluated evaluated = Evaluate(
      {Recipe(Each("print('each', process.index)") + "\njob:role 'm' { command = { 'm' }, each = function(process) "
                                                     "print(process.rank, process.world_size) end } print('plan')")});
  EXPECT_EQ(evaluated.printed, (Lines{"plan", "each\t0", "each\t1", "each\t2", "each\t3", "nil\t0"}));
}

TEST(Each, SetsCommandFolderAndVariables) {
  const Plan plan = PlanOf(Each("process.command = { 'y', process.rank, process.command } process.cwd = '/w/' .. "
                                "process.rank process.env.A = process.rank process.env { B = 'b' }"
                                " process.env.SEEN = process.env.ROLE .. process.env.A .. process.env.JOB .. "
                                "tostring(process.env.NONE) .. tostring(process.cwd)",
                                "env = { ROLE = 'r' },") +
                           " job:env { JOB = 'j' }");
  EXPECT_EQ(CommandOf(plan, "worker.2"), (Lines{"y", "2", "x"}));
  EXPECT_EQ(EffectiveCwd(plan, ProcessNamed(plan, "worker.2")).marked, "/w/2");
  EXPECT_EQ(OwnEnv(plan, "worker.2"),
            (std::map<std::string, std::string>{
                {"A", "2"}, {"B", "b"}, {"JOB", "j"}, {"ROLE", "r"}, {"SEEN", "r2jnil/w/2"}}));
}

TEST(Each, CannotChangeFacts) {
  const std::pair<const char*, const char*> cases[] = {
      {"process.rank = 0", "process.rank cannot be set"},
      {"process.rnak = 0", "process.rnak cannot be set"},
      {"local x = process.rnak", "there is no process.rnak"},
      {"process.host.index = 7", "index cannot be set in process.host"},
      {"process.ports.x = 7", "x cannot be set in process.ports"},
      {"local x = process.ports.nope", "there is no nope in process.ports"},
      {"process.env = {}", "process.env cannot be replaced"},
      {"process.cwd = 7", "cwd of a worker must be a path, got 7"},
      {"rawset(process, 'rank', 9)", "rawset: this table cannot be changed"},
      {"rawset(process.env, 'A', '1')", "rawset: this table cannot be changed"},
  };
  for (const auto& [code, message] : cases) {
    const Evaluated evaluated = Evaluate({Recipe(Each(code))});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << code;
    EXPECT_EQ(evaluated.answer.diagnostics[0].message, message) << code;
    EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", 5})) << code;
  }
}

TEST(Each, CannotChangeDevices) {
  for (const char* change : {"process.devices[1] = 3", "process.devices[2] = 0", "table.remove(process.devices)"}) {
    EXPECT_EQ(ProblemsOf(Each(change, "devices = 1,"), "cluster = { devices_per_host = 4 },"),
              Lines{"recipe.lua:4 error read_only: each of role worker changes process.devices"})
        << change;
  }
}

TEST(Each, IteratesInOrder) {
  const Evaluated evaluated =
      Evaluate({Recipe(Each("if process.index == 0 then for key in pairs(process) do print(key) end end"))});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_TRUE(std::is_sorted(evaluated.printed.begin(), evaluated.printed.end()));
  EXPECT_GE(evaluated.printed.size(), 10U);
}

TEST(Each, CannotDescribeRolesOrPorts) {
  for (const char* code :
       {"job:workers { command = { 'y' } }", "job:role 'x'", "job:env { A = 1 }", "job:file { 'a', text = '' }",
        "job:derive { a = 1 }", "job:scheduler {}", "job:servers {}"}) {
    const Evaluated evaluated = Evaluate({Recipe(Each(code))});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << code;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, "order") << code;
  }
  EXPECT_EQ(PlanOf(Each("process.env.P = job:port 'late' process.env.D = job.run_dir")).ports.count("late"), 1U);
}

TEST(Each, NamesTheProcessOfAnError) {
  const Evaluated evaluated = Evaluate({Recipe(Each("local x = ({ 1, 2 })[process.index + 1] + 1"))});
  ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U);
  EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", 5}));
  EXPECT_EQ(evaluated.answer.diagnostics[0].notes.back().message, "in each of worker.2");
}

TEST(Each, MustYieldACommand) {
  EXPECT_EQ(ProblemsOf("job:workers { count = 3, each = function(process) if process.index == 1 then process.command = "
                       "{ 'x' } end end }"),
            Lines{"recipe.lua:4 error command: each of role worker sets no command, and the role has none"});
  EXPECT_EQ(ProblemsOf(Each("process.command = 'x'")),
            Lines{"recipe.lua:5 error command: the command of a worker must be a list of words, got \"x\""});
}

TEST(Each, ObjectsCannotBeUsedAfterwards) {
  // Stored objects have no effect any more: the processes are final.
  const Plan plan =
      PlanOf("local kept " +
             Each("if process.index == 0 then kept = process else kept.command = { 'evil' } kept.env.X = '1' end"));
  EXPECT_EQ(CommandOf(plan, "worker.0"), Lines{"x"});
  EXPECT_EQ(CommandOf(plan, "worker.1"), Lines{"x"});
  EXPECT_EQ(OwnEnv(plan, "worker.0").count("X") + OwnEnv(plan, "worker.1").count("X"), 0U);
}

}  // namespace
}  // namespace muster::testing
