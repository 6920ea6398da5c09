// Starts muster with a recipe as a child that tests can observe and kill, and finds its processes.
#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spawn/leftovers/leftovers.h"
#include "spawn/start/launcher.h"
#include "support/await.h"
#include "support/command.h"
#include "support/journal_records.h"
#include "support/places.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {

using namespace std::string_literals;

class StartedMuster {
 public:
  // `body` is the plan function, in which `probe` is the tests' child process and `folder` this object's folder;
  // `fields`: further fields of the recipe. The caller becomes a subreaper, so that no process escapes it.
  explicit StartedMuster(std::string body, std::string fields = {})
      : body_(std::move(body)), fields_(std::move(fields)) {
    EXPECT_TRUE(BecomeSubreaper());
    WriteRecipe(MUSTER_TESTS_DIR "/probe");
  }
  ~StartedMuster() { KillDescendants({}); }
  StartedMuster(const StartedMuster&) = delete;
  StartedMuster& operator=(const StartedMuster&) = delete;

  // From now on runs as an unprivileged user, who cannot enter the build folder and gets copies of the programs.
  void BecomeAnotherUser() {
    constexpr uid_t kNobody = 65534;
    std::filesystem::create_directory(folder_ / "bin");
    for (const std::string& program :
         {MusterProgram(), EvaluatorProgram(), MUSTER_BIN_DIR "/muster-agent"s, MUSTER_TESTS_DIR "/probe"s}) {
      const std::filesystem::path path = program;
      std::filesystem::copy_file(path, folder_ / ("bin/" + path.filename().string()));
    }
    WriteRecipe(folder_ / "bin/probe");
    for (const char* name : {".", "recipe.lua"}) ASSERT_EQ(::chown((folder_ / name).c_str(), kNobody, kNobody), 0);
    muster_ = folder_ / "bin/muster";
    before_ = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  }

  // Puts `before` before muster's command line; a program in it is searched in PATH.
  void Start(std::vector<std::string> options = {}, const std::vector<std::string>& before = {}) {
    const UniqueFd out(::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    std::vector<std::string> env = {"PATH=/usr/bin:/bin"};
    if (const char* without = std::getenv("MUSTER_WITHOUT")) env.push_back(std::string("MUSTER_WITHOUT=") + without);
    SpawnSpec spec;
    spec.argv = before_;
    spec.argv.insert(spec.argv.end(), before.begin(), before.end());
    for (const std::string& word :
         {muster_, std::string("run"), std::string("recipe.lua"), std::string("--run-dir"), run_dir()}) {
      spec.argv.push_back(word);
    }
    spec.argv.insert(spec.argv.end(), options.begin(), options.end());
    spec.env = EnvPointers(env);
    spec.cwd = folder_.path();
    spec.stdout_fd = spec.stderr_fd = out.get();
    auto spawned = launcher_.Spawn(spec);
    ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
    head_ = *std::move(spawned);
  }

  // Returns the exit code (128 + n for signal n), after the agent's guard has exited, or the agent if it has none, and
  // the head's own call of git: they may outlive a killed head a little.
  int End() {
    // A child that does not run its program yet has the head's name.
    static const std::set<std::string> kOutliving = {"muster-guard\n", "muster-agent\n", "git\n", "muster\n"};
    const EndedProcess ended = ReapAtEnd(head_.ref());
    // They become children of this process.
    for (const pid_t child : ChildrenNow()) {
      const std::string name = Content("/proc/" + std::to_string(child) + "/comm");
      if (!kOutliving.contains(name)) continue;
      EXPECT_TRUE(AwaitEnd(child)) << name << " does not end";
    }
    return ended.signalled ? 128 + ended.code : ended.code;
  }

  pid_t head() const { return head_.pid; }
  ChildRef head_ref() const { return head_.ref(); }
  std::string run_dir() const { return folder_ / "run"; }
  std::string operator/(const std::string& name) const { return folder_ / name; }
  std::vector<pid_t> Left() const { return ProcessesWith("MUSTER_RUN_DIR=" + run_dir()); }
  std::string Output() const { return Content(folder_ / "out"); }

  std::vector<nlohmann::json> Journal(const std::string& event) const {
    return RecordsOf(run_dir() + "/journal.jsonl", event);
  }

  CommandResult Muster(std::vector<std::string> words) const {
    words.insert(words.begin(), MusterProgram());
    Command command;
    command.argv = std::move(words);
    command.cwd = folder_.path();
    return RunCommand(command);
  }

  static std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  void WriteRecipe(const std::string& probe) const {
    std::ofstream(folder_ / "recipe.lua")
        << "local muster = require \"muster\"\nlocal probe = \"" << probe << "\"\nlocal folder = \"" << folder_.path()
        << "\"\nreturn muster.recipe { name = \"job\", " << fields_ << " plan = function(p, job)\n"
        << body_ << "\nend }\n";
  }

  std::string body_;
  std::string fields_;
  TempDir folder_;
  std::string muster_ = MusterProgram();
  std::vector<std::string> before_;
  Launcher launcher_;
  Spawned head_;
};

}  // namespace muster::testing
