// Tests the parts of agent/usage/: sums over process trees, and texts of the vendors' tools.
#include <gtest/gtest.h>

#include "agent/devices/device_use.h"
#include "agent/parts/usage_samples.h"

namespace muster {
namespace {

using std::chrono::milliseconds;

TEST(UsageOfTrees, AddsDescendantsAndOrphansOfTheGroup) {
  const std::vector<KernelUsage> processes = {
      {1, 0, 1, 1'000, 1'000},  // init
      {10, 1, 10, 500, 500},    // the agent
      {20, 10, 20, 1, 100},     // the first root, …
      {21, 20, 20, 2, 200},     // … its child, …
      {22, 21, 22, 4, 400},     // … and a grandchild in a group of its own
      {23, 10, 20, 8, 800},     // an orphan of its group
      {30, 10, 30, 16, 1},      // the second root
      {40, 10, 40, 32, 3'200},  // another process
  };
  const auto usage = UsageOfTrees(processes, {20, 30, 99});
  EXPECT_EQ(usage, (std::map<pid_t, TreeUsage>{{20, {15, 1'500}}, {30, {16, 1}}}));
}

TEST(UsageOfTrees, EndsWithParentsInACycle) {
  EXPECT_EQ(UsageOfTrees({{2, 3, 2, 1, 1}, {3, 2, 3, 1, 1}, {4, 1, 4, 5, 6}}, {4}),
            (std::map<pid_t, TreeUsage>{{4, {5, 6}}}));
}

TEST(UsageOfTrees, CountsThisProcess) {
  const auto usage = UsageOfTrees(ReadKernelUsage(), {::getpid()});
  ASSERT_EQ(usage.size(), 1U);
  EXPECT_GT(usage.at(::getpid()).rss_pages, 100U);
}

TEST(UsageInterval, GrowsWithTheTimeUpToAMinute) {
  EXPECT_EQ(UsageInterval(milliseconds(5'000), milliseconds(0)), milliseconds(5'000));
  EXPECT_EQ(UsageInterval(milliseconds(5'000), milliseconds(600'000)), milliseconds(5'000));
  EXPECT_EQ(UsageInterval(milliseconds(5'000), milliseconds(1'200'000)), milliseconds(10'000));
  EXPECT_EQ(UsageInterval(milliseconds(5'000), milliseconds(1'000'000'000)), milliseconds(60'000));
  EXPECT_EQ(UsageInterval(milliseconds(90'000), milliseconds(1'000'000'000)), milliseconds(90'000));
}

TEST(DeviceMemory, ReadsWhatNvidiaSmiPrints) {
  const DeviceMemory memory =
      ParseDeviceMemory("cuda", "0, GPU-aa, 1234\n1, GPU-bb, [N/A]\nFailed to initialize NVML: x\n3, GPU-cc, 7\r\n");
  EXPECT_EQ(memory, (DeviceMemory{{"0", 1234 * 1024}, {"GPU-aa", 1234 * 1024}, {"3", 7 * 1024}, {"GPU-cc", 7 * 1024}}));
  EXPECT_EQ(MemoryOf({"0", "3"}, memory), 1241U * 1024);
  EXPECT_EQ(MemoryOf({"0", "1"}, memory), std::nullopt) << "of one of them nothing is known";
  EXPECT_EQ(MemoryOf({}, memory), std::nullopt);
}

TEST(DeviceMemory, ReadsTheTableOfNpuSmi) {
  const DeviceMemory memory = ParseDeviceMemory("ascend", R"(
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc1                 Version: 24.1.rc1                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 4     910B3               | OK            | 86.8        38                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3162 / 65536         |
+===========================+===============+====================================================+
| 6     910B3               | OK            | 103.1       37                0    / 0             |
| 0                         | 0000:19:00.0  | 0           0    / 0          59351/ 65536         |
+===========================+===============+====================================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 6       0                 | 4711          | python                   | 56000                   |
)");
  EXPECT_EQ(memory, (DeviceMemory{{"0", 3162 * 1024}, {"1", 59351 * 1024}})) << "in the numbering of processes";
}

// "0: 7 python3, 8; 1: 9": pids and names by device.
std::string Users(std::string_view kind, const std::vector<std::string>& outputs) {
  std::string text;
  for (const auto& [device, processes] : ParseDeviceProcesses(kind, outputs)) {
    text += (text.empty() ? "" : "; ") + device + ":";
    for (const DeviceProcess& process : processes)
      text += (text.ends_with(':') ? " " : ", ") + std::to_string(process.pid) +
              (process.name.empty() ? "" : " " + process.name);
  }
  return text;
}

TEST(DeviceProcesses, AreThoseThatNvidiaSmiPrints) {
  ASSERT_EQ(DeviceProcessCommands("cuda").size(), 2U);
  EXPECT_EQ(Users("cuda",
                  {"0, GPU-aa\n1, GPU-bb\n",
                   "GPU-bb, 4711, /usr/bin/python3\r\nGPU-bb, 12, a, b\nGPU-cc, 9\nGPU-aa, [N/A], x\nGPU-aa, -1, x\n"}),
            "1: 4711 python3, 12 a; GPU-bb: 4711 python3, 12 a; GPU-cc: 9");
  EXPECT_EQ(Users("cuda", {"Failed to initialize NVML: x\n", "No devices were found\n"}), "");
  EXPECT_EQ(Users("cuda", {"0, GPU-aa\n"}), "") << "one answer is missing";
}

TEST(DeviceProcesses, AreThoseOfTheSecondTableOfNpuSmi) {
  EXPECT_EQ(Users("ascend", {R"(
+------------------------------------------------------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 2     Ascend910           | OK            | 165.4       36                0    / 0             |
| 0     4                   | 0000:9D:00.0  | 0           0    / 0          3123 / 65536         |
+------------------------------------------------------------------------------------------------+
| 2     Ascend910           | OK            | -           35                0    / 0             |
| 1     5                   | 0000:9F:00.0  | 0           0    / 0          2876 / 65536         |
+===========================+===============+====================================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 2       1                 | 632268        | python3.1                | 197                     |
| 2       7                 | 632269        | python3.1                | 197                     |
+===========================+===============+====================================================+
| No running processes found in NPU 3                                                            |
)"}),
            "1: 632268 python3.1");
}

TEST(DeviceProcesses, AreThoseThatRocmSmiPrints) {
  EXPECT_EQ(
      Users("hip", {"===== GPUs Indexed by PID =====\nPID 71 is using 2 DRM device(s):\n0 3 \nPID 72 is using 0 DRM "
                    "device(s)\n\n=====\n"}),
      "0: 71; 3: 71");
}

TEST(DeviceProcesses, AreNoneInOtherTexts) {
  for (const std::string& text :
       {std::string(100'000, '|'), std::string(100'000, ','), std::string(100'000, '\n'),
        std::string("| 1 1 | 99999999999999 | x | 1 |\n"), std::string("PID 4 is using\nx")}) {
    EXPECT_EQ(Users("ascend", {text}), "");
    EXPECT_EQ(Users("hip", {text}), "");
    EXPECT_EQ(Users("cuda", {text, text}), "");
    EXPECT_EQ(Users("other", {text}), "");
  }
}

TEST(DeviceMemory, TakesNothingFromOtherTexts) {
  for (const char* text :
       {"", "|", "|||||", "| a | b:c | / |", "| a | b:c | 1 |", "0, 1", ",,", "0,x,99999999999999999999"}) {
    EXPECT_TRUE(ParseDeviceMemory("ascend", text).empty()) << text;
    EXPECT_TRUE(ParseDeviceMemory("cuda", text).empty()) << text;
    EXPECT_TRUE(ParseDeviceMemory("hip", text).empty()) << text;
  }
}

}  // namespace
}  // namespace muster
