// Tests the comparison of a process's environment with the plan.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "lua/state/own_data.h"
#include "plan/plan/contract_variables.h"
#include "stub/program/stub_checks.h"
#include "stub/records/stub_facts.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

using Environment = std::map<std::string, std::string>;

StubVariable In(const Environment& environment) {
  return [&environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
}

// The variables of muster's own contract of that name; nothing if there is none.
std::optional<std::vector<ContractVariable>> ContractOf(const std::string& framework) {
  static const Value records = OwnFrameworks().value();
  const auto contract = OwnContractNamed(records, framework);
  EXPECT_TRUE(contract) << contract.error();
  return contract.value_or(std::nullopt);
}

// `count` workers on two hosts, half on each.
StubFacts Workers(const std::string& framework, std::uint32_t count) {
  StubFacts facts;
  facts.run = "r1";
  facts.framework = framework;
  facts.contract = ContractOf(framework);
  facts.within_ms = 1000;
  facts.workers = count;
  facts.worker_hosts = 2;
  facts.addresses = {"10.0.0.1", "10.0.0.2"};
  for (std::uint32_t i = 0; i < count; ++i) {
    StubPeer peer;
    peer.name = "worker." + std::to_string(i);
    peer.plays = peer.world = "worker";
    peer.host = i < count / 2 ? 0 : 1;
    peer.rank = i;
    peer.world_size = count;
    peer.local_rank = i % (count / 2);
    peer.local_size = count / 2;
    peer.first_of_host = peer.local_rank == 0;
    peer.hello = std::to_string(2000 + i);
    facts.processes.push_back(peer);
  }
  return facts;
}

std::string FailuresOf(const StubReport& report) {
  std::string text;
  for (const StubFinding& finding : report.findings) {
    if (finding.outcome == StubFinding::Outcome::kFailed)
      text += std::string(CheckName(finding.check)) + ": " + finding.text + "\n";
  }
  return text;
}

std::string Looked(const StubFacts& facts, std::uint32_t process, const Environment& environment,
                   const std::optional<std::string>& context = {}) {
  StubReport report;
  CheckPromises(facts, process, In(environment), context, report);
  return FailuresOf(report);
}

const Environment kTorch = {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}};

TEST(Promises, HoldIfTheEnvironmentMatchesThePlan) { EXPECT_EQ(Looked(Workers("torch", 4), 3, kTorch), ""); }

TEST(Promises, NameADifferingVariable) {
  Environment wrong = kTorch;
  wrong["RANK"] = "0";
  wrong["WORLD_SIZE"] = "8";
  EXPECT_EQ(Looked(Workers("torch", 4), 3, wrong),
            "ranks: RANK is \"0\", and the plan has 3\ncounts: WORLD_SIZE is \"8\", and the plan has 4\n");
  wrong.erase("RANK");
  wrong["WORLD_SIZE"] = "4";
  EXPECT_EQ(Looked(Workers("torch", 4), 3, wrong), "ranks: RANK is not set\n");
}

TEST(Promises, RequireNumbers) {
  Environment wrong = kTorch;
  wrong["WORLD_SIZE"] = "4 ";
  EXPECT_EQ(Looked(Workers("torch", 4), 3, wrong), "counts: WORLD_SIZE is \"4 \", and the plan has 4\n");
}

TEST(Promises, IncludeTheContext) {
  const Environment environment = {{"MS_ROLE", "MS_WORKER"}, {"MS_WORKER_NUM", "4"}, {"RANK_SIZE", "4"},
                                   {"RANK_ID", "1"},         {"MS_NODE_ID", "1"},    {"LOCAL_RANK", "1"},
                                   {"LOCAL_RANK_SIZE", "2"}, {"DEVICE_ID", "1"}};
  const StubFacts facts = Workers("mindspore", 4);
  EXPECT_EQ(
      Looked(facts, 1, environment, R"({"context":{"set_auto_parallel_context":{"device_num":4,"global_rank":1}}})"),
      "");
  EXPECT_EQ(
      Looked(facts, 1, environment, R"({"context":{"set_auto_parallel_context":{"device_num":8,"global_rank":0}}})"),
      "counts: device_num of its context is 8, and the plan has 4\n"
      "ranks: global_rank of its context is 0, and the plan has 1\n");
  EXPECT_EQ(Looked(facts, 1, environment, "not JSON"), "counts: its context cannot be read\n");
}

TEST(Promises, IncludeTheNumberOfTensorFlowTasks) {
  const StubFacts facts = Workers("tensorflow", 2);
  EXPECT_EQ(Looked(facts, 0, {{"TF_CONFIG", R"({"cluster":{"worker":["a:1","b:2"]}})"}}), "");
  EXPECT_EQ(Looked(facts, 0, {{"TF_CONFIG", R"({"cluster":{"worker":["a:1"]}})"}}),
            "counts: TF_CONFIG has 1 tasks of worker, and the plan 2\n");
}

TEST(Promises, DoNotApplyToARoleOutsideTheContract) {
  for (const char* framework : {"byteps", "jax", "mindspore", "mindspore-ps", "mindspore-ranktable", "mpi", "ps-lite",
                                "tensorflow", "torch", "ours"}) {
    StubFacts facts = Workers(framework, 3);
    facts.processes[2].plays = "other";
    facts.processes[2].rank.reset();
    StubReport report;
    CheckPromises(facts, 2, In({}), {}, report);
    EXPECT_TRUE(report.findings.empty()) << framework << ": " << report.findings.front().text;
  }
}

