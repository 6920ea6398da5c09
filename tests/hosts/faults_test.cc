// Tests failures in whole runs on several hosts: the report names the host and the cause, and nothing remains on any
// host.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "hosts/hosts_run.h"

namespace muster::testing {
namespace {

// Returns the text of the final report.
std::string Reported(HostsRun& run) {
  run.Result();
  return ContentOf(run.run_dir() + "/report.txt");
}
bool Says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// --- failures before the start ---------------------------------------------------------------------

TEST(ManyHosts, AreReportedTogetherIfUnreachable) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2"});
  HostsRun run(testbed, Recipe(4, kSleepers), {"--host", "n1,x7,n2,x8"});
  EXPECT_EQ(run.Result().exit_code, 3);
  EXPECT_NE(run.Result().err.find("2 of 4 hosts: there is no host of that name: x[7-8]"), std::string::npos)
      << run.Result().err;
  EXPECT_TRUE(run.Journal("process_started").empty());
  EXPECT_EQ(run.Report()["outcome"], "failed");
  before.ExpectNothingLeft(run);
}

TEST(ManyHosts, ReportAnOlderAgent) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2"});
  const std::string older = testbed.folder() + "/older";
  std::ofstream(older) << "#!/bin/sh\nprintf 'muster-agent/1\\n'\nexec cat > /dev/null\n";
  std::filesystem::permissions(older, std::filesystem::perms::owner_all);
  HostsRun run(testbed, Recipe(2, kSleepers), {"--host", "n[1-2]", "--agent", older});
  EXPECT_EQ(run.Result().exit_code, 3);
  EXPECT_NE(run.Result().err.find("2 of 2 hosts: its agent: it speaks protocol 1, this muster "), std::string::npos)
      << run.Result().err;
  before.ExpectNothingLeft(run);
}

TEST(ManyHosts, ReportWrongHostKeys) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2", "n3"});
  std::string known = ContentOf(testbed.folder() + "/known_hosts");
  const std::size_t n2 = known.find("n2,");
  const std::size_t n3 = known.find("n3,");
  known.replace(n2, n3 - n2, "n2" + known.substr(known.find(' ', n3)));
  std::ofstream(testbed.folder() + "/known_hosts") << known;
  HostsRun run(testbed, Recipe(3, kSleepers), {"--host", "n[1-3]"});
  EXPECT_EQ(run.Result().exit_code, 3);
  const std::string why = "1 of 3 hosts: its host key has changed: n2";
  EXPECT_TRUE(Says(run.Result().err, why)) << run.Result().err;
  EXPECT_TRUE(Says(run.Result().err, "hint: find out why before you trust it")) << run.Result().err;
  EXPECT_TRUE(Says(Reported(run), why)) << Reported(run);
  EXPECT_TRUE(run.Journal("process_started").empty());
  before.ExpectNothingLeft(run);
}

// Eleven names of one host, whose sshd accepts only ten unauthenticated connections.
TEST(ManyHosts, RetryIfSshdRefusesTheEleventhConnection) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1, {"--sshd", "MaxStartups 10:100:10"});
  ASSERT_TRUE(testbed.Up());
  const HostProcesses before(testbed.Init("n1"));
  std::ofstream config(testbed.ssh_config(), std::ios::app);
  for (int i = 1; i <= 44; ++i) config << "Host a" << i << "\n  HostName 10.77.0.1\n  HostKeyAlias n1\n";
  config.close();
  HostsRun run(testbed,
               Recipe(44,
                      "    job:workers { count = 44, devices = 0, cwd = '/', command = muster.shell "
                      "'echo rank $MUSTER_RANK' }"),
               {"--host", "a[1-44]"}, testbed.folder() + "/shared");
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().err;
  EXPECT_EQ(run.Journal("agent_connected").size(), 44U);
  for (int rank = 0; rank < 44; ++rank) {
    EXPECT_EQ(run.Log("worker." + std::to_string(rank)), "rank " + std::to_string(rank) + "\n");
  }
  EXPECT_TRUE(before.New().empty());
}

// --- full disks ------------------------------------------------------------------------------------

// A run over n1 and n2, where n2 has little room for the run directory.
struct SmallDisk {
  SmallDisk(const HostsTestbed& testbed, const std::string& mount_options) : folder(testbed.own_folder() + "/small") {
    std::filesystem::create_directory(folder);
    made = RunCommand({.argv = testbed.On(
                           "n2", {"sh", "-c",
                                  "mkdir " + folder + " && mount -t tmpfs -o " + mount_options + " small " + folder})})
               .exit_code == 0;
  }
  std::string folder;
  bool made = false;
};

