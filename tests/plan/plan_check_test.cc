// Tests the validation of plans from untrusted bytes.
#include "plan/check/plan_check.h"

#include <limits>

#include <gtest/gtest.h>

#include "plan/plan/roles.h"
#include "plan/sample_plan.h"

namespace muster {
namespace {

TEST(PlanCheck, AcceptsMustersOwnPlans) {
  EXPECT_TRUE(ValidatePlan(ParameterServerPlan()).empty());
  EXPECT_TRUE(ValidatePlan(Plan{}).empty());
  std::mt19937 random(51);
  for (int round = 0; round < 200; ++round) {
    Plan plan = RandomPlan(random);
    EXPECT_TRUE(ValidatePlan(plan).empty()) << ValidatePlan(plan).front().message;
    Fold(plan);
    EXPECT_TRUE(ValidatePlan(plan).empty()) << ValidatePlan(plan).front().message;
  }
}

TEST(PlanCheck, RefusesUnrunnableAndDangerousPlans) {
  struct Case {
    void (*damage)(Plan&);
    const char* message_has;
  };
  const Case cases[] = {
      {[](Plan& p) { p.roles[0].name = "a/b"; }, "a role has an invalid name"},
      {[](Plan& p) { p.roles[0].name = ""; }, "a role has an invalid name"},
      {[](Plan& p) { p.roles[0].name = ".."; }, "a role has an invalid name"},
      {[](Plan& p) { p.roles[0].name = "worker"; }, "two roles"},
      {[](Plan& p) { p.roles[0].stop.signal = "TERMINATE"; }, "unknown signal"},
      {[](Plan& p) { p.roles[0].stop.signal = "SIGTERM"; }, "unknown signal"},
      {[](Plan& p) { p.hosts.clear(); }, "host"},
      {[](Plan& p) { p.device_use.kind = "gpu"; }, "no devices of kind"},
      {[](Plan& p) {
         p.device_use.given = {1, 0, 2, 3};
       },
       "not in ascending order"},
      {[](Plan& p) { p.device_use.given = {5}; }, "does not have as many devices as are given"},
      {[](Plan& p) { p.roles[0].env["A"] = "${muster:devices:0:4}"; }, "names device 4"},
      {[](Plan& p) { p.roles[0].env["A"] = "${muster:devices:1:0}"; }, "names no host"},
      {[](Plan& p) { p.roles[0].cores.kind = CoreUse::Kind::kCount; }, "an invalid number or list of cores"},
      {[](Plan& p) { p.roles[0].cores.count = 2; }, "an invalid number or list of cores"},
      {[](Plan& p) {
         p.roles[0].cores = {CoreUse::Kind::kList, 0, {1, 1}};
       },
       "an invalid number or list of cores"},
      {[](Plan& p) {
         p.hosts.push_back({"host0", 1});
       },
       "two hosts"},
      {[](Plan& p) { p.ports["scheduler"].host = 1; }, "on no host"},
      {[](Plan& p) { p.ports["scheduler"].owner = "scheduler.1"; }, "belongs to no process"},
      {[](Plan& p) { p.ports["a b"] = {}; }, "a port has an invalid name"},
      {[](Plan& p) { p.files["files/../../etc/passwd"] = {}; }, "a file has an invalid path"},
      {[](Plan& p) { p.files["/etc/passwd"] = {}; }, "a file has an invalid path"},
      {[](Plan& p) { p.files["files/"] = {}; }, "a file has an invalid path"},
      {[](Plan& p) { p.files["files/a//b"] = {}; }, "a file has an invalid path"},
      {[](Plan& p) { p.files["files/./b"] = {}; }, "a file has an invalid path"},
      {[](Plan& p) { p.files["journal.jsonl"] = {}; }, "a file has an invalid path"},
      {[](Plan& p) { p.secrets["key"] = {}; }, "no source"},
      {[](Plan& p) {
         p.activation = {{ActivationStep::Kind::kSource, "set_env.sh"}};
       },
       "is not an absolute path"},
      {[](Plan& p) {
         p.activation = {{ActivationStep::Kind::kModule, ""}};
       },
       "or not a valid name"},
      {[](Plan& p) {
         p.activation = {{ActivationStep::Kind::kModule, "--force"}};
       },
       "or not a valid name"},
      {[](Plan& p) {
         p.activation = {{ActivationStep::Kind::kConda, "-p"}};
       },
       "or not a valid name"},
      {[](Plan& p) {
         p.activation = {{ActivationStep::Kind::kConda, std::string(5000, 'x')}};
       },
       "or not a valid name"},
      {[](Plan& p) {
         p.activation = {{ActivationStep::Kind::kConda, "a\xff"}};
       },
       "not UTF-8"},
      {[](Plan& p) {
         p.activation = {{ActivationStep::Kind::kSource, "/${muster:run_dir}"}};
       },
       "contains a placeholder"},
      {[](Plan& p) {
         p.activation.assign(1001, {ActivationStep::Kind::kConda, "a"});
       },
       "too many activation steps"},
      {[](Plan& p) {
         p.secrets["key"] = {"A", "/b"};
       },
       "no source, or two"},
      {[](Plan& p) {
         p.secrets["key"] = {"", "relative"};
       },
       "no source"},
      {[](Plan& p) { p.processes[0].role = 9; }, "no role or no host"},
      {[](Plan& p) { p.processes[0].host = 1; }, "no role or no host"},
      {[](Plan& p) { p.processes[2].index = 7; }, "not in order"},
      {[](Plan& p) { std::swap(p.processes[0], p.processes[6]); }, "not in order"},
      {[](Plan& p) { p.processes[3].rank = 1; }, "the ranks of world"},
      {[](Plan& p) { p.processes[3].rank = 4; }, "the ranks of world"},
      {[](Plan& p) { p.processes[3].world_size = 5; }, "the ranks of world"},
      {[](Plan& p) { p.processes[3].rank.reset(); }, "a world and no rank"},
      {[](Plan& p) { p.processes[0].rank = 0; }, "a rank and no world"},
      {[](Plan& p) { p.processes[0].local_rank = 1; }, "local rank"},
      {[](Plan& p) { p.processes[0].local_size = 0; }, "local rank"},
      {[](Plan& p) { p.processes[4].stage = 9; }, "stage"},
      {[](Plan& p) { p.processes[4].devices = {4}; }, "device 4"},
      {[](Plan& p) { p.processes[4].devices = p.processes[5].devices = {1}; }, "given twice"},
      {[](Plan& p) {
         p.processes[4].devices = {1, 1};
       },
       "given twice"},
      {[](Plan& p) { p.roles[0].command.clear(); }, "scheduler.0 has no command"},
      {[](Plan& p) { p.roles[0].command = {""}; }, "scheduler.0 has no command"},
      {[](Plan& p) { p.roles[2].shell = true; }, "more than one text for its shell"},
      {[](Plan& p) { p.processes[4].command = std::vector<Text>{}; }, "worker.1 has no command"},
      {[](Plan& p) { p.roles[0].env["A=B"] = ""; }, "variable with the name"},
      {[](Plan& p) { p.roles[0].env[""] = ""; }, "variable with the name"},
      {[](Plan& p) { p.roles[0].unset = {"A=B*"}; }, "unsets"},
      {[](Plan& p) { p.roles[0].env["A"] = "\xff"; }, "UTF-8"},
      {[](Plan& p) { p.roles[0].env["A"] = std::string(1, '\0'); }, "zero bytes"},
      {[](Plan& p) { p.roles[0].command = {std::string("a\0b", 3)}; }, "zero bytes"},
      {[](Plan& p) { p.name = "\xc0\x80"; }, "its name"},
      {[](Plan& p) { p.name = "$(touch${IFS}X)"; }, "its name"},
      {[](Plan& p) { p.name = "../x"; }, "its name"},
      {[](Plan& p) { p.hosts[0].label = "$(touch${IFS}X)"; }, "a host has an invalid label"},
      {[](Plan& p) { p.time_limit_ms = 0xffffffffffffffffULL; }, "one of its limits"},
      {[](Plan& p) { p.roles[0].limits.log_bytes = kMinLogBytes - 1; }, "the limit of the logs of role"},
      {[](Plan& p) { p.roles[0].limits.log_bytes = kMaxLogBytes + 1; }, "the limit of the logs of role"},
      {[](Plan& p) { p.roles[0].limits.silent_ms = 0xffffffffffffffffULL; }, "a limit of role"},
      {[](Plan& p) { p.roles[0].after = {9}; }, "starts after an unknown role"},
      {[](Plan& p) {
         p.roles[2].after = {1, 0};
       },
       "twice after the same one"},
      {[](Plan& p) { p.roles[1].after = {1}; }, "waits for itself"},
      {[](Plan& p) {
         p.roles[0].after = {2};
         p.roles[1].after = {0};
         p.roles[2].after = {1};
       },
       "waits for itself"},
      {[](Plan& p) { p.roles[0].ready.kind = Readiness::Kind::kCommand; }, "has no command"},
      {[](Plan& p) { p.roles[0].ready.command = {"x"}; }, "has one although its kind is not command"},
      {[](Plan& p) { p.roles[0].ready.every_ms = 0; }, "without an interval"},
      {[](Plan& p) { p.roles[0].ready.what = "${muster:port:none}"; }, "names no port"},
      {[](Plan& p) { p.processes[0].ready_what = "${muster:port:none}"; }, "names no port"},
      {[](Plan& p) { p.roles[0].restart.signals = {"SIGKILL"}; }, "unknown signal"},
      {[](Plan& p) { p.roles[0].restart.codes = {256}; }, "impossible exit code"},
      {[](Plan& p) { p.roles[0].restart.codes.resize(2'000); }, "restarts after too many exit codes and signals"},
      {[](Plan& p) { p.roles[0].env["A"] = "${muster:port:none}"; }, "names no port"},
      {[](Plan& p) { p.roles[0].env["A"] = "${muster:host_name:1}"; }, "names no host"},
      {[](Plan& p) { p.roles[0].env["A"] = "${muster:secret:none}"; }, "names no secret"},
      {[](Plan& p) { p.roles[0].env["A"] = "${muster:prot:x}"; }, "no known kind"},
      {[](Plan& p) { p.roles[0].cwd = "${muster:run_dir"; }, "not closed"},
      {[](Plan& p) {
         p.secrets["k"] = {"K", ""};
         p.roles[0].env["A"] = "x${muster:secret:k}";
       },
       "something else"},
      {[](Plan& p) {
         p.secrets["k"] = {"K", ""};
         p.roles[0].command = {"a", "${muster:secret:k}"};
       },
       "must not hold a secret"},
      {[](Plan& p) {
         p.secrets["k"] = {"K", ""};
         p.roles[0].cwd = "${muster:secret:k}";
       },
       "must not hold a secret"},
      {[](Plan& p) {
         p.secrets["k"] = {"K", ""};
         p.files["files/a"] = {"${muster:secret:k}\n"};
       },
       "something else"},
      {[](Plan& p) {
         p.secrets["k"] = {"K", ""};
         p.roles[0].context["set_context.x"] = Value::Map{{"key", "${muster:secret:k}"}};
       },
       "must not hold a secret"},
      {[](Plan& p) {
         p.roles[0].command = {"a", "${muster:inherited_path:PATH}"};
       },
       "is not a variable"},
      {[](Plan& p) { p.files["files/a"] = {"${muster:inherited_path:PATH}"}; }, "is not a variable"},
      {[](Plan& p) { p.files["files/a"] = {"${muster:inherited:A:1}"}; }, "cannot be inherited"},
      {[](Plan& p) { p.roles[0].env["A"] = "x${muster:inherited:A:1}"; }, "not the whole value of a variable"},
      {[](Plan& p) { p.roles[0].context["set_context.x"] = "${muster:inherited_path:PATH}"; }, "is not a variable"},
      {[](Plan& p) { p.roles[0].context["mode"] = 1; }, "context attribute"},
      {[](Plan& p) { p.roles[0].context["a.b.c"] = 1; }, "context attribute"},
      {[](Plan& p) { p.roles[0].context["set_context.x"] = std::numeric_limits<double>::infinity(); }, "not finite"},
      {[](Plan& p) { p.roles[0].context["set_context.x"] = Value::List{"${muster:port:none}"}; }, "names no port"},
      {[](Plan& p) { p.params["x"] = std::numeric_limits<double>::quiet_NaN(); }, "not finite"},
      {[](Plan& p) {
         p.params["x"] = Value::Map{{"\xff", 1}};
       },
       "a key in"},
      {[](Plan& p) { p.roles[0].env["A"] = std::string(kMaxPlanBytes + 1, 'x'); }, "64 MiB"},
  };
  for (const Case& c : cases) {
    Plan plan = ParameterServerPlan();
    c.damage(plan);
    const Diagnostics problems = ValidatePlan(plan);
    ASSERT_FALSE(problems.empty()) << c.message_has;
    const bool said = std::any_of(problems.begin(), problems.end(), [&](const Diagnostic& d) {
      return d.kind == "plan_invalid" && d.message.find(c.message_has) != std::string::npos;
    });
    EXPECT_TRUE(said) << c.message_has << " but: " << problems.front().message;
  }
}

TEST(PlanCheck, RefusesValuesThatAreNestedTooDeeply) {
  Value deep = 1;
  for (int i = 0; i < 40; ++i) deep = Value::List{deep};
  Plan plan = ParameterServerPlan();
  plan.params["x"] = deep;
  ASSERT_EQ(ValidatePlan(plan).size(), 1U);
  EXPECT_NE(ValidatePlan(plan).front().message.find("nested too deeply"), std::string::npos);
}

TEST(PlanCheck, AcceptsSecretsThatAreWholeValues) {
  Plan plan = ParameterServerPlan();
  plan.secrets["k"] = {"K", ""};
  plan.secrets["f"] = {"", "/run/secrets/f"};
  plan.roles[0].env["A"] = "${muster:secret:k}";
  plan.files["files/key.pem"] = {"${muster:secret:f}"};
  plan.roles[0].context["set_ps_context.client_password"] = "${muster:secret:k}";
  EXPECT_TRUE(ValidatePlan(plan).empty()) << ValidatePlan(plan).front().message;
}

TEST(PlanCheck, ReportsAtMostTwentyProblems) {
  Plan plan = ParameterServerPlan();
  for (int i = 0; i < 100; ++i) plan.ports["bad name " + std::to_string(i)] = {};
  EXPECT_EQ(ValidatePlan(plan).size(), 20U);
}

TEST(PlanName, CanBePartOfAPath) {
  for (const char* good : {"a", "worker", "W-1_x.2", "...", ".hidden"}) EXPECT_TRUE(IsPlanName(good)) << good;
  for (const char* bad : {"", ".", "..", "a/b", "a b", "ä", "a\n", "a:b"}) EXPECT_FALSE(IsPlanName(bad)) << bad;
  EXPECT_TRUE(IsPlanName(std::string(128, 'a')));
  EXPECT_FALSE(IsPlanName(std::string(129, 'a')));
}

}  // namespace
}  // namespace muster
