// Tests the testbed itself: a real Slurm starts, can be damaged in all ways that other tests need, and nothing of it
// remains.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <unistd.h>

#include "slurm/slurm_testbed.h"
#include "support/await.h"
#include "support/processes.h"

namespace muster::testing {
namespace {

using nlohmann::json;

// Waits until no process has the text in its environment.
bool AwaitEndOf(const std::string& token) {
  for (std::vector<pid_t> left = ProcessesWith(token); !left.empty(); left = ProcessesWith(token)) {
    if (!std::all_of(left.begin(), left.end(), AwaitEnd)) return false;
  }
  return true;
}

// Waits until the testbed's folder, which need not exist yet, has a file of that name.
bool AwaitFile(const SlurmTestbed& testbed, const std::string& name) {
  const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
  for (;;) {
    ::inotify_add_watch(watch.get(), testbed.own_folder().c_str(), IN_CREATE);
    ::inotify_add_watch(watch.get(), testbed.folder().c_str(), IN_CREATE);
    if (std::filesystem::exists(testbed.folder() + "/" + name)) return true;
    char events[4096];
    if (!AwaitReadable(watch.get()) || ::read(watch.get(), events, sizeof events) < 0) return false;
  }
}

// Submits a script that runs until it gets a signal and prints which; returns the job's id.
std::string SubmitSleeper(const SlurmTestbed& testbed, const std::string& name, std::vector<std::string> options) {
  const std::string output = testbed.folder() + "/" + name;
  std::ofstream(output).flush();  // slurmstepd would create it only some time after the start
  const std::string script = testbed.folder() + "/" + name + ".sh";
  std::ofstream(script)
      << "#!/bin/bash\ntrap 'echo TERM; exit 5' TERM\ntrap 'echo USR1' USR1\n"
         "echo attempt ${SLURM_RESTART_COUNT:-0}\nsleep 1000 & while wait; [ $? -gt 128 ]; do :; done\n";
  options.insert(options.begin(), {"sbatch", "--parsable", "--open-mode=append", "-D", "/", "-o", output});
  options.push_back(script);
  return testbed.Ask(options);
}

TEST(SlurmTestbed, RunsTasksOnFourNodes) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  EXPECT_EQ(testbed.Ask({"srun", "-N4", "-l", "hostname"}).size(), std::string("0: n1\n1: n2\n2: n3\n3: n4").size());
  EXPECT_EQ(testbed.Ask({"srun", "-N1", "-w", "n3", "hostname"}), "n3");
  EXPECT_EQ(testbed.Ask({"srun", "-N1", "--gres=gpu:2", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"}), "0,1");
  EXPECT_EQ(RunCommand({.argv = testbed.Login({"srun", "-N2", "sh", "-c", "exit 7"})}).exit_code, 7);
  EXPECT_EQ(testbed.Ask({"hostname"}), "login");
}

TEST(SlurmTestbed, HasNodesThatDiffer) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2, {"--cpus", "16", "--gpus", "2", "--node", "n2 CPUs=8 Gres=gpu:4"});
  ASSERT_TRUE(testbed.Up());
  EXPECT_EQ(testbed.Ask({"sinfo", "-h", "-N", "-p", "main", "-o", "%N %c %G"}), "n1 16 gpu:2\nn2 8 gpu:4");
}

TEST(SlurmTestbed, CoexistsWithAnotherOfTheSameNames) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed one(1);
  SlurmTestbed other(1);
  ASSERT_TRUE(one.Up());
  ASSERT_TRUE(other.Up());
  EXPECT_EQ(one.Ask({"srun", "touch", "/tmp/of-one"}), "");
  EXPECT_EQ(one.Ask({"srun", "ls", "/tmp/of-one"}), "/tmp/of-one");
  EXPECT_NE(other.Ask({"srun", "ls", "/tmp/of-one"}), "/tmp/of-one");
}

TEST(SlurmTestbed, LosesAPoweredOffNode) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2, {"--slurm", "SlurmdTimeout=2"});
  ASSERT_TRUE(testbed.Up());
  const UniqueFd init = PidFd(testbed.Init("n2"));
  ASSERT_TRUE(testbed.PowerOff("n2"));
  EXPECT_TRUE(AwaitReadable(init.get()));
  EXPECT_TRUE(testbed.AwaitNode("n2", "down*"));
  EXPECT_TRUE(testbed.AwaitNode("n1", "idle"));
}

