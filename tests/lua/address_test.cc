// Tests job:address: the address of a process of another role, as placeholders of its host and port; and every mistake
// in asking for one.
#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "plan/text/plan_text.h"

namespace muster::testing {
namespace {

const std::string kTwoHosts = "cluster = { hosts = 2 },";
const std::string kStore = "job:role 'store' { ports = 'rpc', on_hosts = 1, command = { 'serve' } }\n";
const std::string kAt = "${muster:host_address:1}:${muster:port:store.0.rpc}";

std::string Workers(const std::string& more) { return "job:workers { count = 2, command = { 'x' }, " + more + " }"; }

TEST(Addresses, AreThoseOfTheProcessInEveryText) {
  // Used before and after the role is described, in every text that processes get.
  const Plan plan = PlanOf(
      "local store = job:address 'store'\n"
      "job:env { JOB = store }\n"
      "local file = job:file { 'a.yaml', yaml = { at = store } }\n" +
          kStore +
          Workers("env = { ROLE = 'tcp://' .. job:address 'store' .. '/0' }, cwd = '/at/' .. store,\n"
                  "wrap = { 'w', store }, ready = { command = { 'ask', store } },\n"
                  "each = function(process) process.command = { 'y', store, job:address 'store' }\n"
                  "process.env.EACH = store end"),
      kTwoHosts);
  const std::string name = "worker.1";
  EXPECT_EQ(CommandOf(plan, name), (Lines{"w", kAt, "y", kAt, kAt}));
  const auto env = OwnEnv(plan, name);
  EXPECT_EQ(env.at("JOB"), kAt);
  EXPECT_EQ(env.at("ROLE"), "tcp://" + kAt + "/0");
  EXPECT_EQ(env.at("EACH"), kAt);
  EXPECT_EQ(EffectiveCwd(plan, ProcessNamed(plan, name)).marked, "/at/" + kAt);
  EXPECT_EQ(plan.roles[1].ready.command.at(1).marked, kAt);
  EXPECT_NE(plan.files.at("files/a.yaml").content.marked.find(kAt), std::string::npos)
      << plan.files.at("files/a.yaml").content.marked;
  EXPECT_EQ(plan.ports.at("store.0.rpc"), (PlanPort{1, 0, "store.0"}));
}

TEST(Addresses, SelectAProcessAPortAndAPart) {
  const std::string servers = "job:servers { count = 2, ports = { 'rpc', 'status' }, command = { 'serve' } }\n";
  const auto asked = [&](const std::string& options) {
    return CommandOf(PlanOf(servers + "job:role 'a' { command = { 'x', job:address('server', { " + options + " }) } }",
                            kTwoHosts),
                     "a.0")
        .at(1);
  };
  EXPECT_EQ(asked("index = 1, port = 'status'"), "${muster:host_address:1}:${muster:port:server.1.status}");
  EXPECT_EQ(asked("index = 0, port = 'rpc', part = 'host:port'"),
            "${muster:host_address:0}:${muster:port:server.0.rpc}");
  EXPECT_EQ(asked("index = 1, part = 'host'"), "${muster:host_address:1}");
  EXPECT_EQ(asked("index = 1, port = 'rpc', part = 'port'"), "${muster:port:server.1.rpc}");
}

// Ports are reserved before any process starts, so the order of starts does not matter.
TEST(Addresses, MayReferToEachOther) {
  const Plan plan = PlanOf(
      "job:role 'a' { ports = 'p', command = { 'x', job:address 'b' } }\n"
      "job:role 'b' { ports = 'p', command = { 'x', job:address 'a' } }");
  EXPECT_EQ(CommandOf(plan, "a.0").at(1), "${muster:host_address:0}:${muster:port:b.0.p}");
  EXPECT_EQ(CommandOf(plan, "b.0").at(1), "${muster:host_address:0}:${muster:port:a.0.p}");
}

TEST(Addresses, OfAContractsRolesAndPortsAreAvailable) {
  EXPECT_EQ(
      CommandOf(
          PlanOf(
              "job:servers { command = { 'x' } } job:workers { count = 1, command = { 'x', job:address('scheduler', { "
              "part = 'host' }), job:address('worker', { part = 'host' }) } }",
              "framework = 'ps-lite',"),
          "worker.0"),
      (Lines{"x", "${muster:host_address:0}", "${muster:host_address:0}"}));
  EXPECT_EQ(
      CommandOf(
          PlanOf(
              "job:workers { count = 1, command = { 'x' } } job:role 'a' { command = { 'x', job:address 'worker' } }",
              "framework = 'tensorflow',"),
          "a.0")
          .at(1),
      "${muster:host_address:0}:${muster:port:worker.0.grpc}");
}

TEST(Addresses, ThatDoNotExistAreReportedAtTheirLine) {
  const std::string roles = kStore +
                            "job:servers { count = 3, ports = { 'rpc', 'status' }, command = { 'serve' } }\n"
                            "job:role 'plain' { command = { 'x' } }\n";
  const struct {
    const char *call, *problem, *hint;
  } kCases[] = {
      {"'stor'", "roles: job:address \"stor\": there is no role \"stor\"", "did you mean \"store\"?"},
      {"'server', { port = 'rpc' }", "missing: job:address \"server\": the role has 3 processes",
       "job:address(\"server\", { index = 0 }) is the first one"},
      {"'server', { index = 3, port = 'rpc' }",
       "range: job:address \"server\": index = 3, and the role has processes 0 to 2", ""},
      {"'store', { index = 1 }", "range: job:address \"store\": index = 1, and the role has one process, 0", ""},
      {"'server', { index = 0 }", "missing: job:address \"server\": the role has the ports rpc, status",
       "job:address(\"server\", { port = \"rpc\" })"},
      {"'server', { index = 0, port = 'statuss' }",
       "unknown_key: job:address \"server\": the role has no port \"statuss\"", "did you mean \"status\"?"},
      {"'plain'", "missing: job:address \"plain\": the role has no port",
       "ports = \"rpc\" in the role gives each of its processes one; part = \"host\" is the address of the host alone"},
      {"'store', { index = -1 }", "range: job:address \"store\": index must be a whole number from 0, got -1", ""},
      {"'store', { index = 'x' }", "range: job:address \"store\": index must be a whole number from 0, got \"x\"", ""},
      {"'store', { port = 7 }",
       "format: job:address \"store\": port must be the name of one of the role's ports, got 7", ""},
      {"'store', { part = 'prt' }",
       "enum: job:address \"store\": part must be \"host:port\", \"host\" or \"port\", got \"prt\"",
       "did you mean \"port\"?"},
      {"'store', { part = 'host', port = 'rpc' }",
       "conflict: job:address \"store\": port = \"rpc\" and part = \"host\" contradict each other",
       "leave out one of them"},
      {"'store', { indx = 0 }", "unknown_key: job:address has no option \"indx\"", "did you mean \"index\"?"},
      {"'store', 0", "type: job:address \"store\": the options must be a table, got 0",
       "job:address(\"store\", { index = 0 })"},
      {"7", "type: job:address expects the name of a role, got 7", "job:address \"server\""},
  };
  for (const auto& [call, problem, hint] : kCases) {
    const std::string said = std::string("error ") + problem;
    for (const bool inside : {false, true}) {
      const std::string ask = std::string("job:address(") + call + ")";
      const std::string body = inside ? roles + Workers("each = function(process) process.env.A =\n" + ask + " end")
                                      : roles + Workers("env = { A =\n" + ask + " }");
      const Evaluated evaluated = Evaluate({Recipe(body, kTwoHosts)});
      ASSERT_EQ(evaluated.problems(), Lines{"recipe.lua:8 " + said}) << call << inside;
      EXPECT_EQ(evaluated.answer.diagnostics[0].hint, hint) << call;
    }
  }
  EXPECT_EQ(ProblemsOf("job:role 'none' { count = 0, ports = 'p', command = { 'x' } }\n" +
                       Workers("env = { A = job:address 'none' }")),
            Lines{"recipe.lua:5 error roles: job:address \"none\": the role has no process"});
}

TEST(Addresses, AreAllowedOnlyInTextsForProcesses) {
  const std::string only = "commands, variables, working directories and files of job:file can hold one";
  const Evaluated derived = Evaluate({Recipe(kStore + "job:derive { a = { 1, job:address 'store' } }", kTwoHosts)});
  EXPECT_EQ(derived.problems(), Lines{"recipe.lua:5 error hole: derived value a holds an address of job:address"});
  EXPECT_EQ(derived.answer.diagnostics[0].hint, only);
  EXPECT_EQ(ProblemsOf(kStore + "context.set_context { save_graphs_path = job:address 'store' }",
                       kTwoHosts + "mindspore = '2.3',"),
            Lines{"recipe.lua:5 error hole: set_context: save_graphs_path holds an address of job:address"});
  // Written by hand, the same text is not a placeholder.
  EXPECT_EQ(
      ProblemsOf(kStore + Workers("env = { A = job:address 'store', B = '${muster:address:7}' }"), kTwoHosts).size(),
      1U);
}

TEST(Addresses, AreTheSameFromPlanToPlan) {
  const std::string body = "local store = job:address 'store'\n" + kStore + Workers("env = { A = store }");
  EXPECT_EQ(PlanId(PlanOf(body, kTwoHosts)), PlanId(PlanOf(body, kTwoHosts)));
  // The plan equals that of a recipe which contains the placeholders themselves.
  EXPECT_EQ(OwnEnv(PlanOf(body, kTwoHosts), "worker.0").at("A"), kAt);
}

}  // namespace
}  // namespace muster::testing
