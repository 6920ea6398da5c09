// Tests the canonical text and the id computed from it.
#include "plan/text/plan_text.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "plan/plan/roles.h"
#include "plan/sample_plan.h"

namespace muster {
namespace {

TEST(PlanText, IsOneFactPerLine) {
  EXPECT_EQ(PlanText(ParameterServerPlan()),
            R"(plan name parameter-server
plan framework mindspore-ps
plan mindspore 1.6.2
host host0 devices 4
port scheduler host host0 number auto owner scheduler.0
role scheduler count 1
role scheduler plays scheduler
role scheduler serves until the others end, then has 35000 ms
role scheduler stop TERM, KILL after 10000 ms
role scheduler command "ps_digits"
role scheduler unset OMPI_*
role scheduler unset RANK_TABLE_FILE
role scheduler env MS_SCHED_PORT=${muster:port:scheduler}
role scheduler env MS_WORKER_NUM=4
role scheduler context set_context.device_target = "CPU"
role scheduler context set_ps_context.enable_ps = true
process scheduler.0 host host0 local 0 of 1
role server count 2
role server plays server
role server serves until the others end, then has 35000 ms
role server stop TERM, KILL after 10000 ms
role server command "ps_digits"
role server unset OMPI_*
role server unset RANK_TABLE_FILE
role server env MS_SCHED_PORT=${muster:port:scheduler}
role server env MS_WORKER_NUM=4
role server context set_context.device_target = "CPU"
role server context set_ps_context.enable_ps = true
process server.0 host host0 local 0 of 2
process server.1 host host0 local 1 of 2
role worker count 4
role worker plays worker
role worker world worker
role worker ends with all its processes
role worker stop TERM, KILL after 10000 ms
role worker command "ps_digits" "--epochs" "20"
role worker unset OMPI_*
role worker unset RANK_TABLE_FILE
role worker env MS_SCHED_PORT=${muster:port:scheduler}
role worker env MS_WORKER_NUM=4
role worker context set_context.device_target = "CPU"
role worker context set_ps_context.enable_ps = true
process worker.0 host host0 rank 0 of 4 local 0 of 4
process worker.0 env RANK_ID=0
process worker.1 host host0 rank 1 of 4 local 1 of 4
process worker.1 env RANK_ID=1
process worker.2 host host0 rank 2 of 4 local 2 of 4
process worker.2 env RANK_ID=2
process worker.3 host host0 rank 3 of 4 local 3 of 4
process worker.3 env RANK_ID=3
)");
}

TEST(PlanText, OmitsNotes) {
  const Plan plan = ParameterServerPlan();
  EXPECT_EQ(PlanNotesText(plan), "doc \"Digits\"\nparameter lr = 0.5\nparameter workers = 4\n");
  Plan other = plan;
  other.doc = "Else";
  other.params.clear();
  EXPECT_EQ(PlanId(plan), PlanId(other));
}

TEST(PlanText, KeepsEveryValueOnItsLine) {
  std::mt19937 random(21);
  for (int round = 0; round < 200; ++round) {
    Plan plan = RandomPlan(random);
    Fold(plan);
    const std::string text = PlanText(plan);
    ASSERT_TRUE(text.ends_with('\n'));
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      const std::string first = line.substr(0, line.find(' '));
      EXPECT_TRUE(first == "plan" || first == "host" || first == "port" || first == "secret" || first == "site" ||
                  first == "checkpoints" || first == "file" || first == "activate" || first == "role" ||
                  first == "process")
          << line;
      EXPECT_TRUE(std::none_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
          << line;
      begin = end + 1;
    }
  }
}

// Every difference in execution must change the id.
TEST(PlanId, DiffersWithEveryDifferenceInExecution) {
  using Change = void (*)(Plan&);
  const Change changes[] = {
      [](Plan& p) { p.name = "other"; },
      [](Plan& p) { p.framework = "none"; },
      [](Plan& p) { p.accept_release = true; },
      [](Plan& p) { p.mindspore.clear(); },
      [](Plan& p) { p.time_limit_ms = 1; },
      [](Plan& p) { p.start_limit_ms = 1; },
      [](Plan& p) { p.silent_limit_ms = 1; },
      [](Plan& p) {
        p.activation = {{ActivationStep::Kind::kSource, "/a"}};
      },
      [](Plan& p) {
        p.activation = {{ActivationStep::Kind::kModule, "/a"}};
      },
      [](Plan& p) {
        p.activation = {{ActivationStep::Kind::kConda, "b"}, {ActivationStep::Kind::kModule, "/a"}};
      },
      [](Plan& p) {
        p.activation = {{ActivationStep::Kind::kModule, "/a"}, {ActivationStep::Kind::kConda, "b"}};
      },
      [](Plan& p) { p.roles[2].ending = Ending::kAny; },
      [](Plan& p) { p.roles[2].after = {0}; },
      [](Plan& p) {
        p.roles[2].after = {0, 1};
      },
      [](Plan& p) { p.roles[2].ready.kind = Readiness::Kind::kPort; },
      [](Plan& p) { p.roles[2].ready.kind = Readiness::Kind::kDone; },
      [](Plan& p) { p.roles[2].ready.what = "x"; },
      [](Plan& p) { p.roles[2].ready.command = {"x"}; },
      [](Plan& p) {
        p.roles[2].ready.kind = Readiness::Kind::kCommand;
        p.roles[2].ready.every_ms = 7;
      },
      [](Plan& p) { p.roles[2].ready.timeout_ms = 1; },
      [](Plan& p) { p.roles[2].restart.max = 1; },
      [](Plan& p) {
        p.roles[2].restart = {1, 5};
      },
      [](Plan& p) {
        p.roles[2].restart = {1, 0, RestartPolicy::Scope::kRole};
      },
      [](Plan& p) {
        p.roles[2].restart = {1, 0, RestartPolicy::Scope::kJob};
      },
      [](Plan& p) {
        p.roles[2].restart = {1, 0, RestartPolicy::Scope::kProcess, false};
      },
      [](Plan& p) {
        p.roles[2].restart = {1, 0, RestartPolicy::Scope::kProcess, true, true};
      },
      [](Plan& p) { p.roles[2].restart = {1, 0, RestartPolicy::Scope::kProcess, false, false, {3}}; },
      [](Plan& p) { p.roles[2].restart = {1, 0, RestartPolicy::Scope::kProcess, false, false, {}, {"KILL"}}; },
      [](Plan& p) { p.roles[2].restart = {1, 0, RestartPolicy::Scope::kProcess, false, false, {}, {}, 7}; },
      [](Plan& p) { p.roles[2].restart = {1, 0, RestartPolicy::Scope::kProcess, true, false, {}, {}, 1'000, true}; },
      [](Plan& p) { p.roles[2].limits.time_ms = 1; },
      [](Plan& p) { p.roles[2].limits.silent_ms = 1; },
      [](Plan& p) { p.roles[2].limits.log_bytes = kMinLogBytes; },
      [](Plan& p) { p.processes[4].ready_what = "x"; },
      [](Plan& p) { p.hosts[0].label = "host1"; },
      [](Plan& p) { p.hosts[0].devices = 5; },
      [](Plan& p) {
        p.hosts.push_back({"more", 0});
      },
      [](Plan& p) { p.ports["scheduler"].number = 20300; },
      [](Plan& p) { p.ports["scheduler"].owner.clear(); },
      [](Plan& p) { p.ports["more"] = {}; },
      [](Plan& p) { p.files["files/a"] = {}; },
      [](Plan& p) {
        p.secrets["key"] = {"KEY", ""};
      },
      [](Plan& p) { p.roles[2].name = "other"; },
      [](Plan& p) { p.roles[2].plays = "other"; },
      [](Plan& p) { p.roles[2].world = "other"; },
      [](Plan& p) { p.roles[2].ending = Ending::kNever; },
      [](Plan& p) { p.roles[0].linger_ms = 1; },
      [](Plan& p) { p.roles[2].stop.signal = "INT"; },
      [](Plan& p) { p.roles[2].stop.grace_ms = 1; },
      [](Plan& p) {
        p.roles[2].command = {"ps_digits", "--epochs 20"};
      },
      [](Plan& p) { p.roles[2].shell = true; },
      [](Plan& p) { p.roles[2].cwd = "/"; },
      [](Plan& p) { p.roles[2].unset.pop_back(); },
      [](Plan& p) { p.roles[2].env["MS_WORKER_NUM"] = "5"; },
      [](Plan& p) { p.roles[2].env["MORE"] = ""; },
      [](Plan& p) { p.roles[2].context["set_context.device_target"] = "GPU"; },
      [](Plan& p) { p.roles[2].context["set_ps_context.enable_ps"] = "true"; },
      [](Plan& p) { p.processes[4].rank.reset(); },
      [](Plan& p) { p.processes[4].world_size = 5; },
      [](Plan& p) { p.processes[4].local_rank = 3; },
      [](Plan& p) { p.processes[4].local_size = 5; },
      [](Plan& p) { p.processes[4].devices = {1}; },
      [](Plan& p) { p.processes[4].stage = 1; },
      [](Plan& p) { p.processes[4].rank_in_stage = 0; },
      [](Plan& p) { p.processes[4].command = std::vector<Text>{"x"}; },
      [](Plan& p) { p.processes[4].cwd = Text(""); },
      [](Plan& p) { p.processes[4].env["RANK_ID"] = "one"; },
      [](Plan& p) { p.processes[4].context["set_context.device_id"] = 1; },
      [](Plan& p) { p.processes.pop_back(); },
  };
  std::vector<std::string> ids{PlanId(ParameterServerPlan())};
  for (const Change change : changes) {
    Plan plan = ParameterServerPlan();
    change(plan);
    ids.push_back(PlanId(plan));
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST(PlanId, DistinguishesSimilarTexts) {
  const char* const texts[] = {"",     "a",     "a b", "\"a\"", "\"a b\"", "a\nb",     "a\\nb",
                               "a\tb", "\\x61", "'a'", "a ",    " a",      "\xc2\xa0", "\xe2\x80\x8b"};
  std::vector<std::string> ids;
  for (const char* text : texts) {
    Plan plan = ParameterServerPlan();
    plan.roles[2].env["X"] = text;
    ids.push_back(PlanId(plan));
    plan.roles[2].env.erase("X");
    plan.roles[2].command = {text};
    ids.push_back(PlanId(plan));
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST(PlanId, IsShortHex) {
  const std::string id = PlanId(ParameterServerPlan());
  EXPECT_EQ(id.size(), 64U);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(ShortPlanId(ParameterServerPlan()), id.substr(0, 12));
}

}  // namespace
}  // namespace muster
