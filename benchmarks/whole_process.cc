#include "whole_process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace muster::benchmark {

std::uint64_t MonotonicNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

double SecondsBetween(std::uint64_t from, std::uint64_t to) {
  return (static_cast<double>(to) - static_cast<double>(from)) / 1e9;
}

std::optional<double> TimeCommand(const std::vector<std::string>& argv, const std::string& cwd,
                                  std::chrono::seconds limit) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  if (!cwd.empty()) posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);

  const auto began = std::chrono::steady_clock::now();
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return std::nullopt;

  const auto pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  pollfd ended{pidfd, POLLIN, 0};
  const bool in_time = poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(limit).count())) == 1;
  if (!in_time) kill(-pid, SIGKILL);  // its process group, which is not reaped yet
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  close(pidfd);
  if (!in_time || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return took.count();
}

void Print(const std::string& label, const Figures& figures) {
  std::fputs(FiguresText(label, figures).c_str(), stdout);
  std::fflush(stdout);
}

void PrintRatio(const std::string& label, double ratio, const std::string& wanted) {
  std::fputs(RatioText(label, ratio, wanted).c_str(), stdout);
  std::fflush(stdout);
}

void TakeTurns(std::vector<Contestant>& contestants, std::size_t rounds, const std::string& cwd,
               std::chrono::seconds limit) {
  for (std::size_t round = 0; round < rounds + 1; ++round) {
    for (Contestant& contestant : contestants) {
      const auto seconds = TimeCommand(contestant.argv, cwd, limit);
      if (round == 0) continue;  // warms the caches
      if (seconds) {
        contestant.seconds.push_back(*seconds);
      } else {
        ++contestant.failures;
      }
    }
  }
  for (const Contestant& contestant : contestants) {
    Print(contestant.label, FiguresOf(contestant.seconds));
    if (contestant.failures > 0) {
      std::printf("  %-44s %zu runs failed or did not end within %lld s\n", "", contestant.failures,
                  static_cast<long long>(limit.count()));
    }
  }
}

std::string Program(const std::string& name) { return std::string(MUSTER_BIN_DIR) + "/" + name; }
std::string Source(const std::string& name) { return std::string(MUSTER_SOURCE_DIR) + "/" + name; }

ScratchFolder::ScratchFolder() {
  const char* parent = std::getenv("TMPDIR");
  path_ = std::string(parent == nullptr ? "/tmp" : parent) + "/muster-benchmark-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) {
    std::perror(path_.c_str());
    std::exit(1);
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace muster::benchmark
