// Tests which processes are reported as users of devices, with files that stand for the device nodes.
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/devices/device_use.h"
#include "base/system/unique_fd.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

TEST(DeviceUsers, AreTheProcessesThatHaveTheNodeOpen) {
  const testing::TempDir root;
  std::filesystem::create_directories(root / "dev");
  for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "davinci2"})
    std::ofstream(root / (std::string("dev/") + name));
  const UniqueFd one(::open((root / "dev/nvidia1").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd control(::open((root / "dev/nvidiactl").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd two(::open((root / "dev/davinci2").c_str(), O_RDONLY | O_CLOEXEC));
  const auto cuda = DeviceUsers("cuda", 0, root / "");
  ASSERT_EQ(cuda.size(), 1U);
  EXPECT_EQ(cuda.begin()->first, 1U);
  EXPECT_NE(cuda.begin()->second.find("pid " + std::to_string(::getpid()) + " ("), std::string::npos);
  EXPECT_TRUE(DeviceUsers("ascend", 0, root / "").contains(2));
  EXPECT_TRUE(DeviceUsers("cuda", ::getpid(), root / "").empty()) << "the caller's own are none of another";
  EXPECT_TRUE(DeviceUsers("", 0, root / "").empty());
}

}  // namespace
}  // namespace muster
