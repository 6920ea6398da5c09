// Tests runs inside an allocation of a real Slurm: hosts and their order, devices, exit codes, and that nothing
// remains.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/process_environment.h"
#include "slurm/submitted_run.h"

namespace muster::testing {
namespace {

// Each process leaves one orphan, in a session of its own; rank 2 fails once all of them are there. The marks are made
// by the shells themselves: another program that made one could become an orphan too.
const char* const kOrphans = R"(
    job:workers { count = 8, devices = 0, cwd = '/', command = muster.shell [[
      setsid sleep 1000 > /dev/null 2>&1 &
      : > $FOLDER/up.$MUSTER_RANK
      if [ $MUSTER_RANK = 2 ]; then
        until [ $(ls $FOLDER | grep -c '^up') = 8 ]; do read -t 0.05 nothing < /dev/zero; done
        exit 7
      fi
      exec sleep 1000 ]] })";

// How an allocation is got.
enum class Way { kSalloc, kSbatch };

class InAllocation : public ::testing::TestWithParam<Way> {
 protected:
  static Words By(const SlurmTestbed& testbed, const Words& options) {
    return GetParam() == Way::kSalloc ? Salloc(options) : Sbatch(testbed, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Slurm, InAllocation, ::testing::Values(Way::kSalloc, Way::kSbatch),
                         [](const auto& way) { return way.param == Way::kSalloc ? "salloc" : "sbatch"; });

Words HostsOfProcesses(const json& report) {
  Words hosts;
  for (const json& process : report["processes"]) hosts.push_back(process["host"]);
  return hosts;
}

TEST_P(InAllocation, ARunUsesAllNodesInTheOrderOfSlurm) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  SlurmRun run(testbed, By(testbed, {"--nodes=4"}),
               "local muster = require 'muster'\nreturn muster.recipe { name = 'job', plan = function(p, job)\n"
               "  job:workers { per_host = 2, devices = 0, cwd = '/', command = muster.shell "
               "'echo $(hostname) ${SLURM_PROCID-none} $SLURM_JOB_ID' } end }\n");
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_EQ(HostsOfProcesses(run.Report()), (Words{"n1", "n1", "n2", "n2", "n3", "n3", "n4", "n4"}));
  for (int rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(run.Log("worker." + std::to_string(rank)), "n" + std::to_string(rank / 2 + 1) + " none 1\n");
  }
  EXPECT_EQ(run.Journal("agent_connected").size(), 4U);
  EXPECT_EQ(run.Report()["receipt"]["reaped"], 8);
  before.ExpectNothingLeft(run);
}

TEST_P(InAllocation, TheFirstFailureIsTheExitCodeAndNothingIsLeft) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  RecipeFile recipe = RecipeIn(testbed, Recipe(4, kOrphans));
  recipe.env = {"FOLDER=" + testbed.folder()};
  SlurmRun run(testbed, By(testbed, {"--nodes=4"}), recipe, {"--pass-exit-code"});
  EXPECT_EQ(run.Result().exit_code, 7) << run.Said();
  EXPECT_TRUE(run.Says("worker.2 (rank 2) on n2 exited with code 7")) << run.Said();
  EXPECT_EQ(run.Report()["first_failure"]["host"], "n2");
  EXPECT_EQ(run.Report()["receipt"]["adopted"], 8) << run.Report()["receipt"];
  before.ExpectNothingLeft(run);
}

TEST_P(InAllocation, TheAllocationCanBeUsedAgain) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const NodesBefore before(testbed, 4);
  const std::string twice = testbed.folder() + "/twice.sh";
  std::ofstream(twice) << "#!/bin/sh\n\"$@\"\nfirst=$?\n"
                       << MusterProgram() << " run " << testbed.folder() << "/second.lua --run-dir " << testbed.folder()
                       << "/second && exit $first\n";
  std::filesystem::permissions(twice, std::filesystem::perms::owner_all);
  std::ofstream(testbed.folder() + "/second.lua")
      << Recipe(4, "    job:workers { count = 4, devices = 0, cwd = '/', command = { 'hostname' } }");
  Words by = By(testbed, {"--nodes=4"});
  by.push_back(twice);
  SlurmRun run(testbed, by,
               Recipe(4,
                      "    job:workers { count = 4, devices = 0, cwd = '/', command = muster.shell "
                      "'[ $MUSTER_RANK != 3 ] || exit 5; exec sleep 1000' }"),
               {"--pass-exit-code"});
  EXPECT_EQ(run.Result().exit_code, 5) << run.Said();
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(ContentOf(testbed.folder() + "/second/logs/worker." + std::to_string(rank) + ".0.log"),
              "n" + std::to_string(rank + 1) + "\n");
  }
  before.ExpectNothingLeft(run);
}

