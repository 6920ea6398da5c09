// Tests which placeholders of a plan depend on a host.
#include <gtest/gtest.h>

#include "plan/plan/roles.h"

namespace muster {
namespace {

// Two processes on two hosts, with a port on the second.
Plan TwoHosts() {
  Plan plan;
  plan.hosts = {{"host0", 2}, {"host1", 2}};
  plan.ports["rpc"] = {1, 0, ""};
  Role role;
  role.name = "worker";
  role.command = {Text("train")};
  plan.roles = {role};
  Process process;
  plan.processes = {process, process};
  plan.processes[1].index = 1;
  plan.processes[1].host = 1;
  return plan;
}

bool IsReported(const Plan& plan, std::uint32_t process, std::uint32_t host) {
  return RefersToHost(plan, plan.processes[process], host);
}

TEST(HostPlaceholders, AreNamesAddressesDevicesAndPorts) {
  for (const char* text : {"${muster:host_name:1}", "tcp://${muster:host_address:1}:7", "${muster:devices:1:0,1}",
                           "port=${muster:port:rpc}"}) {
    Plan plan = TwoHosts();
    plan.roles[0].env["A"] = Text(text);
    EXPECT_TRUE(IsReported(plan, 0, 1)) << text;
    EXPECT_FALSE(IsReported(plan, 0, 0)) << text;
  }
  Plan plan = TwoHosts();
  plan.roles[0].env["A"] = Text("${muster:run_dir} ${muster:attempt} ${muster:literal}host_name:1}");
  EXPECT_FALSE(IsReported(plan, 0, 1));
}

TEST(HostPlaceholders, AreFoundInEveryTextOfAProcess) {
  const Text text("${muster:host_name:1}");
  const auto with = [&](const auto& put) {
    Plan plan = TwoHosts();
    put(plan);
    return plan;
  };
  EXPECT_TRUE(IsReported(with([&](Plan& plan) { plan.roles[0].command.push_back(text); }), 0, 1));
  EXPECT_TRUE(IsReported(with([&](Plan& plan) { plan.roles[0].cwd = text; }), 0, 1));
  EXPECT_TRUE(IsReported(with([&](Plan& plan) { plan.roles[0].ready.what = text; }), 0, 1));
  EXPECT_TRUE(IsReported(with([&](Plan& plan) { plan.roles[0].ready.command = {text}; }), 0, 1));
  EXPECT_TRUE(IsReported(
      with([&](Plan& plan) {
        plan.roles[0].context["set_context.x"] = Value(Value::List{Value(Value::Map{{"k", Value(text.marked)}})});
      }),
      0, 1));
  const Plan own = with([&](Plan& plan) { plan.processes[0].env["A"] = text; });
  EXPECT_TRUE(IsReported(own, 0, 1));
  EXPECT_FALSE(IsReported(own, 1, 1));
}

TEST(HostPlaceholders, OfARoleDoNotCountIfTheProcessOverridesThem) {
  Plan plan = TwoHosts();
  plan.roles[0].env["A"] = Text("${muster:host_name:1}");
  plan.processes[0].env["A"] = Text("nobody");
  EXPECT_FALSE(IsReported(plan, 0, 1));
  EXPECT_TRUE(IsReported(plan, 1, 1));
}

TEST(HostPlaceholders, OfFilesCountForEveryProcess) {
  Plan plan = TwoHosts();
  EXPECT_FALSE(FilesMentionHost(plan, 1));
  plan.files["hosts"] = {Text("${muster:host_name:0}\n${muster:host_name:1}\n")};
  EXPECT_TRUE(FilesMentionHost(plan, 1));
}

}  // namespace
}  // namespace muster
