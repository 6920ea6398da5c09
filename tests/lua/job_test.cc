// Tests the job object: roles and their options, checks, derived values, meshes, ports and files.
#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "plan/check/plan_check.h"

namespace muster::testing {
namespace {

TEST(Roles, HaveTheRequestedCounts) {
  const Plan plan = PlanOf(
      "job:scheduler { command = { 's' } } job:servers { count = 2, command = { 'p' } } job:workers { per_host = 2, "
      "command = { 'w' } }"
      " job:role 'log' { command = { 'l' } }",
      "cluster = { hosts = 3 },");
  EXPECT_EQ(plan.hosts.size(), 3U);
  ASSERT_EQ(plan.roles.size(), 4U);
  EXPECT_EQ(plan.processes.size(), 1U + 2 + 6 + 1);
  EXPECT_EQ(plan.roles[3].plays, "other");
  EXPECT_EQ(ProcessNamed(plan, "worker.5").rank, 5U);
  EXPECT_EQ(ProcessNamed(plan, "worker.5").host, 2U);
  EXPECT_EQ(ProcessNamed(plan, "log.0").rank, std::nullopt);
}

TEST(Roles, HaveAsManyWorkersAsDevicesByDefault) {
  EXPECT_EQ(
      PlanOf("job:workers { command = { 'x' } }", "cluster = { hosts = 2, devices_per_host = 4 },").processes.size(),
      8U);
}

TEST(Roles, FillHostsWithDifferentNumbersOfDevices) {
  const std::string cluster = "mindspore = '1.6', cluster = { host_list = { 'n[01-02]:4', 'login:2' } },";
  const Plan plan = PlanOf(
      "context.set_context { device_target = 'Ascend' } local at = job.cluster "
      "job:derive { of = at.devices_of[3], least = at.devices_per_host, all = at.devices, hosts = at.hosts } "
      "job:workers { command = { 'x' } }",
      cluster);
  ASSERT_EQ(plan.hosts.size(), 3U);
  EXPECT_EQ(plan.hosts[2], (PlanHost{"host2", 2, "login"}));
  EXPECT_EQ(plan.processes.size(), 10U);
  const Process& last = ProcessNamed(plan, "worker.9");
  EXPECT_EQ(last.host, 2U);
  EXPECT_EQ(last.local_rank, 1U);
  EXPECT_EQ(last.local_size, 2U);
  EXPECT_EQ(last.devices, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(plan.derived.at("of"), Value(2));
  EXPECT_EQ(plan.derived.at("least"), Value(2));
  EXPECT_EQ(plan.derived.at("all"), Value(10));
  EXPECT_EQ(plan.derived.at("hosts"), Value(3));
}

TEST(Roles, AssignADeviceToEachWorkerOfADeviceTarget) {
  const std::string cluster = "mindspore = '1.6', cluster = { hosts = 1, devices_per_host = 4 },";
  EXPECT_EQ(ProcessNamed(
                PlanOf("context.set_context { device_target = 'Ascend' } job:workers { command = { 'x' } }", cluster),
                "worker.3")
                .devices,
            (std::vector<std::uint32_t>{3}));
  EXPECT_TRUE(
      ProcessNamed(PlanOf("context.set_context { device_target = 'CPU' } job:workers { command = { 'x' } }", cluster),
                   "worker.3")
          .devices.empty());
  EXPECT_EQ(
      ProcessNamed(PlanOf("job:workers { count = 2, devices = 2, command = { 'x' } }", cluster), "worker.1").devices,
      (std::vector<std::uint32_t>{2, 3}));
}

TEST(Roles, RecordHowTheyEnd) {
  const Plan plan = PlanOf(
      "job:workers { count = 1, command = { 'x' }, stop = { signal = 'SIGINT', grace = '1.5s' } } job:role 'm' { "
      "command = { 'm' }, done = 'never', stop = { grace = '2s' } }");
  EXPECT_EQ(plan.roles[0].stop, (StopPolicy{"INT", 1500}));
  EXPECT_EQ(plan.roles[0].ending, Ending::kAll);
  EXPECT_EQ(plan.roles[1].stop, (StopPolicy{"TERM", 2000}));
  EXPECT_EQ(plan.roles[1].ending, Ending::kNever);
}

TEST(Roles, RecordStartOrderAndReadiness) {
  const Plan plan = PlanOf(
      "job:role 'a' { command = { 'a' }, count = 2, ports = 'rpc', ready = { port = 'rpc' } }"
      "job:role 'b' { command = { 'b' }, after = 'a', ready = { file = job.run_dir .. '/b', timeout = '90s' } }"
      "job:role 'c' { command = { 'c' }, after = { 'b', 'a' }, ready = { command = { 'curl', 'x' }, every = '500ms' } }"
      "job:role 'd' { command = { 'd' }, after = { 'c' }, ready = { line = 'up [ok]' } }"
      "job:role 'e' { command = { 'e' }, ready = { port = job:port 'web' } }"
      "job:workers { count = 1, command = { 'f' }, after = { 'd', 'd' }, ready = { done = true }, done = 'any' }");
  EXPECT_EQ(plan.roles[0].ready, (Readiness{Readiness::Kind::kPort, "", {}, 1'000, 300'000}));
  EXPECT_EQ(EffectiveReadyWhat(plan, ProcessNamed(plan, "a.1")).marked, "${muster:port:a.1.rpc}");
  EXPECT_EQ(plan.roles[1].after, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(plan.roles[1].ready, (Readiness{Readiness::Kind::kFile, "${muster:run_dir}/b", {}, 1'000, 90'000}));
  EXPECT_EQ(plan.roles[2].after, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(plan.roles[2].ready, (Readiness{Readiness::Kind::kCommand, "", {"curl", "x"}, 500, 300'000}));
  EXPECT_EQ(plan.roles[3].ready, (Readiness{Readiness::Kind::kLine, "up [ok]", {}, 1'000, 300'000}));
  EXPECT_EQ(EffectiveReadyWhat(plan, ProcessNamed(plan, "e.0")).marked, "${muster:port:web}");
  EXPECT_EQ(plan.roles[5].after, (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(plan.roles[5].ready.kind, Readiness::Kind::kDone);
  EXPECT_EQ(plan.roles[5].ending, Ending::kAny);
}

TEST(Roles, RecordRestartsAndLimits) {
  const Plan plan = PlanOf(
      "job:role 'a' { command = { 'a' }, restart = 3, limits = { time = '2h', silent = '15m' } }"
      "job:role 'b' { command = { 'b' }, restart = { max = 2, within = '10m', scope = 'role', backoff = '2s', on = "
      "'always' } }"
      "job:role 'c' { command = { 'c' }, restart = { max = 1, scope = 'job', backoff = 0, on = { 75, 'SIGKILL', "
      "'success' } } }"
      "job:role 'd' { command = { 'd' } }",
      "limits = { time = '1d', start = '5m', silent = '90s' },");
  using Scope = RestartPolicy::Scope;
  EXPECT_EQ(plan.roles[0].restart, (RestartPolicy{3, 0, Scope::kProcess, true, false, {}, {}, 1'000}));
  EXPECT_EQ(plan.roles[0].limits, (RoleLimits{7'200'000, 900'000}));
  EXPECT_EQ(plan.roles[1].restart, (RestartPolicy{2, 600'000, Scope::kRole, true, true, {}, {}, 2'000}));
  EXPECT_EQ(plan.roles[2].restart, (RestartPolicy{1, 0, Scope::kJob, false, true, {75}, {"KILL"}, 0}));
  EXPECT_EQ(plan.roles[3].restart, RestartPolicy{});
  EXPECT_EQ(plan.time_limit_ms, 86'400'000U);
  EXPECT_EQ(plan.start_limit_ms, 300'000U);
  EXPECT_EQ(plan.silent_limit_ms, 90'000U);
}

TEST(Roles, RecordLogLimits) {
  const Plan plan = PlanOf(
      "job:role 'a' { command = { 'a' }, logs = { max = '64MiB' } }"
      "job:role 'b' { command = { 'b' }, logs = {} }"
      "job:role 'c' { command = { 'c' }, logs = { max = 2 ^ 20 } }",
      "logs = { max = '1GiB' },");
  EXPECT_EQ(plan.roles[0].limits.log_bytes, 64U << 20);
  EXPECT_EQ(plan.roles[1].limits.log_bytes, 1U << 30);
  EXPECT_EQ(plan.roles[2].limits.log_bytes, kMinLogBytes);
  EXPECT_EQ(PlanOf("job:role 'a' { command = { 'a' } }").roles[0].limits.log_bytes, 0U);
}

TEST(Roles, ThatWaitForEachOtherAreRefused) {
  EXPECT_EQ(
      ProblemsOf("job:role 'a' { command = { 'x' }, after = 'b' } job:role 'b' { command = { 'x' }, after = 'a' }"),
      Lines{"recipe.lua:4 error roles: roles wait for each other: a after b after a"});
  EXPECT_EQ(ProblemsOf("job:role 'a' { command = { 'x' }, after = 'a' }"),
            Lines{"recipe.lua:4 error roles: roles wait for each other: a after a"});
  EXPECT_EQ(ProblemsOf("job:workers { count = 1, command = { 'x' }, after = 'workers' }"),
            Lines{"recipe.lua:4 error roles: role worker comes after role workers, which does not exist"});
}

TEST(Roles, OptionsAreCheckedOneByOne) {
  const std::pair<const char*, const char*> cases[] = {
      {"count = 1.5", "range"},
      {"count = -1", "range"},
      {"count = '2'", "range"},
      {"count = 0/0", "range"},
      {"count = math.huge", "range"},
      {"count = 1e7", "range"},
      {"per_host = -1", "range"},
      {"devices = 0.5", "range"},
      {"spread = 'x'", "enum"},
      {"done = true", "enum"},
      {"after = 3", "type"},
      {"after = { 3 }", "type"},
      {"ready = 'x'", "type"},
      {"ready = {}", "missing"},
      {"ready = { prt = 3 }", "unknown_key"},
      {"ready = { port = 3, file = 'x' }", "conflict"},
      {"ready = { port = 'nope' }", "format"},
      {"ready = { port = 0 }", "format"},
      {"ready = { port = 65536 }", "format"},
      {"ready = { file = 3 }", "format"},
      {"ready = { line = '' }", "format"},
      {"ready = { line = 'a\\nb' }", "format"},
      {"ready = { done = false }", "type"},
      {"ready = { command = 'x' }", "command"},
      {"ready = { command = {} }", "command"},
      {"ready = { file = 'x', timeout = 'soon' }", "format"},
      {"ready = { file = 'x', every = '1s' }", "conflict"},
      {"restart = 'x'", "type"},
      {"restart = {}", "range"},
      {"restart = -1", "range"},
      {"restart = { max = 1.5 }", "range"},
      {"restart = { max = 1, scope = 'worker' }", "enum"},
      {"restart = { max = 1, on = 'never' }", "enum"},
      {"restart = { max = 1, on = {} }", "range"},
      {"restart = { max = 1, on = { 256 } }", "enum"},
      {"restart = { max = 1, on = { 'SIGNOPE' } }", "enum"},
      {"restart = { max = 1, within = 'x' }", "format"},
      {"restart = { max = 1, backoff = -1 }", "format"},
      {"limits = 3", "type"},
      {"limits = { tme = 3 }", "unknown_key"},
      {"limits = { time = 0 }", "format"},
      {"limits = { time = 12 }", "format"},
      {"limits = { silent = '15' }", "format"},
      {"stop = { grace = 5 }", "format"},
      {"restart = { max = 1, within = 600 }", "format"},
      {"restart = { max = 1, backoff = 2 }", "format"},
      {"ready = { line = 'x', timeout = 30 }", "format"},
      {"ready = { command = { 'x' }, every = 5 }", "format"},
      {"limits = { silent = 'x' }", "format"},
      {"logs = '1GiB'", "type"},
      {"logs = { most = '1GiB' }", "unknown_key"},
      {"logs = { max = 'much' }", "format"},
      {"logs = { max = '1023KiB' }", "range"},
      {"logs = { max = '2PiB' }", "range"},
      {"cwd = 7", "type"},
      {"each = 'x'", "type"},
      {"on_hosts = 'a'", "type"},
      {"on_hosts = { 1 }", "range"},
      {"on_hosts = { 'a' }", "range"},
      {"on_hosts = {}", "range"},
      {"on_hosts = -1", "range"},
      {"ports = 7", "type"},
      {"ports = { 'a/b' }", "format"},
      {"ports = { 7 }", "format"},
      {"stop = 7", "type"},
      {"stop = { signal = 9 }", "enum"},
      {"stop = { signal = 'X' }", "enum"},
      {"stop = { grace = 'x' }", "format"},
      {"stop = { grace = -1 }", "format"},
      {"stop = { when = 1 }", "unknown_key"},
      {"env = 7", "type"},
      {"commands = {}", "unknown_key"},
      {"[1] = 'x'", "unknown_key"},
      {"as = 'worker'", "unknown_key"},
      {"visible = 'all'", "enum"},
  };
  for (const auto& [option, kind] : cases) {
    const Evaluated evaluated = Evaluate({Recipe(std::string("job:workers { command = { 'x' }, ") + option + " }")});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << option;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, kind) << option;
    EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", kBodyLine})) << option;
  }
}

TEST(Roles, WithOtherNamesChooseTheirFrameworkRoleAndWorld) {
  const Plan plan = PlanOf(
      "job:role 'actor' { as = 'worker', world = 'rl', count = 2, command = { 'a' } } job:role 'learner' { as = "
      "'worker', world = 'rl', count = 1, command = { 'l' } }");
  EXPECT_EQ(ProcessNamed(plan, "learner.0").rank, 2U);
  EXPECT_EQ(ProcessNamed(plan, "actor.0").world_size, 3U);
  EXPECT_EQ(ProblemsOf("job:role 'x' { as = 'wrker', command = { 'x' } }"),
            Lines{"recipe.lua:4 error enum: role x: as must be \"other\", \"scheduler\", \"server\" or \"worker\", got "
                  "\"wrker\""});
  for (const char* name : {"", "a b", "a/b", "1a", "-a", "ä", "a.b", "a\\nb"}) {
    const Lines problems = ProblemsOf(std::string("job:role '") + name + "' { command = { 'x' } }");
    ASSERT_EQ(problems.size(), 1U) << name;
    EXPECT_TRUE(problems[0].starts_with("recipe.lua:4 error format: a role's name must be a letter")) << problems[0];
  }
  EXPECT_EQ(ProblemsOf("job:role(('x'):rep(101))").size(), 1U);
  EXPECT_EQ(ProblemsOf("job:role 'x' { world = '', command = { 'x' } }").size(), 1U);
}

TEST(Roles, MustBeDescribedOnceAndInFull) {
  EXPECT_EQ(ProblemsOf("job:role 'x' { command = { 'x' } } job:role 'x' { command = { 'x' } }"),
            Lines{"recipe.lua:4 error duplicate: role x is described twice"});
  EXPECT_EQ(ProblemsOf("local later = job:role 'x'" + kOneWorker),
            Lines{"recipe.lua:4 error roles: role x is named but not described"});
  EXPECT_EQ(ProblemsOf("job:workers { count = 1 }"), Lines{"recipe.lua:4 error command: role worker has no command"});
  EXPECT_EQ(ProblemsOf("job:workers 'x'"),
            Lines{"recipe.lua:4 error type: role worker expects a table of options, got \"x\""});
  EXPECT_EQ(ProblemsOf("local x = p"), Lines{"recipe.lua:2 error roles: the plan describes no process"});
}

TEST(Roles, MayHaveNoProcesses) {
  const Plan plan = PlanOf("job:role 'x' { count = 0, command = { 'x' } }" + kOneWorker);
  EXPECT_EQ(plan.processes.size(), 1U);
}

TEST(Roles, AreNotAffectedByLaterChangesOfTheirTables) {
  const Plan plan = PlanOf(
      "local hosts = { 1 } local o = { count = 1, on_hosts = hosts, command = { 'x' }, env = { A = '1' } } "
      "job:workers(o)"
      " hosts[1], o.count, o.env.A = 99, 7, '2'",
      "cluster = { hosts = 2 },");
  EXPECT_EQ(ProcessNamed(plan, "worker.0").host, 1U);
  EXPECT_EQ(OwnEnv(plan, "worker.0").at("A"), "1");
}

TEST(Roles, ThatDoNotFitAreRefusedWithTheNumbers) {
  EXPECT_EQ(ProblemsOf("job:workers { count = 9, devices = 1, command = { 'x' } }",
                       "cluster = { hosts = 2, devices_per_host = 4 },"),
            Lines{"recipe.lua:4 error devices: worker: 9 processes with 1 device each need 9, but 2 hosts offer 8"});
  EXPECT_EQ(Evaluate({Recipe("job:workers { count = 1e6, devices = 1e6, command = { 'x' } }",
                             "cluster = { hosts = 1000, devices_per_host = 1e6 },")})
                .answer.diagnostics.size(),
            1U);
}

TEST(Methods, MustBeCalledWithAColon) {
  for (const char* call : {"job.workers { command = { 'x' } }", "job.role 'x'", "job.env { A = 1 }",
                           "job.check(true, 'x')", "job.port 'x'", "job.workers()", "job.workers(nil)"}) {
    const Evaluated evaluated = Evaluate({Recipe(call)});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << call;
    EXPECT_TRUE(evaluated.answer.diagnostics[0].message.ends_with(" is called with a dot")) << call;
  }
  EXPECT_EQ(ProblemsOf("job:worker {}"), Lines{"recipe.lua:4 error unknown_key: there is no job.worker"});
}

TEST(Checks, AreCollected) {
  EXPECT_EQ(ProblemsOf("job:check(true, 'never')\njob:check(false, 'n = %d', 3)\njob:check(nil, '%s and %s', 0.1, { 1, "
                       "a = 'x' })\njob:check(false, '100%')" +
                       kOneWorker),
            (Lines{"recipe.lua:5 error check: n = 3", "recipe.lua:6 error check: 0.1 and {[\"1\"] = 1, a = \"x\"}",
                   "recipe.lua:7 error check: 100%"}));
  EXPECT_EQ(ProblemsOf("job:check(false)"),
            Lines{"recipe.lua:4 error type: job:check expects a condition and a message"});
}

TEST(Checks, AreReportedOnceForAnyNumberOfRanks) {
  const Lines problems = ProblemsOf(
      "job:workers { count = 5000, command = { 'x' }, each = function(process) job:check(false, 'the same') end }");
  EXPECT_EQ(problems, Lines{"recipe.lua:4 error check: the same"});
}

TEST(Checks, HaveALimitedNumberOfReports) {
  const Lines problems = ProblemsOf("for i = 1, 1e5 do job:check(false, 'number %d', i) end" + kOneWorker);
  ASSERT_EQ(problems.size(), 1001U);
  EXPECT_EQ(problems.back(),
            "recipe.lua error limit: the recipe has more than 1000 different problems; the others are omitted");
}

TEST(Derived, ValuesAreShownAndReadable) {
  const Plan plan = PlanOf(
      "local d = job:derive { a = 8 / 2, text = 'x', list = { 1, 2 }, map = { k = true } } job:check(d.a == 4, 'no')" +
      kOneWorker);
  EXPECT_EQ(plan.derived.at("a"), Value(4));
  EXPECT_EQ(plan.derived.at("list"), Value(Value::List{Value(1), Value(2)}));
  EXPECT_EQ(plan.derived.at("map"), Value(Value::Map{{"k", Value(true)}}));
}

TEST(Derived, ValuesMustBePlainNamedAndSetOnce) {
  EXPECT_EQ(ProblemsOf("job:derive { f = print }"),
            (Lines{"recipe.lua:4 error type: derived value f: a function is no plain value",
                   "recipe.lua:2 error roles: the plan describes no process"}));
  const std::pair<const char*, const char*> cases[] = {
      {"{ 7 }", "job:derive expects named values, got the key 1"},
      {"7", "job:derive expects a table, got 7"},
      {"{ x = 1 / 0 }", "derived value x: inf is not a finite number"},
      {"{ x = { 1, nil, 3 } }", "derived value x: a list has a hole (a nil) before element 3"},
      {"{ x = { [0] = 1 } }", "derived value x: a list has an element number 0; they count from 1"},
      {"{ x = { 1, ['1'] = 2 } }", "derived value x: a table has the key 1 both as a number and as a text"},
      {"{ x = { [true] = 1 } }", "derived value x: a table has a key that is a boolean"},
      {"{ x = coroutine.create(print) }", "derived value x: a thread is no plain value"},
  };
  for (const auto& [values, message] : cases) {
    const Evaluated evaluated = Evaluate({Recipe(std::string("job:derive ") + (values[0] == '{' ? "" : "(") + values +
                                                 (values[0] == '{' ? "" : ")") + kOneWorker)});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << values;
    EXPECT_EQ(evaluated.answer.diagnostics[0].message, message) << values;
    EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", kBodyLine})) << values;
  }
  EXPECT_EQ(ProblemsOf("job:derive { a = 1 } job:derive { a = 2 }" + kOneWorker),
            Lines{"recipe.lua:4 error duplicate: derived value a is given twice"});
}

TEST(Derived, RecursiveAndTooLargeValuesAreRefused) {
  EXPECT_EQ(ProblemsOf("local t = {} t.t = t job:derive { x = t }" + kOneWorker),
            Lines{"recipe.lua:4 error type: derived value x: tables are nested too deeply, or contain themselves"});
  EXPECT_EQ(ProblemsOf("local t = { 1 } for i = 1, 28 do t = { t, t } end job:derive { x = t }" + kOneWorker),
            Lines{"recipe.lua:4 error type: derived value x: it holds more than a million elements"});
}

TEST(Derived, ValuesMayBeNestedAsDeepAsAPlanAllows) {
  for (int depth = 1; depth < 40; ++depth) {
    const Evaluated evaluated = Evaluate({Recipe("local t = { 1 } for i = 2, " + std::to_string(depth) +
                                                 " do t = { t } end job:derive { x = t }" + kOneWorker)});
    ASSERT_EQ(evaluated.answer.plan.has_value(), depth <= 32) << depth;
    if (!evaluated.answer.plan) continue;
    EXPECT_EQ(ValidatePlan(evaluated.plan()), Diagnostics{}) << depth;
  }
}

TEST(ExactDiv, DividesOrFails) {
  EXPECT_EQ(ValueOf("muster.exact_div { devices = 24, by = { pp = 4, tp = 3 } }"), "2");
  EXPECT_EQ(ProblemsOf("muster.exact_div { devices = 24, by = { tp = 5, pp = 2 } }"),
            Lines{"recipe.lua:4 error division: devices = 24 can not be divided by pp 2 × tp 5 = 10"});
  for (const char* bad :
       {"{}", "{ a = 1 }", "{ a = 1, by = 2 }", "{ a = 1, b = 2, by = { c = 1 } }", "7", "{ [1] = 8, by = { c = 1 } }",
        "{ a = 8, by = {} }", "{ a = 8, by = { 2 } }", "{ a = '8', by = { c = 2 } }", "{ a = 8.5, by = { c = 2 } }",
        "{ a = 8, by = { c = 0.5 } }", "{ a = 0/0, by = { c = 1 } }", "{ a = 1/0, by = { c = 1 } }"}) {
    const Evaluated evaluated = Evaluate({Recipe(std::string("muster.exact_div(") + bad + ")")});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << bad;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, "type") << bad;
  }
  for (const char* bad : {"{ a = 0, by = { c = 1 } }", "{ a = 8, by = { c = 0 } }", "{ a = 8, by = { c = -2 } }",
                          "{ a = 8, by = { c = 2 ^ 40, d = 2 ^ 40 } }"}) {
    EXPECT_EQ(Evaluate({Recipe(std::string("muster.exact_div(") + bad + ")")}).answer.diagnostics.at(0).kind, "range")
        << bad;
  }
}

TEST(Size, FormatsBytes) {
  EXPECT_EQ(
      ValueOf(
          "muster.size(3500000000, 'GB'), muster.size(2 ^ 35, 'GiB'), muster.size(1500, 'KiB'), muster.size(0, 'B')"),
      "3.5GB\t32GiB\t1.46484375KiB\t0B");
  for (const char* bad :
       {"", "1", "1, 'x'", "-1, 'GB'", "1.5, 'GB'", "'1', 'GB'", "nil, 'GB'", "1, ''", "1, 'GB', 3 and nil, 1/0"}) {
    const Evaluated evaluated = Evaluate({Recipe(std::string("print(muster.size(") + bad + "))" + kOneWorker)});
    if (std::string(bad) == "1, 'GB', 3 and nil, 1/0") {
      EXPECT_EQ(evaluated.printed, Lines{"0.000000001GB"}) << "superfluous arguments are Lua's to ignore";
    } else {
      EXPECT_EQ(evaluated.answer.diagnostics.size(), 1U) << bad;
    }
  }
}

TEST(Meshes, GiveCoordinatesAndRanks) {
  EXPECT_EQ(ValueOf("(function() local m = job:mesh { { 'pp', 2 }, { 'dp', 3 }, { 'tp', 4 } } local c = m:coords(17) "
                    "return table.concat({ m.size, c.pp, c.dp, c.tp, m:rank(c) }, ' ') end)()"),
            "24 1 1 1 17");
  const std::pair<const char*, const char*> cases[] = {
      {"job:mesh {}", "mesh expects a list"},
      {"job:mesh(7)", "mesh expects a list"},
      {"job:mesh { { 'a' } }", "mesh expects a list"},
      {"job:mesh { { 1, 'a' } }", "mesh expects a list"},
      {"job:mesh { { 'a', 0 } }", "is not at least 1"},
      {"job:mesh { { 'a', 2 }, { 'a', 2 } }", "two axes"},
      {"job:mesh { { 'a', 2 ^ 31 }, { 'b', 4 } }", "too many ranks"},
      {"job:mesh { { 'a', 2 } }:coords(2)", "is not in the mesh"},
      {"job:mesh { { 'a', 2 } }:coords(-1)", "is not in the mesh"},
      {"job:mesh { { 'a', 2 } }:coords(0.5)", "whole number"},
      {"job:mesh { { 'a', 2 } }:coords()", "whole number"},
      {"job:mesh { { 'a', 2 } }:rank { b = 0 }", "needs a coordinate"},
      {"job:mesh { { 'a', 2 } }:rank { a = 2 }", "is not below"},
      {"job:mesh { { 'a', 2 } }:rank(0)", "a coordinate for every axis"},
      {"job:mesh { { 'a', 2 } }.axes", "there is no axes in the mesh"},
  };
  for (const auto& [code, message] : cases) {
    const Evaluated evaluated = Evaluate({Recipe(std::string("local x = ") + code)});
    ASSERT_FALSE(evaluated.answer.diagnostics.empty()) << code;
    EXPECT_NE(evaluated.answer.diagnostics[0].message.find(message), std::string::npos)
        << code << ": " << evaluated.answer.diagnostics[0].message;
    EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", kBodyLine})) << code;
  }
}

TEST(Ports, AreNamedNumberedAndOwned) {
  const Plan plan = PlanOf(
      "job:port('a', { number = 7000, host = 1 }) job:port 'b' job:port 'b' job:workers { count = 2, ports = { 'rpc' "
      "}, "
      "command = { 'x' } }",
      "cluster = { hosts = 2 },");
  EXPECT_EQ(plan.ports.at("a"), (PlanPort{1, 7000, ""}));
  EXPECT_EQ(plan.ports.at("b"), (PlanPort{0, 0, ""}));
  EXPECT_EQ(plan.ports.at("worker.1.rpc"), (PlanPort{1, 0, "worker.1"}));
  for (const char* bad :
       {"''", "'a/b'", "7", "{}", "'a', { number = 0 }", "'a', { number = 65536 }", "'a', { number = 'x' }",
        "'a', { host = 1 }", "'a', { host = -1 }", "('x'):rep(101)", "'a', 7000", "'a', 'b'"}) {
    EXPECT_EQ(Evaluate({Recipe(std::string("job:port(") + bad + ")")}).answer.diagnostics.size(), 1U) << bad;
  }
  EXPECT_EQ(ProblemsOf("job:port('a', { number = 1 }) job:port('a', { number = 2 })" + kOneWorker),
            Lines{"recipe.lua:4 error conflict: port a has two numbers"});
  EXPECT_EQ(ProblemsOf("job:port('a', { number = 1 }) job:port('b', { number = 1 })" + kOneWorker),
            Lines{"recipe.lua:4 error conflict: port b has the number 1, as port a has on the same host"});
  EXPECT_EQ(ProblemsOf("job:port('a', { number = 1 }) job:port('b', { number = 1, host = 1 })" + kOneWorker,
                       "cluster = { hosts = 2 },"),
            Lines{});
}

// A port of the job is one port; a port of a role is one for each of its processes.
TEST(Ports, OfTheJobAndOfARoleHaveDifferentNames) {
  const std::string role = "job:role 'data' { ports = 'rpc', command = { 'x' } }\n";
  const std::string said = "error duplicate: port rpc of the job has the name of a port of role data";
  for (const auto& [body, line] : std::initializer_list<std::pair<std::string, std::string>>{
           {role + "job:port 'rpc'", "5"},
           {"job:port 'rpc'\n" + role, "4"},
           {role + "job:workers { count = 2, command = { 'x' }, each = function(process)\njob:port 'rpc' end }",
            "6"}}) {
    const Evaluated evaluated = Evaluate({Recipe(body)});
    ASSERT_EQ(evaluated.problems(), Lines{"recipe.lua:" + line + " " + said}) << body;
    EXPECT_EQ(evaluated.answer.diagnostics[0].notes.at(0).message, "role data");
  }
  const std::string workers = "job:workers { count = 1, command = { 'x' }, ports = ";
  EXPECT_EQ(ProblemsOf("job:port 'grpc' " + workers + "'a' }", "framework = 'tensorflow',"),
            Lines{"recipe.lua:4 error duplicate: port grpc of the job has the name of a port of role worker"});
  // The same name for the same process is the same port, also when two roles use it.
  const Plan plan = PlanOf(role + workers + "{ 'grpc', 'rpc', 'rpc' } }", "framework = 'tensorflow',");
  EXPECT_EQ(plan.ports.count("worker.0.grpc"), 1U);
  EXPECT_EQ(plan.ports.count("worker.0.rpc"), 1U);
  EXPECT_EQ(plan.ports.count("data.0.rpc"), 1U);
  // The recipe may choose the port number of a contract's rendezvous endpoint.
  EXPECT_EQ(PlanOf("job:port('master', { number = 29500 }) " + workers + "'rpc' }", "framework = 'torch',")
                .ports.at("master")
                .number,
            29500);
}

TEST(Names, PrecedeOptions) {
  const Plan plan = PlanOf(
      "job:role('a', { command = { 'x' } }) job:role 'b' { command = { 'x' } } local b = job:role 'c' b { command = { "
      "'x' } }");
  EXPECT_EQ(plan.roles.size(), 3U);
  EXPECT_EQ(ProblemsOf("job:role('a', 7)"), Lines{"recipe.lua:4 error type: role a expects a table of options, got 7"});
  EXPECT_EQ(ProblemsOf("job:port('a', { nmber = 7 })" + kOneWorker),
            Lines{"recipe.lua:4 error unknown_key: job:port has no option \"nmber\""});
}

TEST(Files, AreBelowTheRunDirectory) {
  const Plan plan = PlanOf(
      "local f = job:file { 'conf/a.yaml', text = 'run: ' .. job.run_dir } job:workers { count = 1, command = { 'x', f "
      "} }");
  EXPECT_EQ(plan.files.at("files/conf/a.yaml").content.marked, "run: ${muster:run_dir}");
  EXPECT_EQ(CommandOf(plan, "worker.0")[1], "${muster:run_dir}/files/conf/a.yaml");
  for (const char* name : {"", "/etc/passwd", "../x", "a/../b", "a//b", ".", "..", "a/.", "a b", "a\\nb", "ä"}) {
    const Lines problems = ProblemsOf(std::string("job:file { '") + name + "', text = '' }");
    ASSERT_EQ(problems.size(), 1U) << name;
    EXPECT_TRUE(problems[0].starts_with("recipe.lua:4 error format: ")) << problems[0];
  }
  EXPECT_EQ(ProblemsOf("job:file { 'a' }").size(), 1U);
  EXPECT_EQ(ProblemsOf("job:file { 'a', text = 7 }").size(), 1U);
  EXPECT_EQ(ProblemsOf("job:file 'a'").size(), 1U);
  EXPECT_EQ(ProblemsOf("job:file { 'a', text = '', mode = 1 }" + kOneWorker),
            Lines{"recipe.lua:4 error unknown_key: job:file has no option \"mode\""});
  EXPECT_EQ(ProblemsOf("job:file { 'a', text = '\\255' }" + kOneWorker),
            Lines{"recipe.lua:4 error text: file a is not valid UTF-8 without NUL: \"\\xff\""});
  EXPECT_EQ(ProblemsOf("job:file { 'a', text = '' } job:file { 'a', text = '' }" + kOneWorker),
            Lines{"recipe.lua:4 error duplicate: file a is described twice"});
}

TEST(Words, AfterTheDashesBelongToTheRecipe) {
  const std::string takes = Recipe("job:workers { count = 1, command = { 'x', job.args } }");
  const Evaluated taken = Evaluate({takes, {}, {"--a", "b c", ""}});
  EXPECT_EQ(CommandOf(taken.plan(), "worker.0"), (Lines{"x", "--a", "b c", ""}));
  const Evaluated refused = Evaluate({Recipe(kOneWorker), {}, {"--a"}});
  EXPECT_EQ(refused.problems(), Lines{"recipe.lua:2 error args: the recipe takes no words after --, got {\"--a\"}"});
}

TEST(Limits, OfTheWholeJobAreDurations) {
  EXPECT_EQ(PlanOf(kOneWorker, "limits = { time = '1h30m' },").time_limit_ms, 5'400'000U);
  EXPECT_EQ(PlanOf(kOneWorker, "limits = { time = '0.1ms' },").time_limit_ms, 1U);
  for (const char* bad : {"'soon'", "-1", "0", "'0s'", "1e300", "true", "{}", "'99999999999d'"}) {
    const Evaluated evaluated = Evaluate({Recipe(kOneWorker, std::string("limits = { time = ") + bad + " },")});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << bad;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, "format") << bad;
  }
}

}  // namespace
}  // namespace muster::testing