// --- devices --------------------------------------------------------------------------------------------

// Two processes on each node with a device each, of which each sees its own.
const char* const kDevices =
    "local muster = require 'muster'\nreturn muster.recipe { name = 'job', cluster = { device_kind = 'cuda' },\n"
    "  plan = function(p, job)\n    job:workers { per_host = 2, visible = 'own', cwd = '/', command = muster.shell "
    "'echo $(hostname) $CUDA_VISIBLE_DEVICES' } end }\n";

TEST(SlurmDevices, AProcessSeesThoseOfTheAllocation) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  SlurmRun run(testbed, Salloc({"--nodes=2", "--gres=gpu:2"}), kDevices);
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(run.Log("worker." + std::to_string(rank)),
              "n" + std::to_string(rank / 2 + 1) + " " + std::to_string(rank % 2) + "\n");
  }
}

TEST(SlurmDevices, ThoseOfAnotherJobAreNotUsed) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2, {"--node", "n2 CPUs=8 Gres=gpu:4"});
  ASSERT_TRUE(testbed.Up());
  const std::string other =
      testbed.Ask({"sbatch", "--parsable", "--nodes=2", "--gres=gpu:2", "--output=/dev/null", "--wrap=sleep 1000"});
  ASSERT_TRUE(testbed.AwaitJob(other, "RUNNING"));
  SlurmRun run(testbed, Salloc({"--nodes=2", "--gres=gpu:2"}), kDevices);
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(run.Log("worker." + std::to_string(rank)),
              "n" + std::to_string(rank / 2 + 1) + " " + std::to_string(rank % 2 + 2) + "\n");
  }
  const json bound = run.Journal("plan_bound").at(0);
  ASSERT_EQ(bound["hosts"].size(), 2U) << bound;
  for (const json& host : bound["hosts"]) EXPECT_EQ(host["devices"].size(), 2U) << host;
}

// Index style: each process sees the devices of the job on its host. Nodes have four, and another job holds two of n1.
const char* const kAllDevices =
    "local muster = require 'muster'\nreturn muster.recipe { name = 'job', cluster = { hosts = 2, devices_per_host = "
    "2, "
    "device_kind = 'cuda' },\n  plan = function(p, job)\n    job:workers { per_host = 2, cwd = '/', command = "
    "muster.shell 'echo $(hostname) $CUDA_VISIBLE_DEVICES $MUSTER_DEVICES' } end }\n";

class DevicesOfNodes : public ::testing::Test {
 protected:
  bool Up() {
    if (!testbed_.Up()) return false;
    const std::string other = testbed_.Ask({"sbatch", "--parsable", "--nodelist=n1", "--nodes=1", "--gres=gpu:2",
                                            "--cpus-per-task=1", "--output=/dev/null", "--wrap=sleep 1000"});
    return testbed_.AwaitJob(other, "RUNNING");
  }
  // Submits the script that muster prints, from a shell that has a device of its own; returns the run's directory.
  std::string RunPrinted(const Words& options) const {
    const std::string recipe = RecipeIn(testbed_, kAllDevices).path;
    const std::string script = testbed_.folder() + "/printed.sh";
    Words plan = {"plan", recipe, "--on", "slurm", "--slurm", "nodes=2", "--slurm", "gres=gpu:2"};
    plan.insert(plan.end(), options.begin(), options.end());
    std::ofstream(script) << SubmittedRun::MusterOn(testbed_, plan).out;
    const std::string said = testbed_.folder() + "/printed.out";
    const CommandResult batch = RunCommand(
        {.argv = testbed_.Login({"sbatch", "--wait", "--output=" + said, "--chdir=" + testbed_.folder(), script}),
         .env = {"PATH=/usr/bin:/bin", "HOME=/root", "XDG_STATE_HOME=" + testbed_.folder(),
                 "MUSTER_HOME=" + testbed_.folder() + "/printed", "CUDA_VISIBLE_DEVICES=1"}});
    EXPECT_EQ(batch.exit_code, 0) << batch.err << ContentOf(said) << ContentOf(script);
    return testbed_.folder() + "/printed/runs/job/latest";
  }
  static void ExpectThoseOfItsHost(SlurmRun& run) {
    ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
    const json bound = json::parse(ContentOf(run.run_dir() + "/binding.json"), nullptr, false);
    for (int rank = 0; rank < 4; ++rank) {
      const json& host = bound["hosts"][static_cast<std::size_t>(rank / 2)];
      const json& devices = host["devices"];
      ASSERT_EQ(devices.size(), 2U) << bound;
      EXPECT_EQ(run.Log("worker." + std::to_string(rank)),
                host["name"].get<std::string>() + " " + devices[0].get<std::string>() + "," +
                    devices[1].get<std::string>() + " " +
                    devices[static_cast<std::size_t>(rank % 2)].get<std::string>() + "\n");
      EXPECT_EQ(devices, host["name"] == "n1" ? json({"2", "3"}) : json({"0", "1"})) << bound;
    }
  }

