// Tests contracts with the real frameworks, if installed: PyTorch trains, Open MPI starts ranks.
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "supervision/job.h"

namespace muster::testing {
namespace {

bool Works(const std::vector<std::string>& argv) {
  Command command;
  command.argv = argv;
  return RunCommand(command).exit_code == 0;
}

bool HasTorch() {
  static const bool has = Works({"/usr/bin/python3", "-c", "import torch.distributed"});
  return has;
}

// Runs the shipped recipe as a user would.
class TorchRun {
 public:
  explicit TorchRun(const std::vector<std::string>& overrides) {
    Command command;
    command.argv = {MusterProgram(), "run", "recipes/torch_ddp.lua", "--run-dir", folder_ / "run", "epochs=1"};
    command.argv.insert(command.argv.end(), overrides.begin(), overrides.end());
    command.cwd = MUSTER_SOURCE_DIR;
    command.env.insert(command.env.end(),
                       {"RANK=5", "WORLD_SIZE=9", "TORCHELASTIC_USE_AGENT_STORE=True", "MASTER_PORT=1"});
    result = RunCommand(command);
    report = json::parse(ContentOf(folder_ / "run/report.json"), nullptr, false);
  }
  std::string Log(int rank) const {
    return ContentOf(folder_ / ("run/logs/worker." + std::to_string(rank) + ".0.log"));
  }

  CommandResult result;
  json report;

 private:
  TempDir folder_;
};

TEST(Torch, TrainsOverGlooAndAllRanksReportTheSameLoss) {
  if (!HasTorch()) GTEST_SKIP() << "/usr/bin/python3 has no PyTorch (tools/setup --all)";
  const TorchRun run({"workers=4"});
  ASSERT_EQ(run.result.exit_code, 0) << run.result.out << run.result.err;
  std::set<std::string> losses;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string begin = "rank " + std::to_string(rank) + " of 4: loss ";
    const std::size_t at = run.Log(rank).find(begin);
    ASSERT_NE(at, std::string::npos) << run.Log(rank);
    losses.insert(run.Log(rank).substr(at + begin.size()));
  }
  EXPECT_EQ(losses.size(), 1U);
  EXPECT_LT(std::stod(*losses.begin()), 2) << "it learns: guessing costs 2.3";
}

TEST(Torch, ExceptionIsReportedWithItsRank) {
  if (!HasTorch()) GTEST_SKIP() << "/usr/bin/python3 has no PyTorch (tools/setup --all)";
  const TorchRun run({"workers=2", "fail_rank=1"});
  EXPECT_EQ(run.result.exit_code, 1);
  const json& failure = run.report["first_failure"];
  ASSERT_EQ(failure["rank"], 1) << run.result.out << run.result.err;
  EXPECT_EQ(failure["last_lines"].back(), "RuntimeError: rank 1 fails as requested after epoch 0");
  EXPECT_EQ(failure["error"]["message"], "RuntimeError: rank 1 fails as requested after epoch 0");
  EXPECT_EQ(run.report["receipt"]["left"], 0);
}

// Rank 2 waits for something else in its third step, the others for it in the collective; all fall silent. The limit
// is far above the time that PyTorch takes to start.
TEST(Torch, TheRankForWhichACollectiveWaitsIsTheFirstFailure) {
  if (!HasTorch()) GTEST_SKIP() << "/usr/bin/python3 has no PyTorch (tools/setup --all)";
  const Job job(R"(
    job:workers { count = 4, devices = 0, env = { PATH = '/nowhere' }, command = { "/usr/bin/python3", "-c", [[
import os, torch
import torch.distributed as dist
dist.init_process_group("gloo")
for step in range(4):
    if step == 2 and dist.get_rank() == 2: os.read(os.pipe()[0], 1)
    dist.all_reduce(torch.ones(3))
    print("step", step, flush=True)
]] } })",
                "framework = 'torch', limits = { silent = '20s' },");
  EXPECT_EQ(job.result.exit_code, 1) << job.Text();
  EXPECT_EQ(job.report["first_failure"]["rank"], 2) << job.Text();
  EXPECT_EQ(job.report["receipt"]["left"], 0);
}

const std::vector<std::string> kAsRoot = {"/usr/bin/env",
                                          "OMPI_ALLOW_RUN_AS_ROOT=1",
                                          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                          "OMPI_COMM_WORLD_RANK=7",
                                          "PMIX_RANK=7",
                                          "SLURM_JOBID=7",
                                          "SLURM_NODELIST=nowhere"};

TEST(OpenMpi, StartsAProgramWithTheRightRanks) {
  if (!Works({"mpirun", "--version"}) || !Works({"/usr/bin/python3", "-c", "import mpi4py"}))
    GTEST_SKIP() << "there is no mpirun or no mpi4py (tools/setup --all)";
  const Job job(R"(
    job:workers { count = 4, command = { "/usr/bin/python3", "-c", [[
from mpi4py import MPI
world = MPI.COMM_WORLD
ranks = world.allgather(world.rank)
print(f"rank {world.rank} of {world.size} among {ranks}\n", end="", flush=True)
]] } })",
                "framework = 'mpi',", kAsRoot);
  ASSERT_EQ(job.result.exit_code, 0) << job.result.out << job.result.err;
  EXPECT_EQ(job.report["processes"].size(), 1U) << "the launcher; the ranks are its children";
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_NE(job.Log("worker.0.0").find("rank " + std::to_string(rank) + " of 4 among [0, 1, 2, 3]\n"),
              std::string::npos)
        << job.Log("worker.0.0");
  }
}

TEST(OpenMpi, ReportsAFailedRank) {
  if (!Works({"mpirun", "--version"})) GTEST_SKIP() << "there is no mpirun (tools/setup --all)";
  const Job job(R"(
    local script = "test $OMPI_COMM_WORLD_RANK = 1 && exit 7; exec " .. probe .. " wait"
    job:workers { count = 3, command = muster.shell(script) })",
                "framework = 'mpi',", kAsRoot);
  EXPECT_EQ(job.result.exit_code, 1) << job.result.out << job.result.err;
  EXPECT_EQ(job.report["first_failure"]["exit_code"], 7);
}

}  // namespace
}  // namespace muster::testing
