// Tests which variables of the caller describe its host, and what a site leaves of them.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/system/host_devices.h"
#include "plan/environment/inherited_environment.h"
#include "support/file_content.h"
#include "support/places.h"

namespace muster {
namespace {

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(HostVariables, ContainTheVariablesOfEveryDeviceKind) {
  const auto names = HostVariableNames();
  for (const DeviceKind& kind : kDeviceKinds) {
    for (const std::string_view variable : {kind.variable, kind.outer}) {
      if (variable.empty()) continue;
      EXPECT_TRUE(std::binary_search(names.begin(), names.end(), variable)) << variable;
    }
  }
}

TEST(HostVariables, AreInTheirDocument) {
  const std::string page = testing::ContentOf(MUSTER_SOURCE_DIR "/docs/environment.md");
  const std::size_t begin = page.find("## Variables of the host");
  const std::string part = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  for (const std::string_view name : HostVariableNames()) EXPECT_NE(part.find(name), std::string::npos) << name;
}

TEST(HostVariables, AreNotTakenFromTheCaller) {
  EXPECT_EQ(WithoutHostVariables({"CUDA_VISIBLE_DEVICES=1", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "PATH=/bin",
                                  "SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22", "TMPDIR=/scratch/7", "SLURM_JOB_ID=7"}),
            (std::vector<std::string>{"CUDA_DEVICE_ORDER=PCI_BUS_ID", "PATH=/bin", "SLURM_JOB_ID=7"}));
}

TEST(HostVariables, AreSettingsWithNumbersOfCoresOrDevices) {
  EXPECT_EQ(
      WithoutHostVariables({"OMP_PLACES={0},{1}", "OMP_PLACES=cores", "OMP_PLACES=cores(4)", "OMP_PLACES",
                            "KMP_AFFINITY=granularity=fine,compact,1,0", "KMP_AFFINITY=explicit,proclist=[0,1]",
                            "ONEAPI_DEVICE_SELECTOR=level_zero:gpu", "ONEAPI_DEVICE_SELECTOR=level_zero:0,1"}),
      (std::vector<std::string>{"OMP_PLACES=cores", "OMP_PLACES=cores(4)", "OMP_PLACES",
                                "KMP_AFFINITY=granularity=fine,compact,1,0", "ONEAPI_DEVICE_SELECTOR=level_zero:gpu"}));
}

TEST(HostVariables, AreNotPassedOnByCommandsThatStartAgents) {
  EXPECT_EQ(HostVariablesOfCaller({"CUDA_VISIBLE_DEVICES=1", "HOME=/home/me", "HOSTNAME=login", "OMP_PLACES={0}",
                                   "PATH=/bin", "SLURM_JOB_ID=7", "SLURM_JOB_GPUS=1", "TMPDIR=/local/7"}),
            (std::vector<std::string>{"CUDA_VISIBLE_DEVICES", "HOSTNAME", "OMP_PLACES", "SLURM_JOB_GPUS"}));
}

TEST(HostVariables, AreLimitedByTheSite) {
  for (const std::string_view name : HostVariableNames()) EXPECT_TRUE(Contains(HostVariablesAtSite({}), name)) << name;
  EXPECT_TRUE(Contains(HostVariablesAtSite({}), "OMP_PLACES"));
  SiteEnvironment site;
  site.set = {{"TMPDIR", "/scratch"}};
  site.unset = {"SSH_*"};
  const std::vector<std::string> names = HostVariablesAtSite(site);
  EXPECT_FALSE(Contains(names, "TMPDIR")) << "the site's value holds";
  EXPECT_FALSE(Contains(names, "SSH_CONNECTION"));
  EXPECT_TRUE(Contains(names, "CUDA_VISIBLE_DEVICES"));
  site.pass = {"CUDA_*"};
  EXPECT_EQ(HostVariablesAtSite(site),
            (std::vector<std::string>{"CUDA_MPS_LOG_DIRECTORY", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_VISIBLE_DEVICES"}));
}

}  // namespace
}  // namespace muster
