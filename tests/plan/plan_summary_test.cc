// Tests the summary of a plan on one screen.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/values/utf8_text.h"
#include "plan/plan/roles.h"
#include "plan/sample_plan.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

TEST(PlanSummary, HasRolesHostsValuesAndOneProcess) {
  Plan plan = ParameterServerPlan();
  plan.derived = {{"batch", 128}};
  for (Process& process : plan.processes) {
    if (process.role == 2) process.devices = {process.index};
  }
  PlanSummaryFacts facts;
  facts.meshes = {{{"pp", 2}, {"dp", 2}}};
  facts.warnings = 1;
  EXPECT_EQ(PlanSummaryText(plan, facts),
            "plan        parameter-server  framework mindspore-ps 1.6.2  id " + ShortPlanId(PlanId(plan)) +
                "\n"
                "            Digits\n"
                "roles       scheduler  1 process on host0\n"
                "            server     2 processes on host0\n"
                "            worker     4 processes on host0, 1 device each, ranks 0-3 of 4\n"
                "hosts       1 × 4 devices\n"
                "mesh        pp 2 × dp 2\n"
                "derived     batch=128\n"
                "parameters  lr=0.5  workers=4\n"
                "also        1 port\n"
                "example     worker.0 on host0, device 0, rank 0 of 4\n"
                "  command   ps_digits --epochs 20\n"
                "  variables MS_SCHED_PORT=${muster:port:scheduler}  MS_WORKER_NUM=4  RANK_ID=0\n"
                "  context   device_target=\"CPU\"  enable_ps=true\n"
                "warnings    1 warning is printed above\n            full plan: --full; one process: --env ROLE:RANK; "
                "programs: --json\n");
}

// Prevents: a plan of thousands of processes, or one with long values, scrolls off the screen.
TEST(PlanSummary, FitsOnAScreenForAnyPlan) {
  Plan large = ParameterServerPlan();
  for (int i = 0; i < 200; ++i) {
    large.params["parameter_" + std::to_string(i)] = std::string(50, 'x');
    large.derived["derived_" + std::to_string(i)] = i;
    large.roles[2].env["VARIABLE_" + std::to_string(i)] = std::string(300, 'y');
    large.roles[2].context["set_context.attribute_" + std::to_string(i)] = i;
    large.ports["p" + std::to_string(i)] = {0, 0, ""};
    Role more = large.roles[1];
    more.name = "role_" + std::to_string(i);
    large.roles.push_back(more);
  }
  large.roles[2].command = {std::string(5'000, 'z')};
  large.roles[2].cwd = "/somewhere";
  large.checkpoints.dir = "checkpoints";
  std::mt19937 random(7);
  std::vector<Plan> plans = {large};
  for (int i = 0; i < 50; ++i) {
    plans.push_back(RandomPlan(random));
    Fold(plans.back());
  }
  for (const Plan& plan : plans) {
    for (const std::size_t width : {60U, 80U, 200U}) {
      PlanSummaryFacts facts;
      facts.width = width;
      facts.warnings = 3;
      facts.meshes.resize(5, {{"dp", 2}});
      const std::string text = PlanSummaryText(plan, facts);
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24) << text;
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        EXPECT_LE(Columns(text.substr(begin, end - begin)), width) << text;
        begin = end + 1;
      }
    }
  }
}

TEST(PlanSummary, CountsProcessesOverHosts) {
  Plan plan = ParameterServerPlan();
  plan.hosts = {{"host0", 4}, {"host1", 4}, {"host2", 2}};
  for (Process& process : plan.processes) process.host = process.role == 2 ? process.index % 2 : 0;
  const std::string text = PlanSummaryText(plan, {});
  EXPECT_NE(text.find("worker     4 processes on 2 hosts, 2 each, ranks 0-3 of 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("hosts       3 (no devices are used)\n"), std::string::npos) << text;
  plan.processes.back().devices = {0};
  EXPECT_NE(PlanSummaryText(plan, {}).find("hosts       2 × 4, 1 × 2 devices\n"), std::string::npos);
}

}  // namespace
}  // namespace muster
