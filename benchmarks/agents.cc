// Measures a thousand agents on one machine: a script replaces ssh and starts each agent locally, so that all of them
// share the head's CPUs. Each has 8 processes, which sleep for three seconds. Prints the duration of a round, the
// head's own CPU time, and the number of lost agents, which should be 0: a late heartbeat makes a healthy host look
// dead. Baseline: as many processes of the same program spawned by one process.
//
// usage: agents [ROUNDS [HOSTS]]    default 3 1024
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "whole_process.h"

extern char** environ;

using namespace muster::benchmark;

namespace {

constexpr std::size_t kPerHost = 8;
constexpr const char* kSeconds = "3";

constexpr const char* kStandIn =
    "#!/bin/sh\n"
    "# Answers ssh -G; else runs its last word here.\n"
    "for last; do :; done\n"
    "for word; do [ \"$word\" = -G ] && { echo \"hostname $last\"; exit 0; }; done\n"
    "exec /bin/sh -c \"$last\"\n";

struct Round {
  double seconds = 0;
  double head_seconds = 0;  // the head's own CPU time
  int exit_code = -1;
};

// For a process that has ended and is not reaped: its own CPU time in seconds (proc(5), fields 14 and 15).
double OwnTime(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t at = text.rfind(") ");
  if (at == std::string::npos) return 0;
  std::istringstream fields(text.substr(at + 2));
  std::string word;
  for (int i = 3; i < 14; ++i) fields >> word;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

pid_t Begin(const std::vector<std::string>& words, bool quiet) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

Round RunOnce(const std::string& folder, std::size_t hosts, std::size_t number) {
  const std::uint64_t from = MonotonicNow();
  const pid_t pid =
      Begin({Program("muster"), "run", "--quiet", Source("benchmarks/sleep.lua"),
             "count=" + std::to_string(hosts * kPerHost), std::string("seconds=") + kSeconds, "--no-preflight",
             "--host", "n[1-" + std::to_string(hosts) + "]", "--run-dir", folder + "/run" + std::to_string(number)},
            true);
  Round round;
  siginfo_t info = {};
  if (pid < 0 || ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0) return round;
  round.seconds = SecondsBetween(from, MonotonicNow());
  round.head_seconds = OwnTime(pid);
  int status = 0;
  ::waitpid(pid, &status, 0);
  round.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return round;
}

std::size_t LostAgents(const std::string& run_dir) {
  std::ifstream journal(run_dir + "/journal.jsonl");
  std::size_t lost = 0;
  for (std::string line; std::getline(journal, line);) lost += line.find("\"agent_lost\"") != std::string::npos ? 1 : 0;
  return lost;
}

double Floor(std::size_t count) {
  const std::uint64_t from = MonotonicNow();
  std::vector<pid_t> pids;
  for (std::size_t i = 0; i < count; ++i) pids.push_back(Begin({"sleep", kSeconds}, false));
  for (const pid_t pid : pids) {
    if (pid > 0) ::waitpid(pid, nullptr, 0);
  }
  return SecondsBetween(from, MonotonicNow());
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 3;
  const std::size_t hosts = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1'024;
  const ScratchFolder scratch;
  const std::string ssh = scratch.path() + "/ssh";
  std::ofstream(ssh) << kStandIn;
  ::chmod(ssh.c_str(), 0700);
  ::setenv("MUSTER_SSH", ssh.c_str(), 1);
  ::setenv("XDG_STATE_HOME", scratch.path().c_str(), 1);  // a separate list of bad hosts

  std::vector<double> seconds;
  std::vector<double> floors;
  std::vector<double> heads;
  std::size_t lost = 0;
  std::size_t failed = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    const Round round = RunOnce(scratch.path(), hosts, i);
    lost += LostAgents(scratch.path() + "/run" + std::to_string(i));
    failed += round.exit_code == 0 ? 0 : 1;
    seconds.push_back(round.seconds);
    heads.push_back(round.head_seconds);
    floors.push_back(Floor(hosts * kPerHost));
  }
  std::printf("%zu hosts with %zu processes each, %zu rounds\n", hosts, kPerHost, rounds);
  Print("muster run", FiguresOf(seconds));
  Print("processor time of the head", FiguresOf(heads));
  Print("posix_spawn of as many", FiguresOf(floors));
  PrintRatio("muster / posix_spawn", FiguresOf(seconds).median / FiguresOf(floors).median,
             "each agent is a process more, on processors of its own in life");
  std::printf("  rounds that failed: %zu; agents taken for lost: %zu (wanted: none)\n", failed, lost);
  return failed == 0 && lost == 0 ? 0 : 1;
}
