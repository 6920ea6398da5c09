#include "agent/host/host_inspection.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "support/await.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

using testing::TempDir;

class Root {
 public:
  void File(const std::string& name, const std::string& content) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }
  std::string path() const { return folder_.path() + '/'; }

 private:
  TempDir folder_;
};

TEST(HostFacts, AreReadFromTheFilesOfTheHost) {
  Root root;
  root.File("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  root.File("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  root.File("proc/meminfo", "MemTotal:       16384 kB\nMemFree:   1 kB\n");
  root.File("dev/nvidia0", "");
  root.File("dev/nvidia1", "");
  root.File("dev/nvidiactl", "");
  const HostFacts facts =
      ReadHostFacts({"PATH", "CUDA_*"}, {"PATH=/bin", "PATHS=no", "CUDA_HOME=/a=b", "HOME=/root"}, root.path());
  EXPECT_EQ(facts.system, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(facts.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(facts.memory_bytes, 16U << 20);
  EXPECT_EQ(facts.device_kind, "cuda");
  EXPECT_EQ(facts.devices, 2U);
  EXPECT_EQ(facts.variables, (std::map<std::string, std::string>{{"PATH", "/bin"}, {"CUDA_HOME", "/a=b"}}));
  EXPECT_EQ(facts.limits.size(), 5U);
  EXPECT_GT(facts.cores, 0U);
}

TEST(HostFacts, AreEmptyWithoutFiles) {
  const Root root;
  const HostFacts facts = ReadHostFacts({}, {}, root.path());
  EXPECT_EQ(facts.kernel, "");
  EXPECT_EQ(facts.memory_bytes, 0U);
  EXPECT_EQ(facts.devices, 0U);
  EXPECT_TRUE(ReadDrivers(root.path()).empty());
}

TEST(HostFacts, RecogniseDriversByTheirVendorsFiles) {
  using Drivers = std::map<std::string, std::string>;
  Root root;
  root.File("sys/module/nvidia/version", "470.1\n");
  root.File("sys/module/amdgpu/version", "6.3.6\n");
  root.File("usr/local/Ascend/driver/version.info", "Version=23.0.rc2\nascendhal_version=7.35\n");
  EXPECT_EQ(ReadDrivers(root.path()), (Drivers{{"cuda", "470.1"}, {"hip", "6.3.6"}, {"ascend", "23.0.rc2"}}));
  root.File("proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023\nGCC version:\n");
  root.File("etc/ascend_install.info", "UserName=x\nDriver_Install_Path_Param=/opt/npu\n");
  root.File("opt/npu/driver/version.info", "Version=24.1\r\n");
  EXPECT_EQ(ReadDrivers(root.path()), (Drivers{{"cuda", "535.54.03"}, {"hip", "6.3.6"}, {"ascend", "24.1"}}));
}

TEST(HostFacts, NameTheFileSystemOfAFolderToBeCreated) {
  const TempDir folder;
  const DiskFact disk = CheckDisk({"run directory", folder / "not/there/yet"});
  EXPECT_EQ(disk.what, "run directory");
  EXPECT_EQ(disk.path, folder.path());
  EXPECT_EQ(disk.error, "");
  EXPECT_GT(disk.bytes, 0U);
  EXPECT_LE(disk.free_bytes, disk.bytes);
}

TEST(HostFacts, FindProgramsOnTheSamePathAsAStart) {
  EXPECT_EQ(FindProgramOnHost({"sh", "/no:/bin"}, {}, "/"), (ProgramFact{"sh", "/bin/sh", ""}));
  EXPECT_EQ(FindProgramOnHost({"bin/sh", ""}, {}, "/"), (ProgramFact{"bin/sh", "//bin/sh", ""}));
  EXPECT_EQ(FindProgramOnHost({"no-such-program", "/bin"}, {"/usr"}, "/"),
            (ProgramFact{"no-such-program", "", "No such file or directory"}));
}

TEST(HostTrials, ReportDeviceNodesAndPortRange) {
  Root root;
  root.File("dev/nvidia0", "");
  root.File("dev/nvidia-uvm", "");
  root.File("dev/nvidia-caps", "");
  root.File("dev/davinci_x", "");
  root.File("proc/sys/net/ipv4/ip_local_port_range", "40000\t40099\n");
  std::map<std::string, std::string> nodes;
  std::string ports;
  for (const HostCheck& trial : TryHost(root.path())) {
    if (trial.kind == "node") nodes[trial.what] = trial.error;
    if (trial.kind == "ports") ports = trial.error;
  }
  EXPECT_EQ(nodes, (std::map<std::string, std::string>{{"/dev/nvidia-uvm", ""}, {"/dev/nvidia0", ""}}));
  EXPECT_EQ(ports, "100 ports, 40000 to 40099");
}

TEST(HostTrials, LeaveNothingBehind) {
  const auto before = TryHost();
  EXPECT_EQ(TryHost(), before) << "the second time nothing is in the way";
}

TEST(HostTrials, CheckTheAddressOfTheHostsName) {
  EXPECT_EQ(NameTrial("n1", "10.0.0.1 STREAM n1\n10.0.0.1 DGRAM\n", true), (HostCheck{"name", "n1", ""}));
  EXPECT_EQ(NameTrial("n1", "", false), (HostCheck{"name", "n1", "it has no address"}));
  EXPECT_EQ(NameTrial("n1", "127.0.1.1 STREAM n1\n", true),
            (HostCheck{"name", "n1", "it is 127.0.1.1, which other hosts cannot reach"}));
}

TEST(PythonOutput, IsFoundBetweenOtherOutput) {
  const std::string output =
      "Welcome!\nmuster-python\tversion\t3.11.2\nmuster-python\tpackage\tnumpy\t1.26.4\nhm\nmuster-python\twhole\n";
  EXPECT_EQ(ParsePythonOutput("python3", output), (PythonFact{"python3", "3.11.2", {{"numpy", "1.26.4"}}, ""}));
  for (std::size_t size = 0; size + 1 < output.size(); ++size) {
    EXPECT_NE(ParsePythonOutput("python3", output.substr(0, size)).error, "") << size;
  }
}

class HostInspectionTest : public ::testing::Test {
 protected:
  Inspected Ask(Inspect command, std::uint32_t within_ms = 60'000) {
    command.cwd = folder_.path();
    command.within_ms = within_ms;
    command.environment = {"PATH=" + folder_.path() + ":/usr/bin:/bin"};
    rlimit files = {};
    ::getrlimit(RLIMIT_NOFILE, &files);
    std::optional<Inspected> reported;
    bool idle = false;
    HostInspection inspection(
        io_, launcher_, std::string(MUSTER_BIN_DIR) + "/muster-agent",
        {.done = [&](const Inspected& answer) { reported = answer; }, .idle = [&] { idle = true; }});
    inspection.Begin(std::move(command), {RLIMIT_NOFILE, files});
    const auto deadline = std::chrono::steady_clock::now() + testing::kDeadline;
    while (!(reported && idle) && io_.run_one_until(deadline) > 0) {
    }
    EXPECT_TRUE(reported && idle) << "it was not answered";
    EXPECT_FALSE(inspection.going());
    return reported.value_or(Inspected{});
  }

  void Program(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }

  TempDir folder_;
  boost::asio::io_context io_;
  Launcher launcher_;
};

TEST_F(HostInspectionTest, ReportsTheRequestedFacts) {
  Program("snake",
          "printf 'muster-python\\tversion\\t3.9.1\\nmuster-python\\tpackage\\t%s\\t2.0\\n' \"$3\"\n"
          "printf 'muster-python\\twhole\\n'");
  Inspect command;
  command.places = {{"/tmp", "/tmp"}};
  command.programs = {{"snake", folder_.path()}, {"no-such-program", "/bin"}};
  command.pythons = {"snake", "no-such-python"};
  command.packages = {"torch"};
  const Inspected reported = Ask(command);
  EXPECT_EQ(reported.error, "");
  EXPECT_NE(reported.facts.kernel, "");
  EXPECT_NE(reported.facts.muster, "");
  ASSERT_EQ(reported.facts.disks.size(), 1U);
  ASSERT_EQ(reported.facts.programs.size(), 2U);
  EXPECT_EQ(reported.facts.programs[0].path, folder_ / "snake");
  EXPECT_EQ(reported.facts.programs[1].path, "");
  ASSERT_EQ(reported.facts.pythons.size(), 2U);
  EXPECT_EQ(reported.facts.pythons[0], (PythonFact{"snake", "3.9.1", {{"torch", "2.0"}}, ""}));
  EXPECT_EQ(reported.facts.pythons[1].error, "it exited with code 127");
  EXPECT_LE(reported.asked_at, reported.answered_at);
}

TEST_F(HostInspectionTest, TimesOutOnAPythonThatHangs) {
  Program("snake", "exec sleep 1000");
  Inspect command;
  command.pythons = {"snake"};
  const Inspected reported = Ask(command, 2'000);
  ASSERT_EQ(reported.facts.pythons.size(), 1U);
  EXPECT_EQ(reported.facts.pythons[0].error, "it took longer than 2.0 s");
}

}  // namespace
}  // namespace muster
