// Tests activation on a host: its variables reach the processes and rank between inherited ones and the recipe's; if it
// fails or times out, nothing starts and no process remains.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class Activation : public ::testing::Test {
 protected:
  static void Put(const StartedMuster& muster, const std::string& name, const std::string& content) {
    const std::filesystem::path path = muster / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }
  // Adds a step that hangs and has started processes that resist signals.
  static void PutHanging(const StartedMuster& muster) {
    Put(muster, "up", "");
    Put(muster, "hangs.sh",
        MUSTER_TESTS_DIR "/probe ignore-term child session daemon print up wait >> '" + (muster / "up") + "'");
  }
  // Returns once the step hangs.
  static void StartHanging(StartedMuster& muster) {
    PutHanging(muster);
    muster.Start();
    ASSERT_TRUE(AwaitLine(muster / "up", "up"));
  }
  // Returns the environment that a probe printed to a log.
  static json EnvironmentIn(const StartedMuster& muster, const std::string& log) {
    const json entries = json::parse(StartedMuster::Content(muster.run_dir() + "/logs/" + log), nullptr, false);
    EXPECT_TRUE(entries.is_array());
    json environment = json::object();
    for (const json& entry : entries) {
      const std::string variable = entry;
      environment[variable.substr(0, variable.find('='))] = variable.substr(variable.find('=') + 1);
    }
    return environment;
  }
  static json Report(const StartedMuster& muster) {
    return json::parse(StartedMuster::Content(muster.run_dir() + "/report.json"), nullptr, false);
  }
  // Expects that the run directory passes check_run.py and that no process remains.
  static void ExpectSound(const StartedMuster& muster) {
    Command command;
    command.argv = {"/usr/bin/python3", MUSTER_SOURCE_DIR "/tests/support/check_run.py", muster.run_dir()};
    const CommandResult result = RunCommand(command);
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    EXPECT_TRUE(muster.Left().empty());
  }
};

TEST_F(Activation, RanksBetweenInheritedVariablesAndTheRecipe) {
  StartedMuster muster(R"(
    job:activate { source = muster.here "set_env.sh", module = "cuda/12", conda = "train" }
    job:env { OF_JOB = "job", UNSET_BY_JOB = muster.unset }
    job:workers { count = 1, command = { probe, "env" }, env = { OF_ROLE = "role" } })");
  Put(muster, "set_env.sh", R"(
export PATH=/sourced:$PATH INHERITED="$INHERITED and sourced" OF_JOB=sourced OF_ROLE=sourced UNSET_BY_JOB=sourced
export MUSTER_RANK=77 API_TOKEN=hush NEW="two
lines" PYTHONUNBUFFERED=0
unset GONE
cd /)");
  Put(muster, "modules/init/bash", "module() { export CUDA_VERSION=${2#cuda/}; }");
  Put(muster, "conda/bin/conda", "");
  Put(muster, "conda/etc/profile.d/conda.sh", "conda() { export CONDA_PREFIX=/envs/$2 PATH=/envs/$2:$PATH; }");
  muster.Start({}, {"/usr/bin/env", "INHERITED=old", "GONE=1", "MODULESHOME=" + (muster / "modules"),
                    "CONDA_EXE=" + (muster / "conda/bin/conda"), "PWD=/home"});
  ASSERT_EQ(muster.End(), 0) << muster.Output();

  const json env = EnvironmentIn(muster, "worker.0.0.log");
  EXPECT_EQ(env.value("PATH", ""), "/envs/train:/sourced:/usr/bin:/bin");
  EXPECT_EQ(env.value("INHERITED", ""), "old and sourced");
  EXPECT_EQ(env.value("OF_JOB", ""), "job");
  EXPECT_EQ(env.value("OF_ROLE", ""), "role");
  EXPECT_EQ(env.value("NEW", ""), "two\nlines");
  EXPECT_EQ(env.value("CUDA_VERSION", ""), "12");
  EXPECT_EQ(env.value("CONDA_PREFIX", ""), "/envs/train");
  EXPECT_EQ(env.value("API_TOKEN", ""), "hush");
  EXPECT_EQ(env.value("MUSTER_RANK", ""), "0");
  EXPECT_EQ(env.value("PWD", ""), "/home") << "where a shell went is its own affair";
  for (const char* name : {"GONE", "UNSET_BY_JOB", "OLDPWD"}) EXPECT_FALSE(env.contains(name)) << name;

  const std::vector<json> reported = muster.Journal("host_activated");
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported[0]["unset"], json({"GONE"}));
  EXPECT_EQ(reported[0]["set"]["NEW"], "two\nlines");
  EXPECT_EQ(reported[0]["set"]["API_TOKEN"], "(hidden)");
  EXPECT_FALSE(reported[0]["set"].contains("MUSTER_RANK"));
  EXPECT_EQ(Report(muster)["activations"][0]["unset"], json({"GONE"}));
  EXPECT_NE(StartedMuster::Content(muster.run_dir() + "/report.txt").find("removed"), std::string::npos);
  const json inputs = json::parse(StartedMuster::Content(muster.run_dir() + "/inputs.json"));
  EXPECT_EQ(inputs["inherited"]["PATH"], "/usr/bin:/bin") << "as it was for muster";
  ExpectSound(muster);
}

