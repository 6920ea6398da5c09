// Tests that a program with MindSpore's rules accepts the processes that muster launches, assigns the ranks of the
// plan, and refuses each of a dozen corrupted environments.
#include <gtest/gtest.h>

#include "supervision/job.h"

namespace muster::testing {
namespace {

const std::string kCommand =
    "{ '/usr/bin/python3', '-B', '" MUSTER_SOURCE_DIR "/tests/frameworks/mindspore_cluster.py' }";

std::string Workers(int count, const std::string& each = "") {
  return "job:workers { count = " + std::to_string(count) + ", command = " + kCommand +
         (each.empty() ? "" : ", each = function(process) " + each + " end") + " } ";
}

std::string Servers(int count, const std::string& each = "") {
  return "job:servers { count = " + std::to_string(count) + ", command = " + kCommand +
         (each.empty() ? "" : ", each = function(process) " + each + " end") + " } ";
}

const std::vector<std::string> kLittered = {
    "/usr/bin/env",   "MS_ROLE=MS_PSERVER", "MS_NODE_ID=9",           "MS_WORKER_NUM=99", "MS_SCHED_HOST=10.0.0.1",
    "OMPI_COMMAND=x", "PMIX_RANK=3",        "MS_WORKER_IP=elsewhere", "RANK_ID=77",       "MS_SERVER_NUM=4"};

void ExpectAccepted(const Job& job, std::size_t workers) {
  EXPECT_EQ(job.result.exit_code, 0) << job.result.out << job.result.err;
  EXPECT_NE(job.Log("scheduler.0.0").find("Cluster is successfully initialized"), std::string::npos);
  for (std::size_t i = 0; i < workers; ++i) {
    EXPECT_NE(job.Log("worker." + std::to_string(i) + ".0").find("rank id: "), std::string::npos) << i;
  }
}

TEST(MindSporeCluster, AcceptsADynamicClusterAndAssignsThePlannedRanks) {
  const Job job(Workers(12), "framework = 'mindspore',");
  ExpectAccepted(job, 12);
  EXPECT_EQ(job.Log("worker.11.0"), "This node 11 rank id: 11\n");
}

TEST(MindSporeCluster, AcceptsParameterServersWithAndWithoutIds) {
  const Job named(Servers(3) + Workers(11), "framework = 'mindspore-ps',");
  ExpectAccepted(named, 11);
  EXPECT_EQ(named.Log("worker.10.0"), "This node worker_10 rank id: 10\n");
  EXPECT_EQ(named.Log("server.2.0"), "This node server_02 rank id: 2\n");
  ExpectAccepted(Job(Servers(2) + Workers(3), "framework = { 'mindspore-ps', form = 'minimal' },"), 3);
}

TEST(MindSporeCluster, IgnoresVariablesOfTheCallersShell) {
  ExpectAccepted(Job(Workers(3), "framework = 'mindspore',", kLittered), 3);
  ExpectAccepted(Job(Servers(2) + Workers(3), "framework = 'mindspore-ps',", kLittered), 3);
}

struct Spoilt {
  const char* what;
  std::string body;
  const char* fields;
  const char* refused;
};

class SpoiltCluster : public ::testing::TestWithParam<Spoilt> {};

const char* const kCluster = "framework = 'mindspore',";
const char* const kServers = "framework = 'mindspore-ps',";

std::string Set(int index, const std::string& name, const std::string& value) {
  return "if process.index == " + std::to_string(index) + " then process.env { " + name + " = '" + value +
         "', override = true } end";
}

INSTANTIATE_TEST_SUITE_P(
    Environments, SpoiltCluster,
    ::testing::Values(
        Spoilt{"RoleMisspelt", Workers(2, Set(1, "MS_ROLE", "MS_WORKERS")), kCluster,
               "Role name 'MS_WORKERS' is invalid"},
        Spoilt{"RoleEmpty", Workers(2, Set(1, "MS_ROLE", "")), kCluster, "Role name '' is invalid"},
        Spoilt{"CountDiffers", Workers(2, Set(1, "MS_WORKER_NUM", "3")), kCluster, "counts 3 workers and 0 servers"},
        Spoilt{"CountZero", Workers(2, Set(1, "MS_WORKER_NUM", "0")), kCluster, "MS_WORKER_NUM is '0'"},
        Spoilt{"HostIsAName", Workers(2, Set(1, "MS_SCHED_HOST", "localhost")), kCluster,
               "MS_SCHED_HOST is 'localhost', which is no address"},
        Spoilt{"PortTooHigh", Workers(2, Set(1, "MS_SCHED_PORT", "70000")), kCluster, "MS_SCHED_PORT is '70000'"},
        Spoilt{"NumberTwice", Workers(2, Set(1, "MS_NODE_ID", "0")), kCluster, "node 0 registers again"},
        Spoilt{"NumberTooHigh", Workers(2, Set(1, "MS_NODE_ID", "2")), kCluster, "its rank id exceeds 1"},
        Spoilt{"IdTooLong", Workers(2, "process.env { MS_NODE_ID = ('x'):rep(101), override = true }"), kCluster,
               "more than 100 characters"},
        Spoilt{"IdsCollideOverRoles",
               Servers(1, Set(0, "MS_NODE_ID", "0")) +
                   Workers(2, "process.env { MS_NODE_ID = process.index, override = true }"),
               kServers, "node 0 registers again"},
        Spoilt{"ServersNotCounted", Servers(1) + Workers(2, Set(0, "MS_SERVER_NUM", "")), kServers,
               "counts 2 workers and 0 servers"},
        Spoilt{"OrderOfIdsIsNotThatOfRanks",
               Servers(1) + Workers(11, "process.env { MS_NODE_ID = 'w' .. process.index, override = true }"), kServers,
               "RANK_ID is "}),
    [](const auto& spoilt) { return spoilt.param.what; });

TEST_P(SpoiltCluster, IsRefused) {
  const Job job(GetParam().body, GetParam().fields);
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_NE((job.result.out + job.result.err).find(GetParam().refused), std::string::npos)
      << job.result.out << job.result.err;
}

}  // namespace
}  // namespace muster::testing
