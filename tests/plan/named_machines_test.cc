// Tests the comparison of the machines that contracts name with the hosts of the run.
#include "plan/check/named_machines.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

// One worker on each of two hosts; `listens` is what tells the first one apart, "MS_ROLE=MS_SCHED".
Plan TwoHosts(const std::string& listens) {
  Plan plan;
  plan.hosts = {{"host0", 1}, {"host1", 1}};
  Role& role = plan.roles.emplace_back();
  role.name = role.plays = "worker";
  for (std::uint32_t index = 0; index < 2; ++index) {
    Process& process = plan.processes.emplace_back();
    process.index = process.host = index;
    const std::size_t equals = listens.find('=');
    process.env.emplace(listens.substr(0, equals), index == 0 ? listens.substr(equals + 1) : "other");
  }
  return plan;
}

const std::vector<KnownHost> kKnown = {{"n1", "192.0.2.11"}, {"n2", "192.0.2.12"}};

// "error MESSAGE", "warning MESSAGE", or "" without a problem.
std::string Found(const Plan& plan, const std::vector<KnownHost>& known = kKnown,
                  const std::vector<std::string>& inherited = {}) {
  const Diagnostics problems = CheckNamedMachines(plan, known, {"r.lua", 3}, inherited);
  if (problems.empty()) return "";
  EXPECT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().kind, "hosts");
  EXPECT_EQ(problems.front().place, (Place{"r.lua", 3}));
  return (problems.front().severity == Severity::kError ? "error " : "warning ") + problems.front().message;
}

struct Contract {
  const char* variable;
  const char* listens;
  const char* port;
};
constexpr Contract kContracts[] = {{"MS_SCHED_HOST", "MS_ROLE=MS_SCHED", ""},
                                   {"DMLC_PS_ROOT_URI", "DMLC_ROLE=scheduler", ""},
                                   {"MASTER_ADDR", "RANK=0", ""},
                                   {"JAX_COORDINATOR_ADDRESS", "JAX_PROCESS_ID=0", ":1234"}};

TEST(NamedMachines, MustHaveTheProcessThatListens) {
  for (const Contract& contract : kContracts) {
    const auto named = [&](const std::string& machine) {
      Plan plan = TwoHosts(contract.listens);
      plan.roles[0].env.emplace(contract.variable, Text(machine + contract.port));
      return plan;
    };
    for (const char* right : {"192.0.2.11", "n1", "N1", "${muster:host_address:0}"}) {
      EXPECT_EQ(Found(named(right)), "") << contract.variable << " " << right;
    }
    EXPECT_EQ(Found(named("192.0.2.12")), std::string("error ") + contract.variable +
                                              " = 192.0.2.12 of worker.0 is host 1 of the run, and worker.0 is on "
                                              "host 0 (n1)");
    EXPECT_EQ(Found(named("n2"), {{"n1", ""}, {"n2", ""}}).substr(0, 6), "error ") << "also by name";
    EXPECT_EQ(Found(named("198.51.100.7")), std::string("warning ") + contract.variable +
                                                " = 198.51.100.7 of worker.0 is no host of the run, and worker.0 is on "
                                                "host 0 (n1)");
    EXPECT_EQ(Found(named("198.51.100.7"), {{"n1", ""}, {"n2", ""}}), "") << "compared at the start";
    EXPECT_EQ(Found(named("n1.cluster")), "");
    EXPECT_EQ(Found(named("n7")).substr(0, 8), "warning ") << "it may be an alias";
    EXPECT_EQ(Found(named("n7"), {{"192.0.2.11", "192.0.2.11"}, {"n2", ""}}), "") << "of a host without a name";
    EXPECT_EQ(Found(named("198.51.100.7"), {{"n1", "127.0.0.1"}, {"n2", "127.0.0.1"}}), "")
        << "another address of this machine";
    EXPECT_EQ(Found(named("127.0.0.1")), std::string("error ") + contract.variable +
                                             " = 127.0.0.1 of worker.1 is its own host 1 (n2), and worker.0 is on "
                                             "host 0 (n1)");
    EXPECT_EQ(Found(named("127.0.0.1"), {{"", "127.0.0.1"}, {"", "127.0.0.2"}}), "") << "hosts that are this machine";
    EXPECT_EQ(Found(named("192.0.2.12"), {{"", ""}, {"", ""}}), "") << "nothing is known yet";
    EXPECT_EQ(Found(named("192.0.2.12"), {}), "");
  }
}

