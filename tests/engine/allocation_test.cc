// Tests reading the allocation that a process is in.
#include "engine/allocation.h"

#include <map>

#include <gtest/gtest.h>

#include "engine/own_page.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

using testing::AnswerOf;
using testing::OwnPage;

struct World {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> outputs;  // by command, with blanks
  std::vector<std::string> asked = {};

  AllocationSources Sources() {
    return {[this](const std::string& name) -> std::optional<std::string> {
              const auto found = variables.find(name);
              return found == variables.end() ? std::nullopt : std::optional(found->second);
            },
            [this](const std::string& path) -> Result<std::string> {
              const auto found = files.find(path);
              if (found == files.end()) return Fail(MachineError("file", path + " is not there"));
              return found->second;
            },
            [this](const std::vector<std::string>& command) -> Result<std::string> {
              std::string line;
              for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
              asked.push_back(line);
              const auto found = outputs.find(line);
              if (found == outputs.end()) return Fail(MachineError("engine", line + " failed"));
              return found->second;
            }};
  }
};

std::string Names(const Allocation& allocation) { return HostListText(HostsOf(allocation)); }

TEST(Allocation, OfSlurmHasItsNodesInOrderWithTheirGpus) {
  World world;
  world.variables = {{"SLURM_JOB_ID", "10"}, {"SLURM_JOB_NODELIST", "en[4,1-3]"}};
  world.outputs = {{"scontrol show job --details --oneliner 10", AnswerOf("slurm_devices.txt")}};
  const EnginePage page = OwnPage("slurm");
  ASSERT_TRUE(IsInside(page, world.Sources()));
  const auto allocation = ReadAllocation(page, world.Sources());
  ASSERT_TRUE(allocation) << allocation.error().front().message;
  EXPECT_EQ(allocation->job, "10");
  EXPECT_EQ(Names(*allocation), "en4:2,en[1-3]:2");
}

Result<std::vector<AllocatedHost>> Expanded(std::string_view text) { return ReadEngineHosts(OwnPage("slurm"), text); }

TEST(Allocation, OnNodesWithDifferentGpusEachHasItsNumber) {
  std::vector<AllocatedHost> hosts = {{"n1", 0, {}}, {"n2", 1, {}}, {"n3", 2, {}}};
  ASSERT_TRUE(AddDevices(OwnPage("slurm"),
                         "JOB_GRES=gpu:5 Nodes=n1 CPU_IDs=0 GRES=gpu:a100:4(IDX:0,2-4),license:7 "
                         "Nodes=n2 CPU_IDs=0-1 GRES=npu:1(IDX:3),gpu:1(IDX:0) Nodes=n3 CPU_IDs=0 GRES=",
                         Expanded, hosts));
  EXPECT_EQ(hosts[0].devices, 4U);
  EXPECT_EQ(hosts[1].devices, 2U);
  EXPECT_EQ(hosts[2].devices, 0U);
}

TEST(Allocation, OfWholeNodesHasTheDevicesThatAStepGets) {
  for (const char* asked : {"TresPerNode=gres:gpu:2", "TresPerNode=gres/gpu:a100:2", "TresPerNode=cpu:8,gres:gpu:2"}) {
    std::vector<AllocatedHost> hosts = {{"n1", 0, {}}, {"n2", 1, {}}};
    ASSERT_TRUE(AddDevices(OwnPage("slurm"),
                           std::string("Nodes=n1 GRES=gpu:4(IDX:0-3) Nodes=n2 GRES=gpu:1(IDX:0) ") + asked, Expanded,
                           hosts));
    EXPECT_EQ(hosts[0].devices, 2U) << asked;
    EXPECT_EQ(hosts[1].devices, 1U) << asked;
  }
  std::vector<AllocatedHost> hosts = {{"n1", 0, {}}};
  ASSERT_TRUE(AddDevices(OwnPage("slurm"), "Nodes=n1 GRES=gpu:4(IDX:0-3) TresPerNode=gres:gpu", Expanded, hosts));
  EXPECT_EQ(hosts[0].devices, 4U) << "no number";
}