TEST(ManyHosts, ReportAFullDiskForTheRunDirectory) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2"});
  const SmallDisk disk(testbed, "nr_inodes=2");
  ASSERT_TRUE(disk.made);
  std::filesystem::create_directory(disk.folder + "/one");
  const std::string run_dir = disk.folder + "/one/run";
  HostsRun run(testbed, Recipe(2, kSleepers), {"--host", "n[1-2]"}, run_dir);
  EXPECT_EQ(run.Result().exit_code, 3);
  const std::string why =
      "1 of 2 hosts: its agent: the run directory cannot be created: \"" + run_dir + "\": No space left on device: n2";
  EXPECT_TRUE(Says(run.Result().err, why)) << run.Result().err;
  EXPECT_TRUE(Says(Reported(run), why)) << Reported(run);
  before.ExpectNothingLeft(run);
  EXPECT_EQ(RunCommand({.argv = testbed.On("n2", {"ls", disk.folder})}).out, "");
}

TEST(ManyHosts, ReportAFullDiskForTheFilesOfTheRun) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2"});
  const SmallDisk disk(testbed, "size=16k");
  ASSERT_TRUE(disk.made);
  HostsRun run(testbed, Recipe(2, "    job:file { 'note.txt', text = ('x'):rep(100000) }\n" + std::string(kSleepers)),
               {"--host", "n[1-2]"}, disk.folder + "/run");
  EXPECT_EQ(run.Result().exit_code, 3);
  const std::string why = "the agent of n2 was lost: the agent exited with code 1: \"" + run.run_dir() +
                          "/files/note.txt\": No space left on device";
  EXPECT_TRUE(Says(run.Result().err, why)) << run.Result().err;
  EXPECT_TRUE(Says(Reported(run), why)) << Reported(run);
  before.ExpectNothingLeft(run);
}

TEST(ManyHosts, ReportAFullDiskForALog) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2"});
  const SmallDisk disk(testbed, "nr_inodes=8");
  ASSERT_TRUE(disk.made);
  HostsRun run(testbed, Recipe(2, kSleepers), {"--host", "n[1-2]"}, disk.folder + "/run");
  EXPECT_EQ(run.Result().exit_code, 3);
  EXPECT_TRUE(Says(Reported(run), "worker.2 (rank 2) on n2 could not be started: log \"" + run.run_dir() +
                                      "/logs/worker.2.0.log\": No space left on device"))
      << Reported(run);
  before.ExpectNothingLeft(run);
}

TEST(ManyHosts, ReportADiskThatAProcessFilled) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2"});
  const SmallDisk disk(testbed, "size=192k");
  ASSERT_TRUE(disk.made);
  HostsRun run(testbed,
               Recipe(2,
                      "    job:workers { count = 2, devices = 0, cwd = '/', command = muster.shell "
                      "'yes out of room | head -c 300000 || exit 7; sleep 1000' }"),
               {"--host", "n[1-2]"}, disk.folder + "/run");
  EXPECT_EQ(run.Result().exit_code, 1);
  EXPECT_TRUE(Says(Reported(run), "worker.1 (rank 1) on n2 exited with code 7")) << Reported(run);
  const json failure = run.Report()["first_failure"];
  EXPECT_EQ(failure["host"], "n2");
  EXPECT_EQ(failure["evidence"], json::array({"no space is left in the file system of its log, \"" + run.run_dir() +
                                              "/logs/worker.1.0.log\""}));
  EXPECT_GT(std::filesystem::file_size(run.run_dir() + "/logs/worker.1.0.log"), 100'000U) << "what there was room for";
  before.ExpectNothingLeft(run);
}

// --- failures during the run -----------------------------------------------------------------------