TEST_F(Activation, SetsNoVariableThatAContractRemoves) {
  StartedMuster muster(R"(
    job:activate { source = muster.here "set_env.sh" }
    job:workers { count = 1, command = { probe, "env" } })",
                       "framework = \"mindspore\",");
  Put(muster, "set_env.sh", "export OMPI_COMM_WORLD_RANK=5 RANK_ID=5 MS_ROLE=MS_PSERVER KEPT=1");
  muster.Start();
  ASSERT_EQ(muster.End(), 0) << muster.Output();
  const json env = EnvironmentIn(muster, "worker.0.0.log");
  EXPECT_FALSE(env.contains("OMPI_COMM_WORLD_RANK"));
  EXPECT_EQ(env.value("RANK_ID", ""), "0");
  EXPECT_EQ(env.value("MS_ROLE", ""), "MS_WORKER");
  EXPECT_EQ(env.value("KEPT", ""), "1");
}

TEST_F(Activation, StartsNothingIfAStepFails) {
  StartedMuster muster(R"(
    job:activate { source = { muster.here "good.sh", muster.here "bad.sh" } }
    job:workers { count = 1, command = { probe, "file", folder .. "/started" } })");
  Put(muster, "good.sh", "export A=1");
  Put(muster, "bad.sh", "echo 'the driver is not there'; return 9");
  muster.Start();
  EXPECT_EQ(muster.End(), 3);
  EXPECT_NE(muster.Output().find("failed in step 2 (source " + (muster / "bad.sh") + "): exit code 9"),
            std::string::npos)
      << muster.Output();
  EXPECT_NE(muster.Output().find("    the driver is not there\n"), std::string::npos) << muster.Output();
  EXPECT_FALSE(std::filesystem::exists(muster / "started"));
  EXPECT_EQ(Report(muster)["activations"][0]["failed_step"], 2);
  ExpectSound(muster);
}

TEST_F(Activation, KillsAHungStepWithAllItsProcesses) {
  StartedMuster muster(R"(
    job:activate { source = muster.here "hangs.sh" }
    job:workers { count = 1, command = { probe, "exit", "0" } })",
                       "limits = { start = \"1s\" },");
  PutHanging(muster);
  muster.Start();
  EXPECT_EQ(muster.End(), 3);
  EXPECT_NE(muster.Output().find("it took longer than 1.0 s"), std::string::npos) << muster.Output();
  ExpectSound(muster);
}

TEST_F(Activation, IsStoppedWithTheRun) {
  StartedMuster muster(R"(
    job:activate { source = muster.here "hangs.sh" }
    job:workers { count = 1, command = { probe, "exit", "0" } })");
  StartHanging(muster);
  EXPECT_EQ(muster.Muster({"stop", muster.run_dir(), "--wait"}).exit_code, 0);
  EXPECT_EQ(muster.End(), 143);
  EXPECT_TRUE(muster.Journal("start_ordered").empty());
  ExpectSound(muster);
}

TEST_F(Activation, IsStoppedIfTheHeadIsKilled) {
  StartedMuster muster(R"(
    job:activate { source = muster.here "hangs.sh" }
    job:workers { count = 1, command = { probe, "exit", "0" } })");
  StartHanging(muster);
  ASSERT_EQ(::kill(muster.head(), SIGKILL), 0);
  EXPECT_EQ(muster.End(), 128 + SIGKILL);
  EXPECT_TRUE(muster.Left().empty());
}

TEST_F(Activation, ReportsFailuresOfABackgroundRunInTheForeground) {
  StartedMuster muster(R"(
    job:activate { source = muster.here "set_env.sh" }
    job:workers { count = 1, command = { probe, "env" } })");
  Put(muster, "set_env.sh", "export A=1");
  EXPECT_EQ(muster.Muster({"run", "recipe.lua", "--run-dir", muster / "good", "--detach"}).exit_code, 0);
  EXPECT_EQ(muster.Muster({"watch", muster / "good"}).exit_code, 0);
  EXPECT_NE(StartedMuster::Content(muster / "good/logs/worker.0.0.log").find("\"A=1\""), std::string::npos);
  Put(muster, "set_env.sh", "return 5");
  const CommandResult bad = muster.Muster({"run", "recipe.lua", "--run-dir", muster / "bad", "--detach"});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_NE((bad.out + bad.err).find("exit code 5"), std::string::npos) << bad.out << bad.err;
}

}  // namespace
}  // namespace muster::testing