TEST(Allocation, WithoutAnyDeviceTheirNumberIsUnknown) {
  std::vector<AllocatedHost> hosts = {{"n1", 0, {}}};
  ASSERT_TRUE(AddDevices(OwnPage("slurm"), "Nodes=n1 CPU_IDs=0 Mem=0 GRES= MinCPUsNode=1", Expanded, hosts));
  EXPECT_EQ(hosts[0].devices, std::nullopt);
}

TEST(Allocation, AListThatMusterCannotExpandIsExpandedByTheEngine) {
  World world;
  world.variables = {{"SLURM_JOB_ID", "1"}, {"SLURM_JOB_NODELIST", "bgq[00x11]"}};
  world.outputs = {{"scontrol show hostnames bgq[00x11]", "bgq00\nbgq01\nbgq10\nbgq11\n"},
                   {"scontrol show job --details --oneliner 1", "Nodes=bgq[00x11] GRES=gpu:4"}};
  const auto allocation = ReadAllocation(OwnPage("slurm"), world.Sources());
  ASSERT_TRUE(allocation) << allocation.error().front().message;
  EXPECT_EQ(Names(*allocation), "bgq[00-01]:4,bgq[10-11]:4");
}

TEST(Allocation, OfPbsCountsItsNodesByLinesAndNamesEachOnce) {
  World world;
  world.variables = {{"PBS_JOBID", "12.head"}, {"PBS_NODEFILE", "/var/spool/pbs/aux/12.head"}};
  world.files = {{"/var/spool/pbs/aux/12.head", "n1\nn1\nn2\nn2\n"}};
  const auto allocation = ReadAllocation(OwnPage("pbs"), world.Sources());
  ASSERT_TRUE(allocation) << allocation.error().front().message;
  ASSERT_EQ(allocation->hosts.size(), 2U);
  EXPECT_EQ(allocation->hosts[1], (AllocatedHost{"n2", 2, {}, 2}));
}

// "n1=4 n2=2", or with '~' for room.
std::string Tasks(const Allocation& allocation) {
  std::string text;
  for (const SiteHost& host : HostsOf(allocation)) {
    text += (text.empty() ? "" : " ") + host.name;
    if (host.slots) text += "=" + std::to_string(*host.slots);
    if (host.room) text += "~" + std::to_string(*host.room);
  }
  return text;
}

TEST(Allocation, OfSlurmHasTheTasksThatItsUserAskedFor) {
  const auto tasks = [](const char* numbers, const char* asked) {
    World world;
    world.variables = {{"SLURM_JOB_ID", "10"}, {"SLURM_JOB_NODELIST", "n[1-3]"}, {"SLURM_TASKS_PER_NODE", numbers}};
    if (*asked != 0) world.variables["SLURM_NTASKS"] = asked;
    world.outputs = {{"scontrol show job --details --oneliner 10", "JobId=10 Nodes=n[1-3] GRES="}};
    const auto allocation = ReadAllocation(OwnPage("slurm"), world.Sources());
    return allocation ? Tasks(*allocation) : allocation.error().front().message;
  };
  EXPECT_EQ(tasks("4(x2),1", "9"), "n1=4 n2=4 n3=1") << "salloc -n 9";
  EXPECT_EQ(tasks("4(x2),1", ""), "n1~4 n2~4 n3~1") << "salloc -N 3 --exclusive: processors";
  EXPECT_EQ(tasks("1(x3)", "3"), "n1 n2 n3") << "one for a launcher, as muster's own jobs have it";
  for (const char* of_no_hosts : {"6", "4(x2)", "4(x4)", "4(x4000000000)", "4(x2),", "4,x,1", "4(x2),1,", "-1(x3)",
                                  "4(x3", "", "99999999999(x3)"}) {
    const std::string seen = tasks(of_no_hosts, "9");
    EXPECT_TRUE(seen == "n1 n2 n3" || seen == "n1=4 n2=4 n3=1") << of_no_hosts << ": " << seen;
  }
}

