// Tests commands of muster inside an allocation, with stand-ins for the engine's commands, and batch scripts outside.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

std::string Content(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// An allocation of Slurm with these nodes, all of which are this machine.
class StandIn {
 public:
  explicit StandIn(std::string nodes, const std::string& devices = "Nodes=none GRES=") : nodes_(std::move(nodes)) {
    std::ofstream(folder_ / "scontrol") << "JobId=7 " << devices << "\n";
    std::ofstream(folder_ / "recipe.lua")
        << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\",\n"
           "  plan = function(p, job)\n"
           "    job:workers { per_host = 1, command = { \"sh\", \"-c\", \"echo rank $MUSTER_RANK "
           "of $SLURM_JOB_ID on ${SLURM_PROCID-nowhere}\" } }\n  end }\n";
  }

  CommandResult Call(const std::vector<std::string>& words, const std::vector<std::string>& variables = {}) const {
    Command command;
    command.argv = {MusterProgram()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.cwd = MUSTER_SOURCE_DIR;
    // Real clients of Slurm must never be reached: without a configuration they ask a name server.
    command.env = {"PATH=" MUSTER_SOURCE_DIR "/tests/engine/standins:/usr/bin:/bin",
                   "SLURM_CONF=/dev/null",
                   "MUSTER_STANDIN=" + folder_.path(),
                   "HOME=" + folder_.path(),
                   "MUSTER_HOME=" + folder_.path(),
                   "SLURM_JOB_ID=7",
                   "SLURM_JOB_NODELIST=" + nodes_,
                   "SLURM_PROCID=0",
                   "SLURM_WAIT=1"};
    command.env.insert(command.env.end(), variables.begin(), variables.end());
    return RunCommand(command);
  }
  std::string recipe() const { return folder_ / "recipe.lua"; }
  std::string Calls() const { return Content(folder_ / "srun"); }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  TempDir folder_;
  std::string nodes_;
};

// "a/8 b/8": the hosts of the plan, or standard error.
std::string PlannedHosts(const StandIn& slurm, std::vector<std::string> words) {
  words.insert(words.begin(), {"plan", slurm.recipe(), "--json"});
  const CommandResult result = slurm.Call(words);
  if (result.exit_code != 0) return result.err;
  const auto plan = nlohmann::json::parse(result.out);
  std::string hosts;
  for (const auto& host : plan["hosts"]) {
    hosts += (hosts.empty() ? "" : " ") + host.value("name", "") + "/" + std::to_string(host["devices"].get<int>());
  }
  return hosts;
}

TEST(InAnAllocation, APlanHasItsHostsWithTheirDevices) {
  const StandIn slurm("a[2,1],b", "JOB_GRES=gpu:10 Nodes=a[1-2] GRES=gpu:4(IDX:0-3) Nodes=b GRES=gpu:2(IDX:6-7)");
  EXPECT_EQ(PlannedHosts(slurm, {}), "a2/4 a1/4 b/2");
  EXPECT_EQ(PlannedHosts(slurm, {"hosts=2"}), "a2/4 a1/4") << "the recipe says how many are used";
  EXPECT_EQ(PlannedHosts(slurm, {"--spares", "1"}), "a2/4 a1/4");
  EXPECT_EQ(PlannedHosts(slurm, {"--exclude", "a1"}), "a2/4 b/2");
  EXPECT_EQ(PlannedHosts(slurm, {"--on", "slurm"}), "a2/4 a1/4 b/2");
  EXPECT_EQ(PlannedHosts(slurm, {"--on", "slurm", "--host", "b"}), "b/2");
  EXPECT_EQ(PlannedHosts(slurm, {"--on", "local"}), "/1");
  EXPECT_EQ(PlannedHosts(slurm, {"--host", "c:3"}), "c/3") << "who names hosts means these";
}

// "4 4 1": the workers of each host.
std::string WorkersOfHosts(const StandIn& slurm, std::vector<std::string> words,
                           const std::vector<std::string>& variables) {
  words.insert(words.begin(), {"plan", "--json"});
  const CommandResult result = slurm.Call(words, variables);
  if (result.exit_code != 0) return result.err;
  const auto plan = nlohmann::json::parse(result.out);
  std::vector<int> workers(plan["hosts"].size());
  for (const auto& process : plan["processes"]) {
    for (std::size_t host = 0; host < workers.size(); ++host)
      workers[host] += plan["hosts"][host]["label"] == process["host"] ? 1 : 0;
  }
  std::string text;
  for (const int number : workers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

TEST(InAnAllocation, WorkersFillTheTasksOfItsNodes) {
  const StandIn slurm("a,b,c");
  using Words = std::vector<std::string>;
  const Words room = {"SLURM_TASKS_PER_NODE=4(x2),1"};
  const Words tasks = {"SLURM_TASKS_PER_NODE=4(x2),1", "SLURM_NTASKS=9"};
  const Words nine = {"@torch", "workers=9", "--", "true"};
  const Words five = {"@torch", "workers=5", "--", "true"};
  EXPECT_EQ(WorkersOfHosts(slurm, nine, room), "4 4 1") << "processors";
  EXPECT_EQ(WorkersOfHosts(slurm, five, room), "2 2 1") << "nobody asked for tasks";
  EXPECT_EQ(WorkersOfHosts(slurm, nine, tasks), "4 4 1");
  EXPECT_EQ(WorkersOfHosts(slurm, five, tasks), "4 1 0");
  EXPECT_EQ(WorkersOfHosts(slurm, {"@mpi", "workers=9", "start=variables", "--", "true"}, tasks), "4 4 1");
  EXPECT_EQ(WorkersOfHosts(slurm, {"@torch", "workers=5", "--on", "slurm", "--host", "c,a", "--", "true"}, tasks),
            "1 4");
  EXPECT_EQ(WorkersOfHosts(slurm, {"@torch", "workers=5", "--on", "slurm", "--host", "c:3,a:2", "--", "true"}, tasks),
            "3 2")
      << "the command line's numbers";
  const CommandResult beyond = slurm.Call({"plan", "@mpi", "workers=10", "--", "true"}, tasks);
  EXPECT_EQ(beyond.exit_code, 2);
  EXPECT_NE(beyond.err.find("10 workers in an allocation of 9 tasks"), std::string::npos) << beyond.err;
  EXPECT_NE(beyond.err.find("salloc -n"), std::string::npos) << beyond.err;
}

TEST(InAnAllocation, HostsOutsideOfItAreRefused) {
  const StandIn slurm("a[1-2]");
  EXPECT_NE(PlannedHosts(slurm, {"--on", "slurm", "--host", "c"}).find("c is not in the allocation of slurm job 7"),
            std::string::npos);
  EXPECT_NE(PlannedHosts(slurm, {"hosts=3"}).find("hosts = 3, but only 2 are named: a[1-2] (slurm job 7)"),
            std::string::npos);
  const CommandResult doctor = slurm.Call({"doctor", "--on", "pbs"});
  EXPECT_NE(doctor.err.find("--on pbs: this is not inside an allocation of pbs (PBS_JOBID is not set)"),
            std::string::npos)
      << doctor.err;
}

TEST(InAnAllocation, ARunStartsOneAgentPerHostByOneCommand) {
  const StandIn slurm("a,b");
  const CommandResult result = slurm.Call({"run", slurm.recipe(), "--run-dir", slurm / "run", "--tee", "worker"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string calls = slurm.Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 1) << calls;
  EXPECT_EQ(calls.find("--nodes=2 --ntasks=2 --ntasks-per-node=1 --nodelist=a,b --no-kill"), 0U) << calls;
  const std::string both = result.out + result.err;
  EXPECT_NE(both.find("rank 0 of 7 on nowhere"), std::string::npos) << both;
  EXPECT_NE(both.find("rank 1 of 7 on nowhere"), std::string::npos) << both;
  EXPECT_TRUE(std::filesystem::is_empty(slurm / ".local/state/muster/dial")) << "the token is removed";
}

TEST(InAnAllocation, APlanOfAFileRunsOnItsHosts) {
  const StandIn slurm("a,b");
  const CommandResult plan = slurm.Call({"plan", slurm.recipe(), "--on", "local", "--json"});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  std::ofstream(slurm / "plan.json") << plan.out;
  const CommandResult result = slurm.Call({"run", "--plan", slurm / "plan.json", "--run-dir", slurm / "run"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(slurm.Calls().find("--nodelist=a"), std::string::npos);
}

TEST(InAnAllocation, TheFirstFailureDecidesTheExitCode) {
  const StandIn slurm("a,b");
  std::ofstream(slurm.recipe())
      << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", plan = function(p, job)\n"
         "job:workers { per_host = 1, command = { \"sh\", \"-c\", \"exit $((MUSTER_RANK * 5))\" } }\nend }\n";
  const CommandResult result = slurm.Call({"run", slurm.recipe(), "--run-dir", slurm / "run", "--pass-exit-code"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
}

TEST(InAnAllocation, ASweepUsesItsHosts) {
  const StandIn slurm("a,b");
  std::ofstream(slurm.recipe())
      << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", params = { x = muster.int { 1 } },\n"
         "plan = function(p, job) job:workers { count = 1, command = { \"true\" } } end }\n";
  const CommandResult result = slurm.Call({"sweep", slurm.recipe(), "--grid", "x=1,2,3", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string calls = slurm.Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 1) << calls;
}

TEST(InAnAllocation, DoctorLooksAtItsHosts) {
  const StandIn slurm("a,b");
  const CommandResult result = slurm.Call({"doctor", "--json"});
  EXPECT_NE(result.out.find("\"b\""), std::string::npos) << result.out << result.err;
  EXPECT_NE(slurm.Calls().find("--nodelist=a,b"), std::string::npos);
}

TEST(InAnAllocation, AProcessOfARunDoesNotTakeIt) {
  const StandIn slurm("a,b");
  const CommandResult result = slurm.Call({"plan", slurm.recipe(), "--full"}, {"MUSTER_PROCESS=x/worker.0.0"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.find("slurm job 7"), std::string::npos) << result.out;
}

TEST(InAnAllocation, AnEngineThatDoesNotAnswerIsTheMachinesFault) {
  const StandIn slurm("a,b");
  std::filesystem::remove(slurm / "scontrol");
  const CommandResult result = slurm.Call({"run", slurm.recipe(), "--run-dir", slurm / "run"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("Invalid job id specified"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("--on local runs on this machine"), std::string::npos) << result.err;
  // A batch script says where, and is not meant to run anywhere else.
  const CommandResult batch = slurm.Call({"run", slurm.recipe(), "--run-dir", slurm / "run", "--on", "slurm"});
  EXPECT_EQ(batch.exit_code, 3);
  EXPECT_NE(batch.err.find("Invalid job id specified"), std::string::npos) << batch.err;
  EXPECT_EQ(batch.err.find("--on local"), std::string::npos) << batch.err;
}

// Prevents: a job whose first second falls into a restart of slurmctld ends at once.
TEST(InAnAllocation, AControllerThatRestartsIsAskedAgain) {
  const StandIn slurm("a,b", "Nodes=a,b GRES=gpu:2(IDX:0-1)");
  std::ofstream(slurm / "away") << "1\n2\n";
  const CommandResult result = slurm.Call({"plan", slurm.recipe(), "--json", "--on", "slurm"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(
      result.err,
      "muster: slurm does not answer: scontrol: slurm_load_jobs error: Unable to contact slurm controller (connect "
      "failure); asking again for up to 60 s\n");
}

// mpirun gets no variables of Slurm (docs/decisions), so that it reaches the other hosts by ssh; plain mpirun does not.
TEST(InAnAllocation, MpirunTakesSshAndAWarningSaysSo) {
  const StandIn slurm("a,b");
  const std::string warning = "mpirun reaches the other hosts of slurm job 7 by ssh";
  const auto said = [&](const std::vector<std::string>& words, const std::vector<std::string>& variables = {}) {
    std::vector<std::string> call = {"run", "@mpi", "workers=2", "--run-dir",
                                     slurm / ("run" + std::to_string(words.size()))};
    call.insert(call.end(), words.begin(), words.end());
    call.insert(call.end(), {"--", "/bin/true"});
    return slurm.Call(call, variables).err;
  };
  const std::string by_mpirun = said({});
  EXPECT_NE(by_mpirun.find(warning), std::string::npos) << by_mpirun;
  EXPECT_NE(by_mpirun.find("muster run @mpi start=srun"), std::string::npos) << by_mpirun;
  const std::string by_srun = said({"start=srun"});
  EXPECT_EQ(by_srun.find(warning), std::string::npos) << by_srun;
  const std::string on_one = said({"--host", "a", "--on", "slurm"});
  EXPECT_EQ(on_one.find(warning), std::string::npos) << "there is no other host: " << on_one;
}

// Words of people for the states of a job: of a run that no head has begun.
TEST(JobsOfRuns, ThatNeverBeganHaveTheirEndInASentence) {
  const StandIn slurm("a");
  const auto report = [&](const std::string& end) {
    const std::string run = slurm / "waits";
    std::filesystem::create_directories(run);
    std::ofstream(run + "/plan.json") << "{}";
    std::ofstream(run + "/job.json") << R"({"format": 1, "engine": "slurm", "run": "3f9a1c2b4d5e", "name": "train"})";
    std::ofstream(run + "/job_id") << "74\n";
    std::ofstream(run + "/job.out") << "";
    std::ofstream(run + "/job_end.json") << "{\"format\": 1, " << end << "}";
    const CommandResult result = slurm.Call({"report", run});
    return result.out.substr(0, result.out.find('\n')) + result.err;
  };
  const std::string begin = "train has not begun: slurm job 74 ";
  EXPECT_EQ(report(R"("state": "failed", "reason": "JobLaunchFailure")"), begin + "failed: JobLaunchFailure");
  EXPECT_EQ(report(R"("state": "vanished", "reason": "")"), begin + "is not known to the engine any more");
  EXPECT_EQ(report(R"("state": "cancelled", "reason": "Nodes required for job are DOWN")"), begin + "was cancelled")
      << "the reason is that of the queue";
  EXPECT_EQ(report(R"("state": "time_limit", "reason": "TimeLimit")"), begin + "reached its time limit: TimeLimit");
  EXPECT_EQ(report(R"("state": "node_failed", "reason": "")"), begin + "lost a node");
  EXPECT_EQ(report(R"("state": "out_of_memory", "reason": "OutOfMemory")"), begin + "ran out of memory: OutOfMemory");
  EXPECT_EQ(report(R"("state": "queued", "reason": "Resources")"), begin + "is queued: Resources");
  EXPECT_EQ(report(R"("state": "suspended", "reason": "")"), begin + "is suspended");
}

TEST(InAnAllocation, SettingsForAnAllocationAreRefused) {
  const StandIn slurm("a,b");
  const CommandResult result = slurm.Call({"run", slurm.recipe(), "--slurm", "time=1h"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("the run uses the one that it is in"), std::string::npos) << result.err;
}

TEST(BatchScripts, AskForWhatRecipeAndCommandLineSay) {
  const OneRecipe recipe("job:workers { per_host = 1, command = { 'true', job.args } }",
                         "slurm = { partition = 'gpu', time = '90m', gres = 'gpu:8' }, cluster = { hosts = 2 },");
  const CommandResult result = Muster(
      {"plan", recipe.path(), "--on", "slurm", "--slurm", "time=2h", "--slurm=nodes=3", "hosts=2", "--", "--on", "x"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const std::string line : {"#!/bin/sh\n", "#SBATCH --job-name=t\n", "#SBATCH --nodes=3\n",
                                 "#SBATCH --partition=gpu\n", "#SBATCH --time=02:00:00\n", "#SBATCH --gres=gpu:8\n",
                                 "# t: 2 processes on 2 hosts, 1 spare\n", "cd " MUSTER_SOURCE_DIR " || exit 3\n"}) {
    EXPECT_NE(result.out.find(line), std::string::npos) << line << result.out;
  }
  EXPECT_TRUE(
      result.out.ends_with("exec " + MusterProgram() + " run " + recipe.path() + " hosts=2 --on slurm -- --on x\n"))
      << result.out;
}

TEST(BatchScripts, PlanForTheDevicesThatAreRequested) {
  const OneRecipe recipe("job:workers { per_host = job.cluster.devices_per_host, devices = 1, command = { 'true' } }");
  const CommandResult result =
      Muster({"plan", recipe.path(), "--on", "slurm", "--slurm", "gres=gpu:8", "--slurm", "nodes=2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("# t: 16 processes on 2 hosts\n"), std::string::npos) << result.out;
}

TEST(BatchScripts, ReportMistakesAtTheirPlace) {
  const OneRecipe recipe("job:workers { per_host = 1, command = { 'true' } }", "slurm = { partitoin = 'gpu' },");
  const CommandResult wrong = Muster({"plan", recipe.path(), "--on", "slurm"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("recipe.lua:2"), std::string::npos) << wrong.err;
  EXPECT_NE(wrong.err.find("slurm has no option partitoin"), std::string::npos) << wrong.err;
  const OneRecipe sound("job:workers { per_host = 1, command = { 'true' } }", "cluster = { hosts = 4 },");
  EXPECT_NE(
      Muster({"plan", sound.path(), "--on", "slurm", "--slurm", "nodes=2"}).err.find("hosts = 4, but only 2 are named"),
      std::string::npos);
  EXPECT_NE(Muster({"plan", sound.path(), "--on", "slrum"}).err.find("did you mean \"slurm\"?"), std::string::npos);
  EXPECT_NE(Muster({"plan", sound.path(), "--on", "slurm", "--host", "n1"}).err.find("the engine chooses the hosts"),
            std::string::npos);
}

TEST(BatchScripts, ARehearsalSubmitsNone) {
  const OneRecipe recipe("job:workers { per_host = 1, command = { 'true' } }");
  const CommandResult result = Muster({"rehearse", recipe.path(), "--on", "slurm"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("this is not inside an allocation"), std::string::npos) << result.err;
}

TEST(BatchScripts, AllowARequeueWhereItIsAskedFor) {
  const OneRecipe recipe("job:workers { per_host = 1, command = { 'true' } }",
                         "slurm = { requeue = { on = { 'time_limit', 'node_fail' }, max = 2 } },");
  EXPECT_NE(Muster({"plan", recipe.path(), "--on", "slurm"}).out.find("#SBATCH --requeue\n"), std::string::npos);
  const OneRecipe without("job:workers { per_host = 1, command = { 'true' } }");
  EXPECT_NE(Muster({"plan", without.path(), "--on", "slurm"}).out.find("#SBATCH --no-requeue\n"), std::string::npos);
  const CommandResult wrong =
      Muster({"plan", without.path(), "--on", "slurm", "--slurm", "requeue=time_limit,never:3"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("requeue.on has only time_limit, preempted, node_fail, failed"), std::string::npos)
      << wrong.err;
  const CommandResult pbs = Muster({"plan", without.path(), "--on", "pbs", "--engine-option", "requeue=time_limit"});
  EXPECT_NE(pbs.err.find("pbs has no option requeue"), std::string::npos) << pbs.err;
}

// Another engine than Slurm, with stand-ins for its commands.
class SubmittedToPbs : public ::testing::Test {
 protected:
  SubmittedToPbs() {
    std::ofstream(folder_ / "recipe.lua")
        << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", plan = function(p, job)\n"
           "  job:workers { count = 2, command = { \"sh\", \"-c\", \"echo rank $MUSTER_RANK; exit $((MUSTER_RANK * "
           "${CODE:-0}))\" } }\nend }\n";
  }
  CommandResult Call(std::vector<std::string> words, const std::vector<std::string>& variables = {}) const {
    Command command;
    words.insert(words.begin(), MusterProgram());
    command.argv = std::move(words);
    command.cwd = MUSTER_SOURCE_DIR;
    command.env = {"PATH=" MUSTER_SOURCE_DIR "/tests/engine/standins:/usr/bin:/bin", "MUSTER_STANDIN=" + folder_.path(),
                   "HOME=" + folder_.path(), "MUSTER_HOME=" + folder_.path()};
    command.env.insert(command.env.end(), variables.begin(), variables.end());
    return RunCommand(command);
  }
  CommandResult Submit(std::vector<std::string> words, const std::vector<std::string>& variables = {}) const {
    words.insert(words.begin(), {"run", folder_ / "recipe.lua", "--on", "pbs"});
    return Call(std::move(words), variables);
  }

  TempDir folder_;
};

TEST_F(SubmittedToPbs, ARunIsFollowedToItsEnd) {
  const CommandResult result = Submit({"--run-dir", folder_ / "run"});
  ASSERT_EQ(result.exit_code, 0) << result.err << Content(folder_ / "run/job.out");
  EXPECT_NE(result.err.find("submitted as pbs job 7.pbs"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("worker.1 | rank 1"), std::string::npos) << result.out;
  EXPECT_NE(Content(folder_ / "qsub.script").find("#PBS -o " + (folder_ / "run/job.out") + "\n"), std::string::npos);
  EXPECT_NE(Call({"report", folder_ / "run"}).out.find("pbs job 7.pbs"), std::string::npos);
}

TEST_F(SubmittedToPbs, TheFirstFailureIsTheExitCode) {
  const CommandResult result = Submit({"--run-dir", folder_ / "run", "--pass-exit-code"}, {"CODE=7"});
  EXPECT_EQ(result.exit_code, 7) << result.err;
}

TEST_F(SubmittedToPbs, AQueuedJobIsShownAndCancelled) {
  std::ofstream(folder_ / "hold").flush();
  const CommandResult submitted = Submit({"--detach"});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  const std::string id = submitted.out.substr(0, submitted.out.find(' '));
  const CommandResult listed = Call({"ps"});
  EXPECT_NE(listed.out.find("queued: Not Running: Insufficient amount of resource"), std::string::npos) << listed.out;
  const CommandResult stopped = Call({"stop", id});
  EXPECT_EQ(stopped.out, "t " + id + ": pbs job 7.pbs is cancelled\n") << stopped.err;
  EXPECT_EQ(Content(folder_ / "qdel.calls"), "7.pbs\n");
  EXPECT_EQ(Call({"ps"}).out.find(id), std::string::npos);
  EXPECT_NE(Call({"watch", id}).exit_code, 0);
}

TEST_F(SubmittedToPbs, NothingIsLeftOfARefusedSubmission) {
  std::ofstream(folder_ / "refuse") << "qsub: Unknown queue";
  const CommandResult result = Submit({"--engine-option", "queue=gpu"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(result.err.find("qsub: Unknown queue"), std::string::npos) << result.err;
  EXPECT_EQ(Call({"report"}).exit_code, 2);
}

TEST_F(SubmittedToPbs, NothingIsLeftOfARefusedSweep) {
  std::ofstream(folder_ / "recipe.lua")
      << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", params = { n = muster.int { 1 } },\n"
         "  plan = function(p, job) job:workers { count = 1, command = { \"true\" } } end }\n";
  const auto sweep = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"sweep", folder_ / "recipe.lua", "--grid", "n=1,2"};
    words.insert(words.end(), more.begin(), more.end());
    return Call(words);
  };
  std::ofstream(folder_ / "refuse") << "qsub: Unknown queue";
  const CommandResult queue = sweep({"--on", "pbs", "--engine-option", "queue=gpu"});
  EXPECT_EQ(queue.exit_code, 3) << queue.err;
  EXPECT_NE(queue.err.find("qsub: Unknown queue"), std::string::npos) << queue.err;
  const CommandResult directive = sweep({"--on", "pbs", "--engine-option", "extra=-v A=\x1b[2J"});
  EXPECT_NE(directive.exit_code, 0) << directive.err;
  const CommandResult hosts = sweep({"--on", "pbs", "--host", "a"});
  EXPECT_EQ(hosts.exit_code, 2) << hosts.err;
  const std::filesystem::path sweeps = folder_ / "sweeps";
  std::vector<std::string> left;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sweeps, none))
    if (entry.path().filename() == "sweep.json" || entry.is_symlink()) left.push_back(entry.path());
  EXPECT_EQ(left, std::vector<std::string>()) << "stillborn sweeps";
}

TEST(PagesOfUsers, AreUsedAsTheProgramsOwn) {
  const StandIn slurm("unused");
  std::ofstream(slurm / "mine.lua") << R"(return {
  name = "mine", doc = "Ours.",
  inside = "MINE_JOB", job = { variable = "MINE_JOB" }, hosts = { variable = "MINE_HOSTS", form = "words" }, node_name = "MINE_NODE",
  start = { "sh", "-c", 'agent=$1 file=$2 options=$3; shift 3; for h do MINE_NODE=$h "$agent" --dial "$file" $options & done; wait',
            "mine", "{agent}", "{dial_file}", "{options}", "{each_host}" },
  options = { { name = "nodes", type = "count", line = "-n {value}" }, { name = "time", type = "duration", form = "seconds", line = "-t {value}" } },
  script = { directive = "#MINE " },
  submit = { command = { "msub" } }, cancel = { "mdel", "{job}" },
  queries = { { command = { "mstat" }, columns = { "job", "state" } } }, states = { R = "running" },
})";
  const CommandResult result =
      slurm.Call({"run", slurm.recipe(), "--engine", slurm / "mine.lua", "--run-dir", slurm / "run"},
                 {"MINE_JOB=1", "MINE_HOSTS=x y"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(Content(slurm / "run/plan.json").find("\"y\""), std::string::npos);
  const CommandResult script = slurm.Call({"plan", slurm.recipe(), "--engine", slurm / "mine.lua", "--engine-option",
                                           "time=1h", "--engine-option", "nodes=2"});
  EXPECT_EQ(script.exit_code, 0) << script.err;
  EXPECT_NE(script.out.find("#MINE -n 2\n#MINE -t 3600\n"), std::string::npos) << script.out;
}

TEST(PagesOfUsers, HaveTheirMistakesReportedAtTheirLine) {
  const StandIn slurm("a");
  std::ofstream(slurm / "mine.lua") << "return {\n  name = \"mine\",\n  strat = { \"x\" },\n}\n";
  const CommandResult result = slurm.Call({"plan", slurm.recipe(), "--engine", slurm / "mine.lua"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("mine.lua:3"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("did you mean \"start\"?"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace muster::testing