  SlurmTestbed testbed_{2, {"--node", "n1 CPUs=8 Gres=gpu:4", "--node", "n2 CPUs=8 Gres=gpu:4"}};
};

TEST_F(DevicesOfNodes, AreSeenInSalloc) {
  SKIP_WITHOUT_SLURM();
  ASSERT_TRUE(Up());
  SlurmRun run(testbed_, Salloc({"--nodes=2", "--gres=gpu:2"}), kAllDevices);
  ExpectThoseOfItsHost(run);
}

TEST_F(DevicesOfNodes, AreSeenByASubmittedRun) {
  SKIP_WITHOUT_SLURM();
  ASSERT_TRUE(Up());
  SlurmRun run(testbed_, {}, kAllDevices,
               {"--on", "slurm", "--slurm", "nodes=2", "--slurm", "gres=gpu:2", "--slurm", "exclusive=false"});
  ExpectThoseOfItsHost(run);
}

TEST_F(DevicesOfNodes, AreSeenByARunOfAPrintedScript) {
  SKIP_WITHOUT_SLURM();
  ASSERT_TRUE(Up());
  const std::string run = RunPrinted({"--slurm", "exclusive=false"});
  for (int rank = 0; rank < 4; ++rank) {
    const std::string host = rank < 2 ? "n1 2,3 " : "n2 0,1 ";
    EXPECT_EQ(ContentOf(run + "/logs/worker." + std::to_string(rank) + ".0.log"),
              host + std::to_string(rank % 2 + (rank < 2 ? 2 : 0)) + "\n")
        << ContentOf(run + "/binding.json");
  }
}

TEST(SlurmDevices, OfTheCallerAreNotThoseOfNodesWithoutAny) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  RecipeFile recipe =
      RecipeIn(testbed, Recipe(2,
                               "    job:workers { count = 2, devices = 0, cwd = '/', command = muster.shell 'echo "
                               "${CUDA_VISIBLE_DEVICES-none} ${OMP_PLACES-none} ${SSH_CONNECTION-none} $KEPT' }"));
  recipe.env = {"CUDA_VISIBLE_DEVICES=1", "OMP_PLACES={0}", "SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22", "KEPT=yes"};
  SlurmRun run(testbed, Salloc({"--nodes=2"}), recipe);
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  for (const char* worker : {"worker.0", "worker.1"}) EXPECT_EQ(run.Log(worker), "none none none yes\n");
}