TEST(SlurmTestbed, LosesADisconnectedNodeUntilItsCableIsHealed) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2, {"--slurm", "SlurmdTimeout=2"});
  ASSERT_TRUE(testbed.Up());
  ASSERT_TRUE(testbed.Cut("n2"));
  EXPECT_TRUE(testbed.AwaitNode("n2", "down*"));
  ASSERT_TRUE(testbed.Heal("n2"));
  EXPECT_TRUE(testbed.AwaitNode("n2", "idle"));
}

TEST(SlurmTestbed, KeepsAJobThroughRestartsOfItsDaemons) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const std::string job = SubmitSleeper(testbed, "job", {"-N2"});
  ASSERT_TRUE(testbed.AwaitJob(job, "RUNNING"));
  ASSERT_TRUE(testbed.StopDaemon("ctl"));
  EXPECT_NE(RunCommand({.argv = testbed.Login({"squeue"})}).exit_code, 0);
  EXPECT_FALSE(testbed.StopDaemon("ctl")) << "it does not run";
  ASSERT_TRUE(testbed.StartDaemon("ctl"));
  EXPECT_FALSE(testbed.StartDaemon("ctl")) << "it runs";
  ASSERT_TRUE(testbed.CrashDaemon("ctl"));
  ASSERT_TRUE(testbed.StartDaemon("ctl"));
  ASSERT_TRUE(testbed.CrashDaemon("n2"));
  ASSERT_TRUE(testbed.StartDaemon("n2"));
  EXPECT_TRUE(testbed.AwaitJob(job, "RUNNING"));
  EXPECT_EQ(testbed.Ask({"scancel", job}), "");
  EXPECT_TRUE(testbed.AwaitJob(job, "CANCELLED"));
}

TEST(SlurmTestbed, DrainsANode) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  EXPECT_EQ(testbed.Ask({"scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test"}), "");
  EXPECT_TRUE(testbed.AwaitNode("n2", "drain"));
  EXPECT_EQ(testbed.Ask({"scontrol", "update", "NodeName=n2", "State=RESUME"}), "");
  EXPECT_TRUE(testbed.AwaitNode("n2", "idle"));
}

TEST(SlurmTestbed, PreemptsAJobAndRequeuesIt) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const std::string patient = SubmitSleeper(testbed, "patient", {"-N2", "--exclusive", "--requeue"});
  ASSERT_TRUE(testbed.AwaitJob(patient, "RUNNING"));
  ASSERT_TRUE(AwaitLine(testbed.folder() + "/patient", "attempt 0"));
  const std::string urgent = SubmitSleeper(testbed, "urgent", {"-N2", "--exclusive", "-p", "urgent"});
  ASSERT_TRUE(testbed.AwaitJob(urgent, "RUNNING"));
  EXPECT_TRUE(testbed.AwaitJob(patient, "PENDING"));
  EXPECT_EQ(testbed.Ask({"scancel", urgent}), "");
  EXPECT_TRUE(AwaitLine(testbed.folder() + "/patient", "attempt 1"));
}

TEST(SlurmTestbed, EndsAJobAtItsTimeLimit) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  const std::string job = SubmitSleeper(testbed, "job", {"-N1", "-t", "10", "--signal=B:USR1@1"});
  ASSERT_TRUE(testbed.AwaitJob(job, "RUNNING"));
  ASSERT_TRUE(AwaitLine(testbed.folder() + "/job", "attempt 0"));
  EXPECT_EQ(testbed.Ask({"scontrol", "update", "JobId=" + job, "EndTime=now+31"}), "");
  // Limits are whole minutes, checked every 30 seconds; the warning comes up to 30 seconds early.
  EXPECT_TRUE(testbed.AwaitJob(job, "TIMEOUT"));
  EXPECT_TRUE(AwaitLine(testbed.folder() + "/job", "USR1"));
}