TEST(ManyHosts, LoseAPoweredOffHostWithinTheLease) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  HostsRun run(testbed, Recipe(4, kSleepers), {"--host", "n[1-4]", "--host-lease", "2s"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  ASSERT_TRUE(testbed.PowerOff("n3"));
  EXPECT_EQ(run.Result().exit_code, 3);
  ASSERT_EQ(run.Journal("agent_lost").size(), 1U);
  EXPECT_EQ(run.Journal("agent_lost")[0]["host"], 2);
  EXPECT_EQ(run.Journal("agent_lost")[0]["why"], "no heartbeat for 2 s");
  EXPECT_EQ(run.Report()["outcome"], "lost");
  EXPECT_TRUE(Says(Reported(run), "the agent of n3 was lost: no heartbeat for 2 s")) << Reported(run);
  EXPECT_TRUE(ProcessesWith(run.token()).empty());
  // A real host would lose its cgroups with its power; those of the testbed are this machine's.
  for (const json& agent : run.Journal("agent_connected")) {
    if (agent["host"] == 2) std::filesystem::remove(agent["cgroup"].get<std::string>());
  }
}

TEST(ManyHosts, StopOnBothSidesOfACableThatStaysCut) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  HostsRun run(testbed, Recipe(2, kSleepers), {"--host", "n[1-2]", "--host-lease", "2s"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  ASSERT_TRUE(testbed.Cut("n1"));
  EXPECT_EQ(run.Result().exit_code, 3);
  EXPECT_TRUE(ProcessesWith(run.token()).empty()) << "on n1, too, whose cable is still cut";
  EXPECT_TRUE(Says(Reported(run), "the agent of n1 was lost: no heartbeat for 2 s")) << Reported(run);
}

TEST(ManyHosts, StopWhenAnAgentIsKilled) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1"});
  const HostProcesses there(testbed.Init("n2"));
  HostsRun run(testbed, Recipe(2, kSleepers), {"--host", "n[1-2]"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  for (const json& agent : run.Journal("agent_connected")) {
    if (agent["host"] != 1) continue;
    EXPECT_EQ(RunCommand({.argv = testbed.On("n2", {"kill", "-KILL", agent["pid"].dump()})}).exit_code, 0);
  }
  EXPECT_EQ(run.Result().exit_code, 3);
  ASSERT_EQ(run.Journal("agent_lost").size(), 1U);
  EXPECT_NE(run.Journal("agent_lost")[0]["why"].get<std::string>().find("ended by signal 9 (SIGKILL)"),
            std::string::npos);
  EXPECT_TRUE(
      Says(Reported(run), "the agent of n2 was lost: the agent exited with code 1: ended by signal 9 (SIGKILL)"))
      << Reported(run);
  EXPECT_TRUE(there.New().empty()) << "the agent's guard saw to it";
  before.ExpectNothingLeft(run);
}

TEST(ManyHosts, StopWhenTheHeadIsKilled) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const HostProcesses on_n1(testbed.Init("n1"));
  const HostProcesses on_n2(testbed.Init("n2"));
  // Once it prints, a process certainly has its own environment.
  HostsRun run(testbed,
               Recipe(2,
                      "    job:workers { count = 4, devices = 0, cwd = '/', command = { 'sh', '-c', 'echo; exec sleep "
                      "1000' } }"),
               {"--host", "n[1-2]"});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Result().err;
  std::vector<UniqueFd> processes;
  for (const pid_t pid : ProcessesWith(run.token())) {
    processes.push_back(PidFd(pid));
  }
  ASSERT_EQ(processes.size(), 4U);
  ASSERT_EQ(::kill(run.Journal("run_began")[0]["pid"].get<pid_t>(), SIGKILL), 0);
  EXPECT_EQ(run.Result().exit_code, 128 + SIGKILL);
  for (const UniqueFd& process : processes) EXPECT_TRUE(AwaitReadable(process.get()));
  EXPECT_TRUE(on_n1.New().empty()) << "the agents go, too";
  EXPECT_TRUE(on_n2.New().empty());
  const CommandResult report = RunCommand({.argv = {MusterProgram(), "report", run.run_dir()}});
  EXPECT_TRUE(Says(report.out, "job lost: muster itself exited before the run ended")) << report.out << report.err;
}

// --- failures that a run survives ------------------------------------------------------------------

// What the login has left holds stdout and stderr of the connection open: the agent's final message ends it.
TEST(ManyHosts, EndWithTheirAgentsAndNotWithWhatALoginHasLeftInTheBackground) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  for (const auto& [host, started] :
       {std::pair{"n1", "(sleep 1000 &)"}, std::pair{"n2", "(sleep 1000 > /dev/null &)"}}) {
    ASSERT_EQ(
        RunCommand({.argv = testbed.On(host, {"sh", "-c", "echo '" + std::string(started) + "' > /root/.bashrc"})})
            .exit_code,
        0);
  }
  HostsRun run(testbed,
               Recipe(2, "    job:workers { count = 4, devices = 0, command = { '" MUSTER_TESTS_DIR
                         "/probe', 'print', 'done' } }"),
               {"--host", "n[1-2]"});
  EXPECT_EQ(run.Result().exit_code, 0) << Reported(run);
  EXPECT_TRUE(run.Journal("agent_lost").empty());
  EXPECT_EQ(run.Journal("agent_empty").size(), 2U);
}

TEST(ManyHosts, ContinueThroughACableCutOfTwoSeconds) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  const HostsBefore before(testbed, {"n1", "n2", "n3", "n4"});
  HostsRun run(testbed, RecipeFile{"recipes/parameter_server.lua"}, {"--host", "n[1-4]", "hosts=4", "epochs=100"});
  ASSERT_TRUE(run.Await("process_started", 7)) << run.Result().err;
  ASSERT_TRUE(testbed.Cut("n2"));
  const UniqueFd head = PidFd(run.Journal("run_began")[0]["pid"].get<pid_t>());
  EXPECT_FALSE(AwaitReadable(head.get(), std::chrono::seconds(2))) << "nobody trains without n2";
  ASSERT_TRUE(testbed.Heal("n2"));
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().out << run.Result().err;
  EXPECT_TRUE(Says(run.Log("worker.0"), "epoch 100/100 ")) << run.Log("worker.0");
  EXPECT_EQ(run.Journal("process_started").size(), 7U) << "none was started again";
  EXPECT_TRUE(run.Journal("agent_lost").empty());
  EXPECT_EQ(run.Report()["receipt"]["reaped"], 7);
  before.ExpectNothingLeft(run);
}

}  // namespace
}  // namespace muster::testing
