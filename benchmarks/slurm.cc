// Measures launching /bin/true on the nodes of an allocation of Slurm, from the command to its end: 64 and 256
// processes on each of 4 nodes, and 16 on each of 64. Compared, in turns, with one srun of the same tasks, and with an
// srun of one task for each node, which is how muster starts its agents.
//
// The nodes are those of tests/slurm/testbed: they share the CPUs of this machine. The run directories are in the
// testbed, below $TMPDIR, or /dev/shm without it: only muster's processes have log files, and how long a disk takes to
// create them depends on what was done before. (ext4 without a journal steps over each inode that was deleted in the
// last minutes, see recently_deleted() in its ialloc.c: 256 files took 4 ms or 200 ms of processor time.)
//
// usage: slurm [ROUNDS [NODES PER_NODE]]    default 5, and all three
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>

#include "whole_process.h"

using namespace muster::benchmark;

namespace {

constexpr std::chrono::seconds kLimit{300};

// Runs a command with this program's own output, to its end.
bool Ran(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    std::perror(argv[0]);
    return false;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Inside an allocation of that many nodes.
int Measure(std::size_t rounds, const std::string& nodes, const std::string& per_node) {
  const std::string tasks = std::to_string(std::stoul(nodes) * std::stoul(per_node));
  const auto srun = [&](const std::string& count, const std::string& each) {
    return std::vector<std::string>{
        "srun",       "--nodes=" + nodes, "--ntasks=" + count, "--overlap", "--ntasks-per-node=" + each,
        "--mpi=none", "--input=none",     "/bin/true"};
  };
  const std::string words = nodes + " × " + per_node;
  std::vector<Contestant> contestants = {
      {"muster run, " + words,
       {Program("muster"), "run", "--quiet", Source("benchmarks/slurm.lua"), "per_host=" + per_node},
       {},
       0},
      {"srun, " + words, srun(tasks, per_node), {}, 0},
      {"srun, one task on each of " + nodes, srun(nodes, "1"), {}, 0},
  };
  TakeTurns(contestants, rounds, getenv("TESTBED"), kLimit);
  const Figures ours = FiguresOf(contestants[0].seconds);
  const Figures theirs = FiguresOf(contestants[1].seconds);
  PrintRatio("muster / srun", ours.median / theirs.median, "at most 0.4");
  PrintRatio("  of the fastest", ours.min / theirs.min, "at most 0.4");
  return 0;
}

// In a testbed and an allocation of its own, in which this program runs again.
bool MeasureIn(const char* self, const std::string& rounds, const std::string& nodes, const std::string& per_node) {
  return Ran(
      {Source("tests/slurm/testbed"), "run", "--cpus", "256", "--share", MUSTER_SOURCE_DIR, "--share",
       MUSTER_BIN_DIR "/..", nodes, "--", "sh", "-c",
       // Nodes see the testbed's folder, and no other one below $TMPDIR.
       "export XDG_STATE_HOME=$TESTBED MUSTER_HOME=$TESTBED HOME=/root; exec $TESTBED/login salloc --quiet --exclusive "
       "--nodes=\"$2\" \"$0\" \"$@\"",
       self, "--inside", nodes, per_node, rounds});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string(argv[1]) == "--inside") {
    return Measure(std::strtoul(argv[4], nullptr, 10), argv[2], argv[3]);
  }
  const std::string rounds = argc > 1 ? argv[1] : "5";
  setenv("TMPDIR", "/dev/shm", 0);
  if (argc == 4) return MeasureIn(argv[0], rounds, argv[2], argv[3]) ? 0 : 1;
  constexpr std::array kSizes = {std::pair{"4", "64"}, std::pair{"4", "256"}, std::pair{"64", "16"}};
  for (const auto& [nodes, per_node] : kSizes) {
    if (!MeasureIn(argv[0], rounds, nodes, per_node)) return 1;
  }
  return 0;
}
