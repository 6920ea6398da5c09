// Tests whole runs on several hosts: what is sent to them and what they return.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "hosts/hosts_run.h"

namespace muster::testing {
namespace {

TEST(ManyHosts, RunOneJobAndItsFilesAreCollected) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  HostsRun run(testbed,
               Recipe(4,
                      "    local note = job:file { 'note.txt', text = 'for all' }\n"
                      "    job:workers { count = 8, devices = 0, cwd = '/', command = muster.shell "
                      "'echo $MUSTER_RANK on $(hostname): $(cat $NOTE)', env = { NOTE = note } }"),
               {"--host", "n[1-4]"});
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().out << run.Result().err;
  for (int rank = 0; rank < 8; ++rank) {
    const std::string log = "/logs/worker." + std::to_string(rank) + ".0.";
    EXPECT_EQ(ContentOf(run.run_dir() + log + "log"),
              std::to_string(rank) + " on n" + std::to_string(rank / 2 + 1) + ": for all\n");
    EXPECT_TRUE(std::filesystem::exists(run.run_dir() + log + "idx"));
  }
  EXPECT_FALSE(std::filesystem::exists(run.run_dir() + "/probe"));
  EXPECT_EQ(run.Report()["receipt"]["left"], 0);
  ASSERT_EQ(run.Journal("host_reached").size(), 4U);
  EXPECT_EQ(run.Journal("host_reached")[0]["shares_run_dir"], false);
  const json bound = run.Journal("plan_bound")[0];
  ASSERT_EQ(bound["hosts"].size(), 4U) << bound;
  for (const json& host : bound["hosts"]) {
    EXPECT_EQ(host["address"], "10.77.0." + host["name"].get<std::string>().substr(1));
  }
  EXPECT_TRUE(ProcessesWith(run.token()).empty());
  for (const char* host : {"n1", "n2", "n3", "n4"}) {
    EXPECT_EQ(RunCommand({.argv = testbed.On(host, {"ls", run.run_dir()})}).exit_code, 2)
        << "nothing is left on " << host;
  }
}

TEST(ManyHosts, WriteToASharedRunDirectoryIfTheyHaveOne) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const std::string shared = testbed.folder() + "/shared";
  HostsRun run(testbed, Recipe(2, "    job:workers { count = 2, devices = 0, cwd = '/', command = { 'hostname' } }"),
               {"--host", "n[1-2]"}, shared);
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().err;
  EXPECT_EQ(ContentOf(shared + "/logs/worker.0.0.log"), "n1\n");
  EXPECT_EQ(ContentOf(shared + "/logs/worker.1.0.log"), "n2\n");
  EXPECT_NE(ContentOf(shared + "/journal.jsonl").find("\"shares_run_dir\":true"), std::string::npos);
}

TEST(ManyHosts, HaveOneFirstFailureAndAreStoppedTogether) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  HostsRun run(testbed,
               Recipe(3,
                      "    job:workers { count = 3, devices = 0, cwd = '/', command = muster.shell "
                      "'if [ $MUSTER_RANK = 1 ]; then head -c 300000 /dev/zero | tr \"\\\\0\" x; echo; "
                      "echo out of luck; exit 7; fi; sleep 1000' }"),
               {"--host", "n[1-3]"});
  EXPECT_EQ(run.Result().exit_code, 1);
  const json failure = run.Report()["first_failure"];
  EXPECT_EQ(failure["rank"], 1) << run.Result().out << run.Result().err;
  EXPECT_EQ(failure["last_lines"].back(), "out of luck");
  EXPECT_EQ(std::filesystem::file_size(run.run_dir() + "/logs/worker.1.0.log"), 300'013U);
  EXPECT_TRUE(ProcessesWith(run.token()).empty());
}

}  // namespace
}  // namespace muster::testing
