// Tests the content of site files, mistakes that are refused, and merging of several files.
#include "plan/environment/site_file.h"

#include <gtest/gtest.h>

#include "plan/environment/inherited_environment.h"

namespace muster {
namespace {

const SiteFile kFile{"muster.site.lua", "/project", "/home/ann", SiteLevel::kProject};

Value Table(Value::Map map) { return Value(std::move(map)); }

std::vector<std::string> Problems(const Value& table, const std::map<std::string, std::uint32_t>& lines = {}) {
  const auto facts = ReadSiteFacts(kFile, table, lines);
  std::vector<std::string> reported;
  if (facts) return reported;
  for (const Diagnostic& problem : facts.error()) {
    reported.push_back(problem.place.file + ":" + std::to_string(problem.place.line) + " " + problem.kind + ": " +
                       problem.message + (problem.hint.empty() ? "" : " [" + problem.hint + "]"));
  }
  return reported;
}

using Lines = std::vector<std::string>;

TEST(SiteFile, ReportsALimitedNumberOfProblems) {
  Value::Map many;
  for (int i = 0; i < 1'000; ++i) many["unknown" + std::to_string(i)] = Value(i);
  EXPECT_EQ(Problems(Table(std::move(many))).size(), 20U);
}

TEST(SiteFile, RecordsTheLineOfEachFact) {
  const auto facts = ReadSiteFacts(kFile,
                                   Table({{"hosts", Value(Value::List{Value("n[1-2]:8"), Value("n5")})},
                                          {"devices", Value(4)},
                                          {"memory", Value("512GiB")},
                                          {"transport", Value("ssh")},
                                          {"run_root", Value("runs")},
                                          {"access", Value("group")},
                                          {"rules", Value("~/policy.lua")},
                                          {"libraries", Table({{"@acme", Value("lib")}, {"zoo", Value("/opt/zoo")}})}}),
                                   {{"hosts", 4}, {"libraries", 9}, {"libraries.@acme", 10}});
  ASSERT_TRUE(facts) << facts.error().front().message;
  ASSERT_EQ(facts->hosts.size(), 3U);
  EXPECT_EQ(facts->hosts[2].name, "n5");
  EXPECT_EQ(facts->devices, 4U);
  EXPECT_EQ(facts->memory, std::uint64_t{512} << 30);
  EXPECT_EQ(facts->transport, SiteTransport::kSsh);
  EXPECT_EQ(facts->run_root, "/project/runs");
  EXPECT_EQ(facts->access, SiteAccess::kGroup);
  EXPECT_EQ(facts->rules, "/home/ann/policy.lua");
  EXPECT_EQ(facts->libraries, (std::map<std::string, std::string>{{"acme", "/project/lib"}, {"zoo", "/opt/zoo"}}));
  EXPECT_EQ(facts->sources.at("hosts"), "muster.site.lua:4 (project site file)");
  EXPECT_EQ(facts->sources.at("libraries.acme"), "muster.site.lua:10 (project site file)");
  EXPECT_EQ(facts->places.at("libraries.zoo").line, 9U) << "the table's, where the key is not written out";
}

TEST(SiteFile, ReportsEveryMistakeAtItsLine) {
  EXPECT_EQ(
      Problems(Table({{"host", Value("n1")}, {"devices", Value(-1)}, {"memory", Value("much")}}),
               {{"host", 3}, {"devices", 4}}),
      (Lines{
          "muster.site.lua:4 range: devices must be the number of a host's devices, 0 to 4096, got -1 [devices = 8]",
          "muster.site.lua:3 unknown_key: a site file has no host [did you mean \"hosts\"?]",
          "muster.site.lua:0 range: memory must be the size of a host's memory, got \"much\" [memory = \"512GiB\"]"}));
  EXPECT_EQ(Problems(Table({{"hosts", Value("n1")}, {"hostfile", Value("h.txt")}}), {{"hostfile", 2}}),
            (Lines{"muster.site.lua:2 conflict: hosts and hostfile both name the hosts [leave one of them out]"}));
  EXPECT_EQ(
      Problems(Table({{"transport", Value("shh")}}), {}),
      (Lines{"muster.site.lua:0 enum: transport must be \"local\" or \"ssh\", got \"shh\" [did you mean \"ssh\"?]"}));
  EXPECT_EQ(Problems(Table({{"environment", Table({{"sett", Table({})}})}}), {{"environment", 6}}),
            (Lines{"muster.site.lua:6 unknown_key: environment of a site file has no sett [did you mean \"set\"?]"}));
  EXPECT_EQ(Problems(Table({{"libraries", Table({{"rules", Value("x")}})}})).size(), 1U);
  EXPECT_EQ(Problems(Table({{"environment", Table({{"unset", Value(Value::List{Value("A*B")})}})}})).size(), 1U);
  EXPECT_EQ(Problems(Table({{"environment", Table({{"set", Table({{"MUSTER_RANK", Value("1")}})}})}})).size(), 1U);
  EXPECT_EQ(Problems(Table({{"hosts", Value("-x")}})).size(), 1U);
  EXPECT_EQ(Problems(Value("x")).size(), 1U);
}

TEST(SiteFile, KeepsOptionsOfEnginesWithTheirLines) {
  const auto facts =
      ReadSiteFacts(kFile, Table({{"slurm", Table({{"partition", Value("gpu")}, {"time", Value("12h")}})}}),
                    {{"slurm", 3}, {"slurm.time", 5}});
  ASSERT_TRUE(facts) << facts.error().front().message;
  EXPECT_EQ(facts->engines.at("slurm").at("partition"), Value("gpu"));
  EXPECT_EQ(facts->places.at("slurm.time").line, 5U);
  EXPECT_EQ(facts->sources.at("slurm.partition"), "muster.site.lua:3 (project site file)");
  EXPECT_EQ(Problems(Table({{"slurm", Value("gpu")}}), {{"slurm", 2}}),
            (Lines{"muster.site.lua:2 type: slurm is a table of options, got \"gpu\" [slurm = { partition = \"gpu\", "
                   "account = \"physics\" }]"}));
}

TEST(SiteFiles, MergeOptionsOfEnginesOneByOne) {
  const auto near = ReadSiteFacts(kFile, Table({{"slurm", Table({{"partition", Value("gpu")}})}}), {});
  const auto far =
      ReadSiteFacts(kFile, Table({{"slurm", Table({{"partition", Value("all")}, {"qos", Value("high")}})}}), {});
  ASSERT_TRUE(near && far);
  const std::vector both = {*near, *far};
  const SiteFacts merged = MergedSiteFacts(both);
  EXPECT_EQ(merged.engines.at("slurm"),
            (std::map<std::string, Value>{{"partition", Value("gpu")}, {"qos", Value("high")}}));
}

TEST(SiteFiles, AreMergedFieldByFieldPreferringNearerFiles) {
  SiteFacts project;
  project.devices = 2;
  project.environment.set = {{"A", "near"}};
  project.hostfile = "/h";
  project.sources = {{"devices", "p"}, {"environment.set.A", "p"}, {"hostfile", "p"}};
  SiteFacts system;
  system.devices = 8;
  system.memory = 1;
  system.hosts = {{"n1", {}, {}}};
  system.environment.set = {{"A", "far"}, {"B", "far"}};
  system.sources = {
      {"devices", "s"}, {"memory", "s"}, {"hosts", "s"}, {"environment.set.A", "s"}, {"environment.set.B", "s"}};
  const SiteFacts merged = MergedSiteFacts(std::vector{project, system});
  EXPECT_EQ(merged.devices, 2U);
  EXPECT_EQ(merged.memory, 1U);
  EXPECT_TRUE(merged.hosts.empty()) << "the nearer file's hostfile says which hosts there are";
  EXPECT_EQ(merged.environment.set, (std::map<std::string, std::string>{{"A", "near"}, {"B", "far"}}));
  EXPECT_EQ(merged.sources.at("environment.set.A"), "p");
  EXPECT_EQ(merged.sources.at("environment.set.B"), "s");
}

TEST(SiteEnvironment, PassesUnsetsAndSetsInThatOrder) {
  SiteEnvironment site;
  const std::vector<std::string> inherited = {"PATH=/bin", "HOME=/h", "OMPI_A=1", "OMPI_B=2", "X=y"};
  EXPECT_EQ(InheritedAtSite(site, inherited), inherited);
  site.unset = {"OMPI_*"};
  site.set = {{"X", "site"}, {"NEW", "1"}};
  EXPECT_EQ(InheritedAtSite(site, inherited), (Lines{"PATH=/bin", "HOME=/h", "NEW=1", "X=site"}));
  site.pass = {"HOME", "OMPI_*"};
  EXPECT_EQ(InheritedAtSite(site, inherited), (Lines{"PATH=/bin", "HOME=/h", "NEW=1", "X=site"}))
      << "PATH always passes, and what passes may be removed";
  site.unset.clear();
  site.set.clear();
  EXPECT_EQ(InheritedAtSite(site, inherited), (Lines{"PATH=/bin", "HOME=/h", "OMPI_A=1", "OMPI_B=2"}));
}

}  // namespace
}  // namespace muster
