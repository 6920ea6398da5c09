// Tests batch scripts: one golden file for each engine, and quoting.
#include <gtest/gtest.h>

#include "engine/engine_calls.h"
#include "engine/own_page.h"
#include "support/golden.h"

namespace muster {
namespace {

using testing::OwnPage;

std::string Script(const std::string& engine, const std::vector<std::string>& words, BatchJob job) {
  const EnginePage page = OwnPage(engine);
  const auto settings = SettingsOfWords(page, words, "--" + engine);
  EXPECT_TRUE(settings) << settings.error().front().message;
  if (!settings) return {};
  const auto script = BatchScript(page, *settings, job);
  return script ? *script : "refused: " + script.error().front().message;
}

const BatchJob kBatchJob = {
    "gpt 175b",
    18,
    "/home/ann/my jobs",
    {"/opt/muster/bin/muster", "run", "gpt.lua", "lr=0.1", "note=it's", "--spares", "2", "--on", "slurm"},
    "gpt: 16 hosts × 8 devices, 2 spares"};

TEST(BatchScript, IsGoldenForEachEngine) {
  const std::map<std::string, std::vector<std::string>> given = {
      {"slurm",
       {"partition=gpu", "account=physics", "qos=high", "time=1d12h", "gres=gpu:8", "constraint=ib&a100",
        "extra=--mem=0", "extra=--reservation=\"my one\""}},
      {"pbs", {"queue=gpu", "time=12h", "ncpus=64", "ngpus=8", "mem=256gb", "extra=-W group_list=physics"}},
      {"lsf", {"queue=gpu", "time=90m", "gpu=num=8:mode=shared", "resources=select[mem>256GB && type==any]"}},
      {"flux", {"queue=gpu", "time=12h", "gpus=8", "exclusive=no"}},
      {"gridengine", {"pe=mpi1", "queue=gpu.q", "time=12h", "exclusive=yes"}}};
  for (const auto& [engine, words] : given) {
    testing::ExpectGolden(Script(engine, words, kBatchJob), "tests/engine/golden/" + engine + ".sh");
  }
}

TEST(BatchScript, AsksForWholeNodesUnlessTheUserSaysOtherwise) {
  EXPECT_NE(Script("slurm", {}, kBatchJob).find("#SBATCH --exclusive\n"), std::string::npos);
  EXPECT_EQ(Script("slurm", {"exclusive=no"}, kBatchJob).find("--exclusive"), std::string::npos);
}

TEST(BatchScript, HasTheNodesOfTheJobAndNotOfTheSettings) {
  const std::string script = Script("slurm", {"nodes=3"}, kBatchJob);
  EXPECT_NE(script.find("#SBATCH --nodes=18\n"), std::string::npos) << script;
  EXPECT_EQ(script.find("--nodes=3"), std::string::npos);
}

// The number of seconds in the directive that asks for the notice; the whole script if there is not exactly one.
std::string NoticeIn(const std::vector<std::string>& words, std::uint32_t stop_seconds) {
  BatchJob job = kBatchJob;
  job.stop_seconds = stop_seconds;
  const std::string script = Script("slurm", words, job);
  const std::string sign = "#SBATCH --signal=B:USR1@";
  const std::size_t at = script.find(sign);
  if (at == std::string::npos || script.find("--signal", at + sign.size()) != std::string::npos) return script;
  return script.substr(at + sign.size(), script.find('\n', at) - at - sign.size());
}

TEST(BatchScript, TheNoticeOfTheTimeLimitIsWhatTheEndOfTheJobTakes) {
  EXPECT_EQ(NoticeIn({"time=12h"}, 0), "120") << "unknown";
  EXPECT_EQ(NoticeIn({"time=12h"}, 610), "640") << "a checkpoint of ten minutes, and a margin";
  EXPECT_EQ(NoticeIn({}, 610), "640");
  EXPECT_EQ(NoticeIn({"time=4m"}, 610), "180") << "never more than a part of the time";
  EXPECT_EQ(NoticeIn({"time=3m"}, 40), "70");
  EXPECT_EQ(NoticeIn({"time=1-12:00:00"}, 100'000), "65535") << "no more than sbatch takes";
  EXPECT_EQ(NoticeIn({"time=3m", "notice=2m30s"}, 40), "150") << "the user's, as it is";
  BatchJob job = kBatchJob;
  job.stop_seconds = 610;
  EXPECT_NE(Script("lsf", {"time=90m"}, job).find("#BSUB -wt 11\n"), std::string::npos) << Script("lsf", {}, job);
  EXPECT_NE(Script("lsf", {"time=4m"}, job).find("#BSUB -wt 3\n"), std::string::npos);
}

TEST(BatchScript, AUsersOwnNoticeReplacesIt) {
  EXPECT_EQ(NoticeIn({"extra=--signal=B:USR1@700"}, 40), "700");
  EXPECT_EQ(NoticeIn({"extra=--signal B:SIGUSR1@700"}, 40), "700");
  EXPECT_EQ(NoticeIn({"extra=--signal=B:USR1"}, 40), "60") << "as sbatch has it";
  EXPECT_EQ(NoticeIn({"extra=--signal=B:USR1@700", "notice=5m"}, 40), "300");
  for (const char* other : {"--signal=USR1@60", "--signal=B:USR2@60", "--signal=B:USR1@x", "--signal=R:USR1@60"}) {
    const std::string refused = Script("slurm", {"extra=" + std::string(other)}, kBatchJob);
    EXPECT_TRUE(refused.starts_with("refused: slurm.extra has \"" + std::string(other))) << refused;
  }
  EXPECT_NE(Script("slurm", {"extra=--signals=7"}, kBatchJob).find("#SBATCH --signals=7"), std::string::npos);
}

TEST(BatchScript, AWordWithALineEndIsRefused) {
  BatchJob job = kBatchJob;
  job.command.push_back("a\nrm -rf /");
  EXPECT_EQ(Script("slurm", {}, job), "refused: a batch script cannot hold a word with a line end");
  job = kBatchJob;
  job.folder = "/a\nb";
  EXPECT_EQ(Script("slurm", {}, job), "refused: a batch script cannot hold a word with a line end");
}

TEST(BatchScript, NamesAreWhatEveryEngineTakes) {
  EXPECT_EQ(BatchJobName("gpt 175b/ä"), "gpt_175b___");
  EXPECT_EQ(BatchJobName("7b"), "m7b");
  EXPECT_EQ(BatchJobName(""), "m");
}

}  // namespace
}  // namespace muster
