// A temporary folder with a recipe and a sweep of it, run by the real program: started, killed, resumed, and checked
// against the documentation of its journal.
#pragma once

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "support/await.h"
#include "support/command.h"
#include "support/file_content.h"
#include "support/journal_records.h"
#include "support/places.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {

using nlohmann::json;
using Words = std::vector<std::string>;

// The full tests take minutes on two busy cores.
inline const bool kLong = std::getenv("MUSTER_LONG") != nullptr;

// The parameters of most sweeps.
inline constexpr char kParams[] = "x = muster.int { 1 }";

inline bool Says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

// Waits until the file exists; its folder must exist.
inline bool AwaitFile(const std::string& path) {
  const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
  ::inotify_add_watch(watch.get(), std::filesystem::path(path).parent_path().c_str(), IN_CREATE | IN_MOVED_TO);
  std::vector<char> events(4096);
  while (!std::filesystem::exists(path)) {
    if (!AwaitReadable(watch.get()) || ::read(watch.get(), events.data(), events.size()) < 0) return false;
  }
  return true;
}

// A started program that has not been waited for. The destructor kills it.
class StartedProgram {
 public:
  StartedProgram(const Words& argv, const Words& env, const std::string& cwd, const std::string& err_path) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, err_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
    const int error = ::posix_spawnp(&pid_, argv.front().c_str(), &actions, nullptr,
                                     command_detail::Pointers(argv).data(), command_detail::Pointers(env).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + argv.front());
    pidfd_ = PidFd(pid_);
  }
  StartedProgram(StartedProgram&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}
  StartedProgram& operator=(StartedProgram&&) = delete;
  ~StartedProgram() {
    if (pid_ < 0) return;
    Signal(SIGKILL);
    End();
  }

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  void Signal(int signal) const { ::kill(pid_, signal); }
  // Waits for the program; returns its exit code, 128 + n for signal n.
  int End() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t pid_ = -1;
  UniqueFd pidfd_;
};

class SweepCase {
 public:
  // Writes recipe.lua with these parameters and this plan function, in which `probe` is the tests' child process and
  // `here` the folder.
  SweepCase(const std::string& params, const std::string& plan) { WriteRecipe(params, plan); }

  void WriteRecipe(const std::string& params, const std::string& plan, const std::string& fields = "") const {
    std::ofstream(*this / "recipe.lua") << "local muster = require \"muster\"\nlocal probe = \"" << MUSTER_TESTS_DIR
                                        << "/probe\"\nlocal here = \"" << folder_.path()
                                        << "\"\nreturn muster.recipe { name = \"job\", params = { " << params << " }, "
                                        << fields << "\nplan = function(p, job)\n"
                                        << plan << "\nend }\n";
  }
  void Write(const std::string& name, const std::string& content) const { std::ofstream(*this / name) << content; }

  std::string operator/(const std::string& name) const { return folder_ / name; }
  // MUSTER_HOME, below the folder by default.
  std::string home() const { return home_.empty() ? folder_ / "home" : home_; }
  void SetHome(std::string home) { home_ = std::move(home); }
  void SetVariable(const std::string& variable) { variables_.push_back(variable); }
  void ForgetVariables() { variables_.clear(); }
  // Puts these words, a program that calls muster, before muster's command line.
  void CallBy(Words before) { before_ = std::move(before); }

  // Returns the folder of the newest sweep.
  std::string sweep() const {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home() + "/sweeps", error)) {
      if (entry.path().filename() == "sweep.json") found.push_back(entry.path().parent_path());
    }
    std::sort(found.begin(), found.end());
    return found.empty() ? "" : found.back();
  }
  std::string journal() const { return sweep() + "/journal.jsonl"; }

  CommandResult Muster(const Words& words) const { return RunCommand({WordsOf(words), Environment(), folder_.path()}); }
  // Appends standard error to the file "err".
  StartedProgram Start(const Words& words) const {
    return {WordsOf(words), WithoutAsTheSuite(Environment()), folder_.path(), *this / "err"};
  }
  // Runs `muster sweep recipe.lua …`.
  CommandResult Sweep(Words words) const {
    words.insert(words.begin(), {"sweep", "recipe.lua", "--no-progress"});
    return Muster(words);
  }
  StartedProgram StartSweep(Words words) const {
    words.insert(words.begin(), {"sweep", "recipe.lua", "--no-progress"});
    return Start(words);
  }
  std::string Errors() const { return ContentOf(*this / "err"); }

  // Returns the records of one event in order, or all if `event` is empty.
  std::vector<json> Records(const std::string& event = "") const { return RecordsOf(journal(), event); }
  std::vector<json> Of(std::uint64_t trial, const std::string& event) const {
    std::vector<json> records = Records(event);
    std::erase_if(records, [&](const json& record) { return record["trial"] != trial; });
    return records;
  }

  // Returns the problems that check_sweep.py finds; empty if there are none. With `complete`, that many trials must be
  // finished.
  std::string Wrong(int complete = -1) const { return WrongIn(sweep(), complete); }
  std::string WrongIn(const std::string& sweep_dir, int complete = -1) const {
    Words argv = {"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/support/check_sweep.py", sweep_dir};
    if (complete >= 0) argv.insert(argv.end(), {"--complete", std::to_string(complete)});
    const CommandResult checked = RunCommand({argv, {"PATH=/usr/bin:/bin"}, folder_.path()});
    return checked.exit_code == 0 ? "" : checked.out + checked.err;
  }

  // Waits until all processes started by muster here have exited. False if one does not.
  bool NothingLeft() const {
    for (const pid_t left : ProcessesWith("SWEEP_CASE=" + folder_.path())) {
      const UniqueFd process = PidFd(left);
      if (process && !AwaitReadable(process.get())) return false;
    }
    return true;
  }

 private:
  Words WordsOf(Words words) const {
    words.insert(words.begin(), MusterProgram());
    words.insert(words.begin(), before_.begin(), before_.end());
    return words;
  }
  Words Environment() const {
    Words environment = {"PATH=/usr/bin:/bin", "MUSTER_HOME=" + home(), "SWEEP_CASE=" + folder_.path()};
    environment.insert(environment.end(), variables_.begin(), variables_.end());
    return environment;
  }

  TempDir folder_;
  std::string home_;
  Words variables_;
  Words before_;
};

}  // namespace muster::testing
