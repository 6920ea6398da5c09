// Tests which devices the caller's variables leave visible, on hosts simulated by file trees.
#include <map>

#include <gtest/gtest.h>

#include "base/system/host_devices.h"
#include "support/file_content.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

using Variables = std::map<std::string, std::string>;
using Names = std::vector<std::string>;

class Sight : public ::testing::Test {
 protected:
  VisibleDevices Of(const std::string& kind, const Variables& variables = {}, std::uint32_t wanted = 4) {
    return FindVisibleDevices(
        kind, wanted,
        [&](const char* name) {
          const auto found = variables.find(name);
          return found == variables.end() ? nullptr : found->second.c_str();
        },
        root_ / "");
  }
  static Names NamesOf(const VisibleDevices& sight) {
    Names names;
    for (const HostDevice& device : sight.devices) names.push_back(device.name);
    return names;
  }
  static Names LeasesOf(const VisibleDevices& sight) {
    Names names;
    for (const HostDevice& device : sight.devices) names.push_back(device.lease);
    return names;
  }
  void Gpus(int count) {
    for (int i = 0; i < count; ++i) testing::PutContent(root_ / ("dev/nvidia" + std::to_string(i)), "");
  }

  testing::TempDir root_;
};

TEST_F(Sight, IsEveryDeviceOfTheHostWithoutVariables) {
  EXPECT_EQ(NamesOf(Of("cuda")), (Names{"0", "1", "2", "3"})) << "nothing is known: what the plan takes for granted";
  EXPECT_EQ(Of("cuda").limit, "");
  Gpus(2);
  EXPECT_EQ(NamesOf(Of("cuda")), (Names{"0", "1"}));
  EXPECT_EQ(Of("cuda").limit, "this host has 2");
  EXPECT_EQ(NamesOf(Of("cuda", {{"MUSTER_HOST_DEVICES", "3"}})), (Names{"0", "1", "2"}));
  EXPECT_TRUE(Of("cuda", {{"MUSTER_HOST_DEVICES", "0"}}).devices.empty());
}

TEST_F(Sight, NumbersVisibleDevicesInTheCallersOrder) {
  Gpus(8);
  const VisibleDevices sight = Of("cuda", {{"CUDA_VISIBLE_DEVICES", "5, 2,3"}});
  EXPECT_EQ(NamesOf(sight), (Names{"5", "2", "3"}));
  EXPECT_EQ(LeasesOf(sight), (Names{"5", "2", "3"}));
  EXPECT_EQ(sight.limit, "CUDA_VISIBLE_DEVICES=5, 2,3");
  EXPECT_EQ(NamesOf(Of("ascend", {{"ASCEND_RT_VISIBLE_DEVICES", "4,6"}, {"CUDA_VISIBLE_DEVICES", "1"}})),
            (Names{"4", "6"}))
      << "the variable of another kind says nothing";
}

TEST_F(Sight, IsEmptyForAnEmptyListAndEndsAtAnInvalidWord) {
  Gpus(4);
  EXPECT_TRUE(Of("cuda", {{"CUDA_VISIBLE_DEVICES", ""}}).devices.empty());
  EXPECT_TRUE(Of("cuda", {{"CUDA_VISIBLE_DEVICES", "-1"}}).devices.empty());
  EXPECT_EQ(NamesOf(Of("cuda", {{"CUDA_VISIBLE_DEVICES", "1,-1,2"}})), Names{"1"});
  EXPECT_EQ(NamesOf(Of("cuda", {{"CUDA_VISIBLE_DEVICES", "1,4,2"}})), Names{"1"}) << "there is no 4";
}

TEST_F(Sight, KeepsUuidsAndLeasesTheirDevices) {
  Gpus(2);
  testing::PutContent(root_ / "proc/driver/nvidia/gpus/0000:3b:00.0/information",
                      "Model: \t X\nGPU UUID: \t GPU-aaaa-1111\n");
  testing::PutContent(root_ / "proc/driver/nvidia/gpus/0000:af:00.0/information",
                      "Model: \t X\nGPU UUID: \t GPU-bbbb-2222\n");
  testing::PutContent(root_ / "sys/bus/pci/devices/0000:3b:00.0/numa_node", "0\n");
  testing::PutContent(root_ / "sys/bus/pci/devices/0000:af:00.0/numa_node", "1\n");
  const VisibleDevices sight = Of("cuda", {{"CUDA_VISIBLE_DEVICES", "GPU-bbbb,GPU-aaaa-1111,MIG-cc/1/0"}});
  EXPECT_EQ(NamesOf(sight), (Names{"GPU-bbbb", "GPU-aaaa-1111", "MIG-cc/1/0"}));
  EXPECT_EQ(LeasesOf(sight), (Names{"1", "0", "MIG-cc_1_0"}));
  EXPECT_EQ(sight.devices[0].node, 1U);
  EXPECT_EQ(sight.devices[1].node, 0U);
  EXPECT_EQ(LeasesOf(Of("cuda", {{"CUDA_VISIBLE_DEVICES", "GPU-"}})), Names{"GPU-"}) << "of both: it names itself";
}

TEST_F(Sight, OfHipIndexesTheDevicesThatRocrLeavesVisible) {
  for (int node = 0; node < 5; ++node) {
    testing::PutContent(
        root_ / ("sys/class/kfd/kfd/topology/nodes/" + std::to_string(node) + "/properties"),
        node == 0 ? "simd_count 0\n" : "simd_count 440\nlocation_id " + std::to_string(256 * node) + "\ndomain 0\n");
  }
  testing::PutContent(root_ / "sys/bus/pci/devices/0000:04:00.0/numa_node", "1\n");
  const VisibleDevices sight = Of("hip", {{"ROCR_VISIBLE_DEVICES", "1,3"}});
  EXPECT_EQ(NamesOf(sight), (Names{"0", "1"}));
  EXPECT_EQ(LeasesOf(sight), (Names{"1", "3"}));
  EXPECT_EQ(sight.devices[1].node, 1U) << "bus 4 is the fourth that computes";
  const VisibleDevices both = Of("hip", {{"ROCR_VISIBLE_DEVICES", "1,3"}, {"HIP_VISIBLE_DEVICES", "1"}});
  EXPECT_EQ(NamesOf(both), Names{"1"});
  EXPECT_EQ(LeasesOf(both), Names{"3"});
}

}  // namespace
}  // namespace muster