TEST_F(DevicesOfNodes, AreTheSameForAnExclusiveJobThatAsksForFewer) {
  SKIP_WITHOUT_SLURM();
  ASSERT_TRUE(testbed_.Up());
  const auto expect_two_of_each = [](const std::string& run, const char* how) {
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(ContentOf(run + "/logs/worker." + std::to_string(rank) + ".0.log"),
                "n" + std::to_string(rank / 2 + 1) + " 0,1 " + std::to_string(rank % 2) + "\n")
          << how;
    }
  };
  expect_two_of_each(RunPrinted({}), "printed script");
  {
    SlurmRun run(testbed_, Salloc({"--nodes=2", "--gres=gpu:2", "--exclusive"}), kAllDevices);
    ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
    expect_two_of_each(run.run_dir(), "salloc");
    std::filesystem::remove_all(run.run_dir());
  }
  SlurmRun run(testbed_, {}, kAllDevices, {"--on", "slurm", "--slurm", "nodes=2", "--slurm", "gres=gpu:2"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  expect_two_of_each(run.run_dir(), "submitted");
}

// "4 2": the workers of n1 and n2.
std::string WorkersOfNodes(const std::string& run) {
  int workers[2] = {0, 0};
  for (int worker = 0; worker < 6; ++worker)
    ++workers[ContentOf(run + "/logs/worker." + std::to_string(worker) + ".0.log") == "n2\n" ? 1 : 0];
  return std::to_string(workers[0]) + " " + std::to_string(workers[1]);
}

class TasksOfNodes : public ::testing::Test {
 protected:
  static void ExpectFourAndTwo(SlurmRun& run) {
    ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
    EXPECT_EQ(WorkersOfNodes(run.run_dir()), "4 2");
  }

  SlurmTestbed testbed_{2, {"--node", "n1 CPUs=4", "--node", "n2 CPUs=4"}};
  std::string recipe_ = Recipe(2, "    job:workers { count = 6, devices = 0, cwd = '/', command = { 'hostname' } }");
};

TEST_F(TasksOfNodes, AreFilledInSalloc) {
  SKIP_WITHOUT_SLURM();
  ASSERT_TRUE(testbed_.Up());
  SlurmRun run(testbed_, Salloc({"--nodes=2", "--ntasks=6"}), recipe_);
  ExpectFourAndTwo(run);
}

TEST_F(TasksOfNodes, AreFilledInABatchScriptOfTheUsers) {
  SKIP_WITHOUT_SLURM();
  ASSERT_TRUE(testbed_.Up());
  SlurmRun run(testbed_, Sbatch(testbed_, {"--nodes=2", "--ntasks=6"}), recipe_);
  ExpectFourAndTwo(run);
}

TEST_F(TasksOfNodes, AreFilledByASubmittedRun) {
  SKIP_WITHOUT_SLURM();
  ASSERT_TRUE(testbed_.Up());
  SubmittedRun run(testbed_, recipe_, {"--slurm", "tasks_per_node=4"});
  ExpectFourAndTwo(run);
}

TEST_F(TasksOfNodes, AreFilledByARunOfAPrintedScript) {
  SKIP_WITHOUT_SLURM();
  ASSERT_TRUE(testbed_.Up());
  const std::string script = testbed_.folder() + "/printed.sh";
  std::ofstream(script) << SubmittedRun::MusterOn(testbed_, {"plan", RecipeIn(testbed_, recipe_).path, "--on", "slurm",
                                                             "--slurm", "tasks_per_node=4"})
                               .out;
  const CommandResult batch = RunCommand(
      {.argv = testbed_.Login({"sbatch", "--wait", "--output=/dev/null", "--chdir=" + testbed_.folder(), script}),
       .env = {"PATH=/usr/bin:/bin", "HOME=/root", "XDG_STATE_HOME=" + testbed_.folder(),
               "MUSTER_HOME=" + testbed_.folder() + "/printed"}});
  EXPECT_EQ(batch.exit_code, 0) << batch.err << ContentOf(script);
  EXPECT_EQ(WorkersOfNodes(testbed_.folder() + "/printed/runs/job/latest"), "4 2") << ContentOf(script);
}

TEST_F(TasksOfNodes, AreNoneInAnAllocationOfWholeNodes) {
  SKIP_WITHOUT_SLURM();
  ASSERT_TRUE(testbed_.Up());
  SlurmRun run(testbed_, Salloc({"--nodes=2", "--exclusive"}), recipe_);
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  EXPECT_EQ(WorkersOfNodes(run.run_dir()), "3 3") << "nobody asked for tasks";
}

TEST(SlurmEnvironment, IsThatOfThePlan) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const std::string site = testbed.folder() + "/site.lua";
  std::ofstream(site) << kLayersSite;
  RecipeFile recipe = RecipeIn(testbed, std::string("local muster = require 'muster'\nreturn muster.recipe { name = "
                                                    "'job', framework = 'torch', plan = function(p, job)\n") +
                                            kLayersBody + "\n  end }\n");
  recipe.env = kLayersCaller;
  SlurmRun run(testbed, Salloc({"--nodes=2"}), recipe, WithLayers({"--site", site}));
  ASSERT_EQ(run.Result().exit_code, 0) << run.Said();
  const CommandResult planned = RunCommand({.argv = WithLayers({MusterProgram(), "plan", recipe.path, "hosts=2",
                                                                "--site", site, "--env", "worker:1", "--json"})});
  ExpectAsPlanned(planned.out, run.Log("worker.1"));
  ExpectInherited(run.Log("worker.1"), true);
}

TEST(SlurmDevices, MoreThanTheAllocationHasAreRefused) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  SlurmRun run(testbed, Salloc({"--nodes=2", "--gres=gpu:1"}), kDevices);
  EXPECT_EQ(run.Result().exit_code, 2) << run.Said();
}

}  // namespace
}  // namespace muster::testing
