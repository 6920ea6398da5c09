// Measures the cost of a guard (docs/decisions/0061-every-agent-has-a-guard.md): the delay of an agent's greeting and
// of its end, with and without a guard in turns; and the guard's own memory.
//
// usage: guard [ROUNDS]    default 200
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "whole_process.h"

using namespace muster::benchmark;

namespace {

constexpr int kAgentFd = 3;
constexpr int kGuardFd = 4;

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

// The kilobytes after this word in a file of /proc.
std::size_t KilobytesIn(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::size_t kilobytes = 0;
  for (std::string word; file >> word;) {
    if (word == name) file >> kilobytes;
  }
  return kilobytes;
}

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct Times {
  std::vector<double> wall;       // from start to greeting, and from the end of the connection to the exit
  std::vector<double> processor;  // of the agent and its guard
  // Of the started process: the guard, if there is one. Pages of the program's file are not counted.
  std::size_t written_kb = 0;
  std::size_t tables_kb = 0;
};

void TimeAgent(bool guarded, Times& times) {
  std::array<int, 2> line = {};
  std::array<int, 2> kill_count = {};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line.data()) != 0) Die("socketpair");
  if (pipe2(kill_count.data(), O_CLOEXEC) != 0) Die("pipe2");
  const std::string program = Program("muster-agent");
  std::vector<std::string> words = {program, "--fd", std::to_string(kAgentFd)};
  if (guarded) words.insert(words.end(), {"--guard", std::to_string(kGuardFd)});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // Avoids the numbers that they get.
  const int theirs = fcntl(line[1], F_DUPFD_CLOEXEC, 10);
  const int pipe = fcntl(kill_count[1], F_DUPFD_CLOEXEC, 10);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs, kAgentFd);
  posix_spawn_file_actions_adddup2(&actions, pipe, kGuardFd);

  const std::uint64_t began = MonotonicNow();
  pid_t pid = -1;
  if (posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ) != 0) Die("posix_spawn");
  posix_spawn_file_actions_destroy(&actions);
  for (const int fd : {line[1], theirs, kill_count[1], pipe}) close(fd);
  std::array<char, 64> magic = {};
  if (read(line[0], magic.data(), magic.size()) <= 0) Die("the agent's greeting");
  const double greeting = SecondsBetween(began, MonotonicNow());
  const std::string proc = "/proc/" + std::to_string(pid);
  times.written_kb = KilobytesIn(proc + "/smaps_rollup", "Private_Dirty:");
  times.tables_kb = KilobytesIn(proc + "/status", "VmPTE:");

  const std::uint64_t closed = MonotonicNow();
  close(line[0]);
  int status = 0;
  rusage usage = {};
  while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  times.wall.push_back(greeting + SecondsBetween(closed, MonotonicNow()));
  times.processor.push_back(SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime));
  close(kill_count[0]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200;
  Times with;
  Times without;
  for (std::size_t round = 0; round < rounds; ++round) {
    TimeAgent(true, with);
    TimeAgent(false, without);
  }
  Print("agent with a guard", FiguresOf(with.wall));
  Print("agent without one", FiguresOf(without.wall));
  Print("agent with a guard: processor", FiguresOf(with.processor));
  Print("agent without one: processor", FiguresOf(without.processor));
  const auto tell = [](const char* what, const Figures& dear, const Figures& cheap) {
    std::printf("  %-44s min %8.2f ms   median %8.2f ms   (wanted: at most 1)\n", what, (dear.min - cheap.min) * 1e3,
                (dear.median - cheap.median) * 1e3);
  };
  tell("a guard costs", FiguresOf(with.wall), FiguresOf(without.wall));
  tell("a guard costs: processor", FiguresOf(with.processor), FiguresOf(without.processor));
  std::printf("  %-44s %zu kB, and %zu kB of page tables   (wanted: at most 200)\n", "a guard has to itself",
              with.written_kb, with.tables_kb);
  return 0;
}
