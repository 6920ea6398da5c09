// Tests batch scripts: one golden file for each engine, and quoting.
#include "engine/batch_script.h"

#include <gtest/gtest.h>

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
