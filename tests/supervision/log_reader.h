// Runs muster and reads its output through a pipe as slowly as a test needs, or not at all.
#pragma once

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "support/await.h"
#include "support/command.h"
#include "support/file_content.h"
#include "support/places.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {

using Words = std::vector<std::string>;

// A muster that runs concurrently with the test.
class Running {
 public:
  Running(const Words& words, int out) {
    Words argv = {MusterProgram()};
    argv.insert(argv.end(), words.begin(), words.end());
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, 1);
    ::posix_spawn_file_actions_adddup2(&actions, err_.get(), 2);
    const Words env = WithoutAsTheSuite({"PATH=/usr/bin:/bin"});
    EXPECT_EQ(::posix_spawn(&pid_, argv[0].c_str(), &actions, nullptr, command_detail::Pointers(argv).data(),
                            command_detail::Pointers(env).data()),
              0);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ~Running() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    Wait();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const { ::kill(pid_, signal); }
  // Returns the exit code; 128 + n for signal n.
  int Wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  std::string Complaints() const { return command_detail::ContentOf(err_.get()); }

 private:
  UniqueFd err_{::memfd_create("stderr", MFD_CLOEXEC)};
  pid_t pid_ = -1;
};

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  UniqueFd read;
  UniqueFd write;
};

// Reads until `enough` returns true; returns false if the output ends before.
template <class Enough>
bool ReadUntil(int fd, std::string& text, const Enough& enough) {
  while (!enough()) {
    if (!AwaitReadable(fd)) return false;
    char some[64U << 10];
    const ssize_t got = ::read(fd, some, sizeof some);
    if (got <= 0) return false;
    text.append(some, static_cast<std::size_t>(got));
  }
  return true;
}
inline bool ReadPart(int fd, std::string& text, const std::string& part) {
  return ReadUntil(fd, text, [&] { return text.find(part) != std::string::npos; });
}
inline void ReadToEnd(int fd, std::string& text) {
  ReadUntil(fd, text, [] { return false; });
}

class Logs : public ::testing::Test {
 protected:
  // In the recipe `probe` is the tests' child process and `here` this test's folder.
  void Recipe(const std::string& body) {
    std::ofstream(folder / "recipe.lua") << "local muster = require \"muster\"\nlocal probe, here = \""
                                         << MUSTER_TESTS_DIR << "/probe\", \"" << folder.path()
                                         << "\"\nreturn muster.recipe { name = \"job\", plan = function(p, job)\n"
                                         << body << "\nend }\n";
  }
  Words RunWords(const Words& more = {}) const {
    Words words = {"run", folder / "recipe.lua", "--run-dir", folder / "run"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  CommandResult Muster(Words words) const {
    Command command;
    command.argv = {MusterProgram()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.cwd = folder.path();
    return RunCommand(command);
  }
  CommandResult Show(Words options) const {
    options.insert(options.begin(), {"logs", folder / "run"});
    return Muster(options);
  }
  void Touch(const std::string& name) const { std::ofstream(folder / name) << "x"; }
  // Waits until this file of the run exists; the folders on the way are created after muster starts.
  void AwaitFileOfRun(const std::vector<std::string>& steps) const {
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
    std::string at = folder / "run";
    std::string below = folder.path();
    for (std::size_t step = 0; step <= steps.size(); ++step) {
      const int number = ::inotify_add_watch(watch.get(), below.c_str(), IN_CREATE | IN_MOVED_TO);
      while (!std::filesystem::exists(at)) {
        ASSERT_TRUE(AwaitReadable(watch.get())) << at;
        char events[4096];
        ASSERT_GT(::read(watch.get(), events, sizeof events), 0);
      }
      ::inotify_rm_watch(watch.get(), number);
      below = at;
      if (step < steps.size()) at += '/' + steps[step];
    }
  }
  // Waits until the process has printed this line.
  void AwaitLog(const std::string& log, const std::string& line) const {
    AwaitFileOfRun({"logs", log});
    ASSERT_TRUE(AwaitLine(folder / ("run/logs/" + log), line)) << line;
  }
  // Runs the recipe on a file system of that size, then the command `save` before the file system disappears. Output
  // goes to the file "shown". Exit code 77: no such file system can be created.
  CommandResult RunOnDisk(const std::string& size, const std::string& save) const {
    std::filesystem::create_directory(folder / "disk");
    Command command;
    command.argv = {"unshare",
                    "--user",
                    "--map-root-user",
                    "--mount",
                    "sh",
                    "-c",
                    "mount -t tmpfs -o size=" + size + " none '" + folder / "disk" + "' 2>/dev/null || exit 77\n" +
                        MusterProgram() + " run '" + folder / "recipe.lua" + "' --run-dir '" + folder / "disk/run" +
                        "' > '" + folder / "shown" + "'; code=$?; " + save + "; exit $code"};
    command.cwd = folder.path();
    CommandResult run = RunCommand(command);
    if (run.exit_code == 127 || run.err.starts_with("unshare")) run.exit_code = 77;
    return run;
  }
  void TearDown() override { EXPECT_TRUE(ProcessesWith(folder.path()).empty()) << "something is left"; }

  TempDir folder;
};

inline pid_t ChildOf(pid_t pid) {
  std::ifstream children("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  pid_t child = -1;
  children >> child;
  return child;
}

}  // namespace muster::testing