TEST(Promises, AreReportedAsUnknownForARecipesOwnContract) {
  StubReport report;
  CheckPromises(Workers("ours", 2), 0, In({}), {}, report);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].outcome, StubFinding::Outcome::kNotChecked);
}

// As above, with variables that the recipe declares.
TEST(Promises, IncludeThoseOfARecipesOwnContract) {
  using Meaning = ContractVariable::Meaning;
  StubFacts facts = Workers("ours", 4);
  facts.processes[0].plays = "keeper";
  facts.contract = {{"OURS_RANK", {"worker"}, Meaning::kRank},
                    {"OURS_KEEPERS", {}, Meaning::kCount, "keeper"},
                    {"OURS_ROLE", {}, Meaning::kRole, "", {{"keeper", "K"}}},
                    {"OURS_SIZE", {}, Meaning::kWorldSize, "", {}, true}};
  EXPECT_EQ(Looked(facts, 1, {{"OURS_RANK", "1"}, {"OURS_KEEPERS", "1"}, {"OURS_ROLE", "worker"}}), "");
  EXPECT_EQ(Looked(facts, 0, {{"OURS_KEEPERS", "1"}, {"OURS_ROLE", "K"}}), "");
  EXPECT_EQ(Looked(facts, 0, {{"OURS_KEEPERS", "3"}, {"OURS_ROLE", "worker"}}),
            "counts: OURS_KEEPERS is \"3\", and the plan has 1\n"
            "ranks: OURS_ROLE is \"worker\", and a keeper is K\n");
}

TEST(Devices, MustBeVisible) {
  const testing::TempDir root;
  const std::string at = root.path() + "/";
  StubReport report;
  CheckDevices("cuda", In({{"MUSTER_DEVICES", "3"}, {"CUDA_VISIBLE_DEVICES", "0,1"}, {"MUSTER_HOST_DEVICES", "4"}}),
               report, at);
  EXPECT_EQ(FailuresOf(report), "devices: CUDA_VISIBLE_DEVICES=\"0,1\" hides its device 3\n");
}

TEST(Devices, MustExist) {
  const testing::TempDir root;
  std::filesystem::create_directories(root.path() + "/dev");
  std::ofstream(root.path() + "/dev/nvidia0");
  const std::string at = root.path() + "/";
  StubReport there;
  CheckDevices("cuda", In({{"MUSTER_DEVICES", "0"}}), there, at);
  EXPECT_EQ(FailuresOf(there), "");
  StubReport missing;
  CheckDevices("cuda", In({{"MUSTER_DEVICES", "1"}}), missing, at);
  EXPECT_EQ(FailuresOf(missing), "devices: there is 1 device of kind cuda here, fewer than the plan gives\n");
}

TEST(Devices, MustMatchTheContract) {
  const testing::TempDir root;
  const Environment right = {
      {"MUSTER_DEVICES", "5"}, {"ASCEND_RT_VISIBLE_DEVICES", "4,5"}, {"DEVICE_ID", "1"}, {"MUSTER_HOST_DEVICES", "8"}};
  StubReport report;
  CheckDevices("ascend", In(right), report, root.path() + "/");
  EXPECT_EQ(FailuresOf(report), "");
  Environment wrong = right;
  wrong["DEVICE_ID"] = "0";
  CheckDevices("ascend", In(wrong), report, root.path() + "/");
  EXPECT_EQ(FailuresOf(report), "devices: DEVICE_ID is \"0\", which is device 4, and its device is 5\n");
}

TEST(Greetings, ConnectAllPairsOfAFewProcesses) {
  const StubFacts facts = Workers("torch", 4);
  EXPECT_EQ(GreetedBy(facts, 1), (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(GreetersOf(facts, 1), (std::vector<std::uint32_t>{0, 2, 3}));
}

TEST(Greetings, OfManyProcessesMatch) {
  const StubFacts facts = Workers("torch", 300);
  std::size_t all = 0;
  for (std::uint32_t i = 0; i < 300; ++i) {
    for (const std::uint32_t greeted : GreetedBy(facts, i)) {
      const auto greeters = GreetersOf(facts, greeted);
      EXPECT_TRUE(std::find(greeters.begin(), greeters.end(), i) != greeters.end()) << i << " greets " << greeted;
      ++all;
    }
    all -= GreetersOf(facts, i).size();
  }
  EXPECT_EQ(all, 0U) << "who is greeted knows of it, and expects nobody else";
  const auto of_first = GreetedBy(facts, 0);
  EXPECT_TRUE(std::find(of_first.begin(), of_first.end(), 150U) != of_first.end()) << "the first of the other host";
}

TEST(StubFacts, RoundTripThroughTheirFile) {
  const StubFacts facts = Workers("torch", 4);
  const auto read = ReadStubFacts(StubFactsText(facts));
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(*read, facts);
}

TEST(StubFacts, AreRefusedIfInvalid) {
  EXPECT_FALSE(ReadStubFacts("").has_value());
  EXPECT_FALSE(ReadStubFacts("{\"format\": 2}").has_value());
  StubFacts facts = Workers("torch", 4);
  facts.processes[1].hello = "70000";
  EXPECT_FALSE(ReadStubFacts(StubFactsText(facts)).has_value());
  facts.processes[1].hello = "7000";
  facts.processes[1].host = 9;
  EXPECT_FALSE(ReadStubFacts(StubFactsText(facts)).has_value());
}

}  // namespace
}  // namespace muster
