// Runs a program of the build to its end, with a given environment, and stores its output.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "support/places.h"

namespace muster::testing {

struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> env = {"PATH=/usr/bin:/bin"};
  std::string cwd = {};          // empty: the test's own
  std::string stdout_path = {};  // empty: stored in CommandResult
};

struct CommandResult {
  int exit_code = -1;  // 128 + n for signal n
  std::string out;
  std::string err;
};

inline std::string EvaluatorProgram() { return std::string(MUSTER_BIN_DIR) + "/muster-evaluator"; }
inline std::string MusterProgram() { return std::string(MUSTER_BIN_DIR) + "/muster"; }

// The environment of a program that a test starts: if the suite runs without some kernel mechanisms, so does the
// program, unless others are specified.
inline std::vector<std::string> WithoutAsTheSuite(std::vector<std::string> env) {
  const char* without = std::getenv("MUSTER_WITHOUT");
  const auto is_without = [](const std::string& variable) { return variable.starts_with("MUSTER_WITHOUT="); };
  if (without != nullptr && std::none_of(env.begin(), env.end(), is_without)) {
    env.push_back(std::string("MUSTER_WITHOUT=") + without);
  }
  return env;
}

// The environment of a program that is called from the checkout. Hides runs in the checkout, which users may have
// created there; anything written shows up as a new file of the build tree.
inline std::vector<std::string> WithoutRunsOfTheCheckout(std::vector<std::string> env, const std::string& cwd) {
  const auto is_home = [](const std::string& variable) { return variable.starts_with("MUSTER_HOME="); };
  if ((cwd.empty() || cwd == MUSTER_SOURCE_DIR) && std::none_of(env.begin(), env.end(), is_home)) {
    env.push_back("MUSTER_HOME=" MUSTER_TESTS_DIR "/no-runs");
  }
  return env;
}

namespace command_detail {

inline std::string ContentOf(int fd) {
  std::string content;
  char buffer[1 << 16];
  ::lseek(fd, 0, SEEK_SET);
  for (ssize_t got = ::read(fd, buffer, sizeof buffer); got > 0; got = ::read(fd, buffer, sizeof buffer)) {
    content.append(buffer, static_cast<std::size_t>(got));
  }
  return content;
}

inline std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace command_detail

inline CommandResult RunCommand(const Command& command) {
  namespace d = command_detail;
  const UniqueFd out(command.stdout_path.empty() ? ::memfd_create("stdout", MFD_CLOEXEC)
                                                 : ::open(command.stdout_path.c_str(), O_WRONLY | O_CLOEXEC));
  const UniqueFd err(::memfd_create("stderr", MFD_CLOEXEC));
  const std::vector<std::string> env = WithoutRunsOfTheCheckout(WithoutAsTheSuite(command.env), command.cwd);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, err.get(), 2);
  if (!command.cwd.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, command.cwd.c_str());
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, command.argv.front().c_str(), &actions, nullptr,
                                   d::Pointers(command.argv).data(), d::Pointers(env).data());
  ::posix_spawn_file_actions_destroy(&actions);
  CommandResult result;
  if (error != 0) {
    result.err = "posix_spawn failed with error " + std::to_string(error);
    return result;
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (command.stdout_path.empty()) result.out = d::ContentOf(out.get());
  result.err = d::ContentOf(err.get());
  return result;
}

}  // namespace muster::testing
