#include "run/hosts/host_differences.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "muster/plan.h"
#include "run/hosts/inspection_report.h"

namespace muster {
namespace {

HostFacts Facts() {
  HostFacts facts;
  facts.muster = "1.0";
  facts.kernel = "6.1";
  facts.memory_bytes = 251ULL << 30;
  facts.limits = {{"nofile", 1024, 1'048'576}, {"nproc", 100, 100}};
  facts.disks = {{"/tmp", "/tmp", "ext4", 1ULL << 40, 1ULL << 39, 1'000'000, 900'000, ""}};
  facts.programs = {{"train", "/usr/bin/train", ""}};
  facts.variables = {{"PATH", "/usr/bin"}};
  return facts;
}

// Returns equal hosts n1, n2, ….
std::vector<InspectedHost> Hosts(std::size_t count) {
  std::vector<InspectedHost> hosts(count);
  for (std::size_t i = 0; i < count; ++i) {
    hosts[i].name = "n" + std::to_string(i + 1);
    hosts[i].facts = Facts();
  }
  return hosts;
}

std::vector<std::string> FaultTexts(std::span<const InspectedHost> hosts, std::span<const HostNeeds> needs = {}) {
  std::vector<std::string> texts;
  for (const HostFault& fault : CompareHosts(hosts, needs, "1.0").faults) {
    texts.push_back(fault.kind + ": " + fault.text + ": " + HostSetText(hosts, fault.hosts));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(HostDifferences, AreNoneBetweenEqualHosts) {
  const auto hosts = Hosts(3);
  const HostComparison comparison = CompareHosts(hosts, {}, "1.0");
  EXPECT_TRUE(comparison.faults.empty());
  EXPECT_TRUE(comparison.differences.empty());
  EXPECT_EQ(InspectionText(hosts, comparison), "3 hosts, 3 of them reached\nno faults\nno differences\n");
}

TEST(HostDifferences, AreReportedBySetsOfHosts) {
  auto hosts = Hosts(4);
  hosts[3].facts.kernel = "5.15";
  hosts[1].facts.variables.clear();
  EXPECT_EQ(CompareHosts(hosts, {}, "1.0").differences,
            (std::vector<HostDifference>{{"kernel", {{"6.1", {0, 1, 2}}, {"5.15", {3}}}},
                                         {"variable PATH", {{"/usr/bin", {0, 2, 3}}, {"not set", {1}}}}}));
  EXPECT_EQ(InspectionText(hosts, CompareHosts(hosts, {}, "1.0")),
            "4 hosts, 4 of them reached\nno faults\ndifferences\n"
            "  n[1-3]: kernel 6.1 · n4: kernel 5.15\n"
            "  n1,n[3-4]: variable PATH /usr/bin · n2: variable PATH not set\n");
}

TEST(HostDifferences, IgnorePropertiesUniqueToEachHost) {
  auto hosts = Hosts(2);
  hosts[0].facts.disks[0].free_bytes -= 12'345;
  hosts[0].facts.memory_bytes -= 4'096;
  hosts[0].facts.addresses = {"192.0.2.1"};
  EXPECT_TRUE(CompareHosts(hosts, {}, "1.0").differences.empty());
}

TEST(HostDifferences, OmitHostsWithoutFacts) {
  auto hosts = Hosts(3);
  hosts[0] = {};
  hosts[0].name = "n1";
  hosts[0].why = "no answer";
  hosts[1].facts.disks.clear();
  hosts[1].facts.programs.clear();
  hosts[1].missing = "its file systems and programs are not known: it took longer than 15 s";
  EXPECT_TRUE(CompareHosts(hosts, {}, "1.0").differences.empty());
  EXPECT_EQ(FaultTexts(hosts),
            (Texts{"unreachable: no answer: n1",
                   "unseen: its file systems and programs are not known: it took longer than 15 s: n2"}));
}

TEST(HostFaults, AreReportedOnceForAllTheirHosts) {
  auto hosts = Hosts(4);
  for (const std::size_t host : {0, 2, 3}) hosts[host].why = "permission denied";
  hosts[0].hint = "put your key into an agent";
  EXPECT_EQ(InspectionText(hosts, CompareHosts(hosts, {}, "1.0")),
            "4 hosts, 1 of them reached\nfaults\n  3 of 4 hosts: permission denied: n1,n[3-4]\n    effect: nothing can "
            "be started there\n    fix: put your key into an agent\n");
}

TEST(HostFaults, IncludeClocksThatDifferBeyondTheUncertainty) {
  auto hosts = Hosts(3);
  hosts[0].clock = {5'000'000'000, 1'000};
  hosts[1].clock = {-1'400'000'000, 500'000'000};  // within the uncertainty plus one second
  hosts[2].clock = {-1'600'000'000, 500'000'000};
  EXPECT_EQ(FaultTexts(hosts), (Texts{"clock: the clock is 5 s ahead of this machine's: n1",
                                      "clock: the clock is 2 s behind this machine's: n3"}));
}

TEST(HostFaults, IncludeFullDisks) {
  auto hosts = Hosts(4);
  hosts[0].facts.disks[0].free_bytes = kMinFreeBytes - 1;
  hosts[1].facts.disks[0].free_inodes = kMinFreeInodes - 1;
  hosts[2].facts.disks[0].inodes = hosts[2].facts.disks[0].free_inodes = 0;  // the file system does not count inodes
  hosts[3].facts.disks[0].error = "Permission denied";
  EXPECT_EQ(FaultTexts(hosts), (Texts{"disk: /tmp is full: less than 100 MiB are free: n1",
                                      "disk: /tmp is full: less than 1000 inodes are free: n2",
                                      "disk: /tmp cannot be used: Permission denied: n4"}));
}

// A folder that does not exist is examined by the one above it.
TEST(HostFaults, NameAFolderThatIsMissing) {
  auto hosts = Hosts(3);
  hosts[0].facts.disks.push_back({"/dev/shm", "/dev", "devtmpfs", 0, 0, 0, 0, "Permission denied"});
  hosts[1].facts.disks[0] = {"/tmp", "/", "ext4", 1ULL << 40, 1ULL << 39, 0, 0, "Permission denied"};
  hosts[2].facts.disks.push_back({"/dev/shm", "/dev/shm", "tmpfs", 1ULL << 30, 1ULL << 30, 0, 0, "Permission denied"});
  const auto faults = CompareHosts(hosts, {}, "1.0").faults;
  EXPECT_EQ(FaultTexts(hosts), (Texts{"disk: /dev/shm does not exist: n1", "disk: /tmp does not exist: n2",
                                      "disk: /dev/shm cannot be used: Permission denied: n3"}));
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[0].hint, "mount -t tmpfs tmpfs /dev/shm; in a container: --shm-size");
  EXPECT_EQ(faults[0].effect, "data loaders and collectives that share memory fail, often with SIGBUS");
  EXPECT_EQ(faults[1].hint, "mkdir -m 1777 /tmp");
  EXPECT_EQ(faults[2].hint, "let this user write there: ls -ld /dev/shm");
}

// Doctor looks where --ship-code writes; a run ships to that folder only if it is asked to, and finds out then.
TEST(HostQuestions, IncludeTheFolderOfShippedCodeIfDoctorAsks) {
  const auto folder = [](std::vector<std::string> environment, bool trials) {
    HostQuestion wanted;
    wanted.environment = std::move(environment);
    wanted.cwd = "/home/ann";
    wanted.trials = trials;
    std::string found;
    for (const auto& [what, path] : QuestionFor(Plan(), {}, wanted).places) {
      if (what == "folder of shipped code") found = path;
    }
    return found;
  };
  EXPECT_EQ(folder({"HOME=/home/ann"}, true), "/home/ann/.cache/muster/code");
  EXPECT_EQ(folder({"HOME=/home/ann", "XDG_CACHE_HOME=/scratch/ann"}, true), "/scratch/ann/muster/code");
  EXPECT_EQ(folder({}, true), "");
  EXPECT_EQ(folder({"HOME=/home/ann"}, false), "");
  auto hosts = Hosts(2);
  hosts[1].facts.disks.push_back({"folder of shipped code", "/home/ann", "nfs", 0, 0, 0, 0, "Read-only file system"});
  const auto faults = CompareHosts(hosts, {}, "1.0").faults;
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].text, "the folder of shipped code (/home/ann) cannot be used: Read-only file system");
  EXPECT_EQ(faults[0].effect, "--ship-code fails");
}

TEST(HostFaults, IncludeAgentsOfAnotherVersion) {
  auto hosts = Hosts(2);
  hosts[1].facts.muster = "0.9";
  EXPECT_EQ(FaultTexts(hosts), (Texts{"version: its muster-agent is 0.9, this muster 1.0: n2"}));
}

TEST(HostFaults, IncludeWhatAPlanNeedsAndAHostLacks) {
  auto hosts = Hosts(4);
  std::vector<HostNeeds> needs(4, {{"train"}, 4, 2});
  hosts[0].facts.programs[0] = {"train", "", "No such file or directory"};
  needs[1].programs.clear();
  hosts[1].facts.programs[0] = {"train", "", "No such file or directory"};  // no process on that host needs it
  hosts[2].facts.limits = {{"nofile", 43, 43}, {"nproc", 3, 3}};
  hosts[3].facts.devices = 1;
  hosts[3].facts.device_kind = "cuda";
  EXPECT_EQ(FaultTexts(hosts, needs),
            (Texts{"program: train cannot be started: No such file or directory: n1",
                   "limit: the hard limit nofile is 43: the agent needs 44 descriptors for 4 processes: n3",
                   "limit: the limit nproc is 3: the plan has 4 processes there: n3",
                   "devices: there are 1 devices (cuda), the plan needs 2: n4"}));
  hosts[2].facts.limits = {{"nofile", 44, 44}, {"nproc", 3, 3}};
  hosts[2].facts.root = true;  // root, to whom nproc does not apply
  EXPECT_EQ(FaultTexts(std::span(hosts).subspan(2, 1), std::span(needs).subspan(2, 1)), Texts{});
}

TEST(HostNeeds, AreThoseOfThePlansProcesses) {
  Plan plan;
  plan.hosts = {{"host0", 2}, {"host1", 0}};
  Role role;
  role.command = {"python3", "train.py"};
  plan.roles = {role, role};
  plan.roles[1].command = {"${muster:run_dir}/files/tool"};
  plan.processes.resize(3);
  plan.processes[1].host = 1;
  plan.processes[2].role = 1;
  const auto needs = NeedsOf(plan, plan.hosts.size() + 1);
  ASSERT_EQ(needs.size(), 3U);
  EXPECT_EQ(needs[2].programs, Texts{"python3"}) << "a spare may take either place";
  EXPECT_EQ(needs[2].processes, 2U);
  EXPECT_EQ(needs[2].devices, 0U) << "of which there are enough where one is named";
  EXPECT_EQ(needs[0].programs, Texts{"python3"});
  EXPECT_EQ(needs[0].processes, 2U);
  EXPECT_EQ(needs[0].devices, 2U);
  EXPECT_EQ(needs[1].processes, 1U);
  plan.activation = {{ActivationStep::Kind::kModule, "python"}};
  EXPECT_TRUE(NeedsOf(plan, 1)[0].programs.empty()) << "the activation may bring it";
}

TEST(HostNeeds, OfAContainerAreItsRuntime) {
  Plan plan;
  plan.hosts = {{"host0", 0}};
  Role role;
  role.command = {"python3", "train.py"};
  role.env = {{"PATH", "/inside"}};
  role.container.image = "train:1";
  role.container.runtime.run = {"podman", "run", "{image}"};
  plan.roles = {role};
  plan.processes.resize(2);
  EXPECT_EQ(NeedsOf(plan, 1)[0].programs, Texts{"podman"});
  EXPECT_EQ(NeedsOf(plan, 1)[0].processes, 2U);
}

TEST(RoughBytes, HasTwoDigits) {
  EXPECT_EQ(RoughBytes(0), "0 B");
  EXPECT_EQ(RoughBytes(251ULL << 30), "250 GiB");
  EXPECT_EQ(RoughBytes(64ULL << 20), "64 MiB");
  EXPECT_EQ(RoughBytes(3ULL << 39), "1.5 TiB");
}

TEST(InspectionReport, IsAvailableAsJson) {
  auto hosts = Hosts(2);
  hosts[1].why = "no answer";
  hosts[0].facts.variables["ODD"] = "\xff";
  const auto json = nlohmann::json::parse(InspectionJson(hosts, CompareHosts(hosts, {}, "1.0")));
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["hosts"][0]["facts"]["kernel"], "6.1");
  EXPECT_EQ(json["hosts"][0]["facts"]["limits"]["nofile"]["hard"], 1'048'576);
  EXPECT_EQ(json["hosts"][1]["reached"], false);
  EXPECT_TRUE(json["hosts"][1]["facts"].is_null());
  EXPECT_EQ(json["faults"][0]["hosts"], nlohmann::json::array({"n2"}));
}

TEST(HostFaults, FailARunOnlyIfCertain) {
  for (const char* kind : {"unreachable", "program", "limit", "devices"})
    EXPECT_TRUE(BreaksRun({kind, "", "", {0}})) << kind;
  for (const char* kind : {"clock", "unseen", "version", "disk"}) EXPECT_FALSE(BreaksRun({kind, "", "", {0}})) << kind;
}

TEST(HostFaults, AreReportedInOneLine) {
  const auto hosts = Hosts(4);
  EXPECT_EQ(HostFaultLine(hosts, {"disk", "/tmp is full", "", {0, 1}}), "2 of 4 hosts: /tmp is full: n[1-2]");
  EXPECT_EQ(HostDifferenceLine(hosts, {"kernel", {{"6.1", {0, 1, 2}}, {"5.15", {3}}}}),
            "n[1-3]: kernel 6.1 · n4: kernel 5.15");
}

TEST(Inspection, ReportsHostsThatFailedBefore) {
  const auto hosts = Hosts(2);
  const std::string text = InspectionText(hosts, CompareHosts(hosts, {}, "1.0"), {"n2 failed once"});
  EXPECT_NE(text.find("remembered\n  n2 failed once\n"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(InspectionJson(hosts, CompareHosts(hosts, {}, "1.0"), {"n2 failed once"}));
  EXPECT_EQ(json["remembered"], nlohmann::json::array({"n2 failed once"}));
}

}  // namespace
}  // namespace muster