TEST(NamedMachines, AreThoseOfTheOneThatAgrees) {
  // Two worlds with a rank 0 each.
  Plan plan = TwoHosts("RANK=0");
  plan.processes[1].env["RANK"] = Text("0");
  plan.processes[0].env["MASTER_ADDR"] = Text("n1");
  plan.processes[1].env["MASTER_ADDR"] = Text("n2");
  EXPECT_EQ(Found(plan), "");
  plan.processes[1].env["MASTER_ADDR"] = Text("n1");
  EXPECT_EQ(Found(plan), "") << "one store may serve both";
}

TEST(NamedMachines, AreNotComparedWhereAnAgentListens) {
  Plan plan = TwoHosts("RANK=0");
  plan.roles[0].env.emplace("MASTER_ADDR", Text("n2"));
  EXPECT_NE(Found(plan), "");
  plan.roles[0].env.emplace("TORCHELASTIC_USE_AGENT_STORE", Text("True"));
  EXPECT_EQ(Found(plan), "");
}

TEST(NamedMachines, OfServersOfPsLiteAreTheirOwn) {
  Plan plan = TwoHosts("DMLC_ROLE=worker");
  plan.processes[0].env["DMLC_NODE_HOST"] = Text("192.0.2.11");
  plan.processes[1].env["DMLC_NODE_HOST"] = Text("192.0.2.12");
  EXPECT_EQ(Found(plan), "");
  plan.processes[1].env["DMLC_NODE_HOST"] = Text("192.0.2.11");
  EXPECT_EQ(Found(plan).substr(0, 53), "error DMLC_NODE_HOST = 192.0.2.11 of worker.1 is host");
}

std::string Config(const std::string& index) {
  return R"({"cluster": {"worker": ["n1:2222", "[2001:db8::2]:2222"]}, "task": {"type": "worker", "index": )" + index +
         "}}";
}

TEST(NamedMachines, OfTasksAreThoseOfTheirProcesses) {
  const std::vector<KnownHost> known = {{"n1", "192.0.2.11"}, {"n2", "2001:db8::2"}};
  Plan plan = TwoHosts("A=b");
  plan.processes[0].env["TF_CONFIG"] = Text(Config("0"));
  plan.processes[1].env["TF_CONFIG"] = Text(Config("1"));
  EXPECT_EQ(Found(plan, known), "");
  std::swap(plan.processes[0].env["TF_CONFIG"], plan.processes[1].env["TF_CONFIG"]);
  EXPECT_EQ(
      Found(plan, known),
      "error TF_CONFIG of task worker 1 = 2001:db8::2 of worker.0 is host 1 of the run, and worker.0 is on host 0 "
      "(n1)");
  for (const char* other : {"", "{", "[]", "{\"cluster\": 1, \"task\": 2}", R"({"cluster": {}, "task": {"type": 1}})",
                            R"({"cluster": {"worker": ["n2:1"]}, "task": {"type": "worker", "index": 7}})",
                            R"({"cluster": {"worker": [3]}, "task": {"type": "worker", "index": 0}})",
                            R"({"cluster": {"worker": ["n2:1"]}, "task": {"type": "evaluator", "index": 0}})",
                            R"({"cluster": {"worker": ["${muster:host_address:1}:1"]},
                                "task": {"type": "worker", "index": 0}})"}) {
    plan.processes[0].env["TF_CONFIG"] = Text(other);
    plan.processes[1].env.erase("TF_CONFIG");
    EXPECT_EQ(Found(plan, known), "") << other;
  }
}

TEST(NamedMachines, MayBeInherited) {
  Plan plan = TwoHosts("RANK=0");
  EXPECT_NE(Found(plan, kKnown, {"MASTER_ADDR=192.0.2.12"}), "");
  EXPECT_NE(Found(plan, kKnown, {"TF_CONFIG=" + Config("0")}), "") << "one task for all processes";
  plan.roles[0].unset = {"MASTER_*"};
  EXPECT_EQ(Found(plan, kKnown, {"MASTER_ADDR=192.0.2.12", "A=b", "no variable"}), "") << "which the contract removes";
}

}  // namespace
}  // namespace muster
