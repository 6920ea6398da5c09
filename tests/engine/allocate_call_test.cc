// Tests the command that holds an allocation, and reading what it says about it.
#include <gtest/gtest.h>

#include "engine/engine_calls.h"
#include "engine/own_page.h"

namespace muster {
namespace {

using testing::OwnPage;
using Words = std::vector<std::string>;

EngineSettings Settings(const EnginePage& page, const Words& words) {
  auto settings = SettingsOfWords(page, words, "--slurm");
  EXPECT_TRUE(settings);
  return settings ? *std::move(settings) : EngineSettings();
}

TEST(AllocateCall, HasTheOptionsAsWords) {
  const EnginePage page = OwnPage("slurm");
  const EngineSettings settings = Settings(page, {"time=90m", "each_trial=yes", "nodes=9", "extra=--mem=0 -C 'a b'"});
  EXPECT_EQ(AllocateWords(page, settings, "lr sweep", 2),
            (Words{"salloc", "--job-name=lr_sweep", "--no-kill", "--nodes=2", "--ntasks-per-node=1", "--time=01:30:00",
                   "--exclusive", "--mem=0", "-C", "a b", "cat", "/proc/self/environ", "-"}));
}

TEST(AllocateCall, RefusesAQuoteThatIsNotClosed) {
  const EnginePage page = OwnPage("slurm");
  const auto words = AllocateWords(page, Settings(page, {"extra=--comment='a"}), "job", 1);
  ASSERT_FALSE(words);
  EXPECT_EQ(words.error().front().message.find("slurm: \"--comment='a\" cannot be split into words"), 0U);
}

TEST(AllocateCall, ReadsOnlyAWholeEnvironment) {
  const std::string output("A=1\0B=x\ny\0\0rest", 13);
  EXPECT_EQ(EnvironmentIn(output), (Words{"A=1", "B=x\ny"}));
  for (std::size_t size = 0; size + 5 < output.size(); ++size) {
    EXPECT_FALSE(EnvironmentIn(std::string_view(output).substr(0, size))) << size;
  }
  EXPECT_EQ(AddedVariables({"A=1", "B=2", "=3", "odd", "C=4"}, {"A=1", "B=1"}), (Words{"B=2", "C=4"}));
}

TEST(AllocateCall, FindsTheJobOnceItsLineIsThere) {
  const EnginePage page = OwnPage("slurm");
  EXPECT_EQ(AllocatedJob(page, "salloc: Pending job allocation 12"), "") << "the rest may follow";
  EXPECT_EQ(AllocatedJob(page, "salloc: Pending job allocation 12\nsalloc: job 12 queued"), "12");
  EXPECT_EQ(AllocatedJob(page, "salloc: Granted job allocation 7\n"), "7");
  EXPECT_EQ(AllocatedJob(page, "salloc: error: Job submit/allocate failed: Invalid partition name\n"), "");
}

TEST(AllocateCall, FindsTheHostsInTheEnvironment) {
  const EnginePage page = OwnPage("slurm");
  const auto allocation = AllocationOf(page, {"HOME=/root", "SLURM_JOB_ID=12", "SLURM_JOB_NODELIST=n[1-2,4]"});
  ASSERT_TRUE(allocation);
  EXPECT_EQ(allocation->job, "12");
  ASSERT_EQ(allocation->hosts.size(), 3U);
  EXPECT_EQ(allocation->hosts[2].name, "n4");
  EXPECT_FALSE(allocation->hosts[0].devices);
  EXPECT_FALSE(AllocationOf(page, {"SLURM_JOB_ID=12"}));
}

TEST(AllocateCall, TheOptionNeedsTheFieldOfThePage) {
  const EnginePage slurm = OwnPage("slurm");
  EXPECT_EQ(EachTrialOf(slurm, Settings(slurm, {"each_trial=no"})), nullptr);
  const EngineSettings settings = Settings(slurm, {"each_trial=yes"});
  ASSERT_NE(EachTrialOf(slurm, settings), nullptr);
  EXPECT_EQ(EachTrialOf(slurm, settings)->source, "--slurm");
  EXPECT_EQ(OwnPage("pbs").FindOption("each_trial"), nullptr);
}

}  // namespace
}  // namespace muster
