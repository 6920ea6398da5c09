// Tests counting of devices, on file trees that mimic real hosts.
#include "base/system/host_devices.h"

#include <gtest/gtest.h>

#include "support/file_content.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

TEST(HostDevices, AreCountedByTheirFilesInDev) {
  const testing::TempDir root;
  for (const char* name : {"nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm", "nvidia", "null"}) {
    testing::PutContent(root / (std::string("dev/") + name), "");
  }
  EXPECT_EQ(CountDevices("cuda", root / ""), (HostDeviceCount{"cuda", 3}));
  EXPECT_EQ(CountDevices("", root / ""), (HostDeviceCount{"cuda", 3}));
  EXPECT_EQ(CountDevices("ascend", root / ""), HostDeviceCount{});
  for (const char* name : {"davinci0", "davinci7", "davinci_manager"})
    testing::PutContent(root / (std::string("dev/") + name), "");
  EXPECT_EQ(CountDevices("ascend", root / ""), (HostDeviceCount{"ascend", 2}));
}

TEST(HostDevices, OfTheKfdTopologyCountOnlyWhereTheyCompute) {
  const testing::TempDir root;
  const std::string nodes = root / "sys/class/kfd/kfd/topology/nodes/";
  testing::PutContent(nodes + "0/properties", "cpu_cores_count 64\nsimd_count 0\n");
  testing::PutContent(nodes + "1/properties", "cpu_cores_count 0\nsimd_count 440\n");
  testing::PutContent(nodes + "2/properties", "cpu_cores_count 0\nsimd_count 440\n");
  EXPECT_EQ(CountDevices("hip", root / ""), (HostDeviceCount{"hip", 2}));
}

TEST(HostDevices, CountIsReadFromANumberOnly) {
  EXPECT_EQ(ParseDeviceCount("8"), 8U);
  EXPECT_EQ(ParseDeviceCount("0"), 0U);
  for (const char* text : {"", "-1", "eight", "8 ", "4097"}) EXPECT_FALSE(ParseDeviceCount(text)) << text;
}

}  // namespace
}  // namespace muster