TEST(Allocation, OfLsfReadsNamesAndCounts) {
  World world;
  world.variables = {{"LSB_JOBID", "101"}, {"LSB_MCPU_HOSTS", "hostA 1 hostB 16"}};
  const auto allocation = ReadAllocation(OwnPage("lsf"), world.Sources());
  ASSERT_TRUE(allocation) << allocation.error().front().message;
  EXPECT_EQ(Names(*allocation), "hostA,hostB");
  EXPECT_EQ(Tasks(*allocation), "hostA=1 hostB=16");
  world.variables["LSB_MCPU_HOSTS"] = "hostA 1 hostB";
  EXPECT_FALSE(ReadAllocation(OwnPage("lsf"), world.Sources()));
}

TEST(Allocation, OfFluxIsWhatItsBrokersSay) {
  World world;
  world.variables = {{"FLUX_URI", "local:///run/flux/local"}};
  world.outputs = {{"flux getattr jobid", "f2Cz9hKd\n"}, {"flux getattr hostlist", "n[1-3,9]\n"}};
  const auto allocation = ReadAllocation(OwnPage("flux"), world.Sources());
  ASSERT_TRUE(allocation) << allocation.error().front().message;
  EXPECT_EQ(allocation->job, "f2Cz9hKd");
  EXPECT_EQ(Names(*allocation), "n[1-3],n9");
}

TEST(Allocation, OfGridEngineIsItsHostFile) {
  World world;
  world.variables = {{"PE_HOSTFILE", "/tmp/pe"}, {"JOB_ID", "31"}};
  world.files = {{"/tmp/pe", "n1.site 1 all.q@n1.site UNDEFINED\nn2.site 1 all.q@n2.site UNDEFINED\n"}};
  const auto allocation = ReadAllocation(OwnPage("gridengine"), world.Sources());
  ASSERT_TRUE(allocation) << allocation.error().front().message;
  EXPECT_EQ(Names(*allocation), "n1.site,n2.site");
  EXPECT_EQ(Tasks(*allocation), "n1.site n2.site");
  world.files = {{"/tmp/pe", "n1.site 4 all.q@n1.site UNDEFINED\nn2.site 2 all.q@n2.site UNDEFINED\n"}};
  EXPECT_EQ(Tasks(*ReadAllocation(OwnPage("gridengine"), world.Sources())), "n1.site=4 n2.site=2");
}

TEST(Allocation, MissingVariablesAndStrangeListsAreTheMachinesFault) {
  World world;
  world.variables = {{"SLURM_JOB_ID", "1"}};
  const auto missing = ReadAllocation(OwnPage("slurm"), world.Sources());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().front().message, "slurm: SLURM_JOB_ID is set, and SLURM_JOB_NODELIST is not");
  EXPECT_EQ(missing.error().front().blame, Blame::kMachine);
  world.variables["SLURM_JOB_NODELIST"] = "n1;reboot";
  const auto strange = ReadAllocation(OwnPage("slurm"), world.Sources());
  ASSERT_FALSE(strange) << "the command that expands lists fails, too";
  world.variables["SLURM_JOB_ID"] = "";
  EXPECT_FALSE(IsInside(OwnPage("slurm"), world.Sources()));
}

TEST(Allocation, EntriesThatAreNoHostNamesAreRefused) {
  EXPECT_FALSE(ReadEngineHosts(OwnPage("pbs"), "n1\n-oProxyCommand=x\n"));
  EXPECT_FALSE(ReadEngineHosts(OwnPage("pbs"), "root@n1\n"));
  EXPECT_FALSE(ReadEngineHosts(OwnPage("pbs"), "\n \n"));
}

}  // namespace
}  // namespace muster