TEST(SlurmTestbed, EndsOrphansOfAJobWithItsCgroup) {
  SKIP_WITHOUT_SLURM();
  if (::access("/sys/fs/cgroup/freezer/cgroup.procs", W_OK) != 0) GTEST_SKIP() << "no freezer of cgroup v1 here";
  const std::string group = "/sys/fs/cgroup/freezer/slurm_n1";
  SlurmTestbed testbed(1, {"--slurm", "ProctrackType=proctrack/cgroup"});
  ASSERT_TRUE(testbed.Up());
  EXPECT_EQ(testbed.Ask({"srun", "-n1", "sh", "-c",
                         "setsid sh -c 'MUSTER_PROCESS=" + testbed.folder() +
                             " exec sleep 1000' > /dev/null 2>&1 & while [ ! -e /proc/$!/cmdline ]; do :; done"}),
            "");
  EXPECT_TRUE(std::filesystem::exists(group));
  EXPECT_TRUE(AwaitEndOf("MUSTER_PROCESS=" + testbed.folder()));
  testbed.Down();
  EXPECT_FALSE(std::filesystem::exists(group));
}

// --- the end of the testbed --------------------------------------------------------------------------

TEST(SlurmTestbed, LeavesNothingAtItsEnd) {
  SKIP_WITHOUT_SLURM();
  SlurmTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  ASSERT_EQ(testbed.Ask({"srun", "-N2", "sh", "-c", "setsid sleep 1000 > /dev/null 2>&1 & :"}), "");
  std::vector<UniqueFd> inits;
  for (const std::string host : {"n1", "n2", "ctl"}) inits.push_back(PidFd(testbed.Init(host)));
  testbed.Down();
  for (const UniqueFd& init : inits) EXPECT_TRUE(AwaitReadable(init.get(), std::chrono::milliseconds(0)));
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(testbed.folder()))
    left.push_back(entry.path().filename());
  EXPECT_EQ(left, std::vector<std::string>{"lock"});
}

TEST(SlurmTestbed, IsCleanedUpByTheKernelWhenKilledAtAnyTime) {
  SKIP_WITHOUT_SLURM();
  const std::string program = std::string(MUSTER_SOURCE_DIR) + "/tests/slurm/testbed";
  const int rounds = std::getenv("MUSTER_LONG") != nullptr ? 8 : 1;
  for (int round = 0; round < rounds; ++round) {
    // Stages from before the first host to after the last daemon.
    for (const std::string stage : {"lock", "slurm.conf", "n1", "ctl", "testbed.json", "munge.socket", "up"}) {
      SCOPED_TRACE(stage);
      SlurmTestbed testbed(3);
      ASSERT_TRUE(stage == "up" ? testbed.Up() : AwaitFile(testbed, stage));
      testbed.KillTestbed();
      EXPECT_TRUE(AwaitEndOf("SLURM_CONF=" + testbed.folder() + "/slurm.conf"));
      // Files of a killed testbed do not prevent a new one in the same folder.
      if (stage != "munge.socket" && stage != "n1") continue;
      EXPECT_EQ(RunCommand({.argv = {program, "up", "1", testbed.folder()}}).out, "up\n");
    }
  }
}

// Simulates a killed test program: the testbed sees the end of its stdin.
TEST(SlurmTestbed, EndsWhenItsOwnerIsKilled) {
  SKIP_WITHOUT_SLURM();
  const TempDir folder;
  int words[2] = {-1, -1};
  ASSERT_EQ(::pipe2(words, O_CLOEXEC), 0);
  const UniqueFd reported(words[0]);
  UniqueFd tell(words[1]);
  const pid_t owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    ::setenv("TMPDIR", folder.path().c_str(), 1);
    SlurmTestbed testbed(2);
    const std::string where = testbed.Up() ? testbed.folder() + "\n" : "not up\n";
    if (::write(tell.get(), where.data(), where.size()) < 0) ::_exit(1);
    for (;;) ::pause();
  }
  tell.reset();
  std::string where;
  for (char c = 0; ::read(reported.get(), &c, 1) == 1 && c != '\n';) where += c;
  std::ifstream file(where + "/testbed.json");
  const json parsed = json::parse(file, nullptr, false);
  const json facts = parsed.is_object() ? parsed : json::object();
  std::vector<UniqueFd> ends;
  if (facts.contains("pid")) ends.push_back(PidFd(facts["pid"].get<pid_t>()));
  for (const json& host : facts.value("hosts", json::array())) ends.push_back(PidFd(host["pid"].get<pid_t>()));
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  ASSERT_EQ(ends.size(), 4U) << where;
  for (const UniqueFd& end : ends) EXPECT_TRUE(end && AwaitReadable(end.get()));
  EXPECT_FALSE(std::filesystem::exists(where + "/slurm.conf"));
}

}  // namespace
}  // namespace muster::testing
