// Tests reading cores and quotas from trees of /sys and /proc in the kernel's format.
#include "agent/devices/host_cores.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sched.h>

#include "support/temp_dir.h"

namespace muster {
namespace {

using Groups = std::vector<std::vector<std::uint32_t>>;

void Write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(HostCores, OfTwoNodesWithTwoThreadsPerCore) {
  const testing::TempDir root;
  Write(root / "sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
  Write(root / "sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
  Write(root / "sys/devices/system/node/possible", "0-1\n");
  for (int core = 0; core < 8; ++core) {
    Write(root / ("sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list"),
          std::to_string(core % 4) + "," + std::to_string(core % 4 + 4) + "\n");
  }
  const HostCores all = ReadHostCores({0, 1, 2, 3, 4, 5, 6, 7}, root / "");
  ASSERT_EQ(all.nodes.size(), 2U);
  EXPECT_EQ(all.nodes[0].groups, (Groups{{0, 4}, {1, 5}}));
  EXPECT_EQ(all.nodes[1].id, 1U);
  EXPECT_EQ(all.nodes[1].groups, (Groups{{2, 6}, {3, 7}}));
  EXPECT_FALSE(all.quota);
  const HostCores some = ReadHostCores({3, 4, 6}, root / "");
  EXPECT_EQ(some.nodes[0].groups, Groups{{4}});
  EXPECT_EQ(some.nodes[1].groups, (Groups{{3}, {6}})) << "of each core one thread is ours";
}

TEST(HostCores, WithoutTopologyAreOnOneNode) {
  const testing::TempDir root;
  const HostCores cores = ReadHostCores({0, 2}, root / "");
  ASSERT_EQ(cores.nodes.size(), 1U);
  EXPECT_EQ(cores.nodes[0].groups, (Groups{{0}, {2}}));
}

TEST(HostCores, QuotaIsTheSmallestOfTheGroupAndItsParents) {
  const testing::TempDir root;
  Write(root / "proc/self/mountinfo", "25 30 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  Write(root / "proc/self/cgroup", "0::/jobs/one\n");
  Write(root / "sys/fs/cgroup/cpu.max", "max 100000\n");
  Write(root / "sys/fs/cgroup/jobs/one/cpu.max", "max 100000\n");
  EXPECT_FALSE(ReadHostCores({0}, root / "").quota);
  Write(root / "sys/fs/cgroup/jobs/cpu.max", "250000 100000\n");
  EXPECT_EQ(ReadHostCores({0}, root / "").quota, 2.5);
  Write(root / "sys/fs/cgroup/jobs/one/cpu.max", "400000 100000\n");
  EXPECT_EQ(ReadHostCores({0}, root / "").quota, 2.5);
}

TEST(HostCores, QuotaOfVersionOneIsReadToo) {
  const testing::TempDir root;
  Write(root / "proc/self/mountinfo",
        "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "32 30 0:28 /docker/a1 /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  Write(root / "proc/self/cgroup", "5:memory:/docker/a1\n4:cpu,cpuacct:/docker/a1\n");
  Write(root / "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  Write(root / "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(ReadHostCores({0}, root / "").quota);
  Write(root / "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(ReadHostCores({0}, root / "").quota, 1.5);
}

TEST(HostCores, OfThisProcessAreThoseOfItsAffinity) {
  cpu_set_t before = {};
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<std::uint32_t> all = OwnCores();
  EXPECT_EQ(all.size(), static_cast<std::size_t>(CPU_COUNT(&before)));
  cpu_set_t one = {};
  CPU_SET(all.back(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(OwnCores(), std::vector<std::uint32_t>{all.back()});
  ::sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace muster
