// Tests the examples of a prolog and an epilog (packaging/slurm) on the nodes of a real Slurm.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "slurm/slurm_run.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

class NodeScripts : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_SLURM();
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  }

  // A script for slurm.conf: `first` and the example of that name, which finds muster's programs.
  std::string Script(const std::string& name, const std::string& first) {
    const std::string path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\nexport MUSTER_BIN=" MUSTER_BIN_DIR "\n"
                        << first << "\n. " MUSTER_SOURCE_DIR "/packaging/slurm/" << name << "\n";
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    return path;
  }
  std::string Submit(const SlurmTestbed& testbed, const std::string& script, const Words& options = {}) const {
    std::ofstream(folder_ / "job.sh") << "#!/bin/sh\n" << script;
    Words words = {"sbatch", "--parsable", "--output=" + (folder_ / "job.out")};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(folder_ / "job.sh");
    return testbed.Ask(words);
  }

  const TempDir folder_;
};

TEST_F(NodeScripts, PrologDrainsANodeWhereNoRunCouldWork) {
  const std::string prolog = Script("prolog", R"sh(
    [ "$SLURMD_NODENAME" != n1 ] || [ -n "$AGAIN" ] || AGAIN=1 exec unshare --mount sh -c '
      mount -t tmpfs -o size=4k tmpfs /tmp && dd if=/dev/zero of=/tmp/full bs=4k count=1 2>/dev/null && . "$0"' "$0")sh");
  SlurmTestbed testbed(2, {"--share", folder_.path(), "--slurm", "Prolog=" + prolog});
  ASSERT_TRUE(testbed.Up());
  const std::string job = Submit(testbed, "hostname\n", {"--nodelist=n1"});
  EXPECT_TRUE(testbed.AwaitNode("n1", "drain"));
  EXPECT_TRUE(testbed.AwaitJob(job, "PENDING")) << "requeued, and waits for n1";
  const std::string other = Submit(testbed, "hostname\n");
  EXPECT_TRUE(testbed.AwaitJob(other, "COMPLETED"));
  EXPECT_EQ(ContentOf(folder_ / "job.out"), "n2\n");
}

TEST_F(NodeScripts, EpilogEndsWhatAKilledRunLeft) {
  // How many processes of the run there are when the job has ended.
  const std::string epilog = Script("epilog",
                                    "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c "
                                    "^MUSTER_RUN_DIR= >" +
                                        (folder_ / "left"));
  SlurmTestbed testbed(1, {"--share", folder_.path(), "--slurm", "Epilog=" + epilog});
  ASSERT_TRUE(testbed.Up());
  const std::string run = folder_ / "run";
  const std::string recipe = folder_ / "r.lua";
  std::ofstream(recipe)
      << "local muster = require 'muster'\nreturn muster.recipe { name = 'job', plan = function(p, job)\n"
         "  job:workers { count = 1, cwd = '/', command = { 'sh', '-c',\n"
         "    'setsid sleep 1000 & echo $! >"
      << folder_ / "pid"
      << "; exec sleep 1000' } } end }\n";
  const std::string job = Submit(testbed, "cd " + folder_.path() + R"sh(
export HOME=$PWD
)sh" MUSTER_BIN_DIR R"sh(/muster run -q r.lua --on local --without=guard --run-dir run &
until [ -s pid ]; do sleep 0.05; done
kill -STOP $!
kill -KILL $! $(cat /proc/$!/task/*/children)
wait || true
)sh");
  EXPECT_TRUE(testbed.AwaitJob(job, "COMPLETED")) << ContentOf(folder_ / "job.out");
  EXPECT_TRUE(testbed.AwaitNode("n1", "idle")) << "the epilog succeeded";
  EXPECT_NE(ContentOf(folder_ / "left"), "0\n") << ContentOf(folder_ / "job.out");
  EXPECT_TRUE(ProcessesWith("MUSTER_RUN_DIR=" + run).empty());
}

}  // namespace
}  // namespace muster::testing
