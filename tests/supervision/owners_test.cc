// Tests two users and root in one folder of runs: a user executes, stops, changes and cleans only own runs, whatever
// the journals of others contain. Needs root.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/own_process.h"
#include "run/journal/journal.h"
#include "spawn/leftovers/leftovers.h"
#include "spawn/start/launcher.h"
#include "support/as_user.h"
#include "support/await.h"
#include "support/command.h"
#include "support/journal_records.h"
#include "support/places.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kAna = 60'001;
constexpr uid_t kBen = 60'002;
constexpr gid_t kLab = 60'000;

class TwoUsers : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("MUSTER_KEEP_RUNS");  // this test forges journals
    if (!CanBecomeOthers()) GTEST_SKIP() << "only root becomes somebody else";
    if (!fs::exists("/usr/bin/setpriv")) GTEST_SKIP() << "setpriv is missing";
    fs::permissions(folder_.path(), fs::perms(0755));
    // The users may not enter the build folder, so the programs are copied.
    fs::create_directory(folder_ / "bin");
    for (const std::string& program : {MusterProgram(), EvaluatorProgram(), std::string(MUSTER_BIN_DIR "/muster-agent"),
                                       std::string(MUSTER_TESTS_DIR "/probe")}) {
      fs::copy_file(program, folder_ / ("bin/" + fs::path(program).filename().string()));
    }
    fs::create_directory(folder_ / "home");
    ASSERT_EQ(::chown((folder_ / "home").c_str(), 0, kLab), 0);
    ASSERT_EQ(::chmod((folder_ / "home").c_str(), 03770), 0);
    Write("site.lua", "local muster = require \"muster\"\nreturn muster.site { access = \"group\" }\n");
    Write("recipe.lua",
          "local muster = require \"muster\"\nreturn muster.recipe { name = \"job\", params = { word = muster.string { "
          "\"none\" } }, plan = function(p, job)\n  job:workers { count = 1, command = { \"" +
              folder_ / "bin/probe" + "\", \"print\", p.word } }\nend }\n");
  }
  void TearDown() override { KillDescendants({}); }

  void Write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  static std::vector<std::string> Before(uid_t user) {
    return {"/usr/bin/setpriv", "--reuid=" + std::to_string(user), "--regid=" + std::to_string(kLab), "--clear-groups"};
  }
  CommandResult Muster(uid_t user, const std::vector<std::string>& words) const {
    Command command;
    command.argv = Before(user);
    command.argv.push_back(folder_ / "bin/muster");
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.env = {"PATH=/usr/bin:/bin", "MUSTER_HOME=" + (folder_ / "home"), "MUSTER_SITE=" + (folder_ / "site.lua")};
    command.cwd = "/";
    return RunCommand(command);
  }

  // Creates a new run of the user; returns its directory.
  std::string Run(uid_t user, std::vector<std::string> words) const {
    words.push_back("--quiet");
    const CommandResult result = Muster(user, words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::string newest;
    for (const auto& entry : fs::directory_iterator(folder_ / "home/runs/job")) {
      struct stat status {};
      if (::lstat(entry.path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != user) continue;
      if (newest.empty() || MadeAt(entry.path()) > MadeAt(newest)) newest = entry.path();
    }
    return newest;
  }
  static fs::file_time_type MadeAt(const fs::path& run) { return fs::last_write_time(run / "plan.json"); }
  static std::string Log(const std::string& run) {
    std::ifstream file(run + "/logs/worker.0.0.log");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Starts a process of the user that waits.
  Spawned Waiting(uid_t user) {
    Launcher launcher;
    SpawnSpec spec;
    spec.argv = Before(user);
    for (const std::string& word :
         {folder_ / "bin/probe", std::string("print"), std::string("up"), std::string("wait")})
      spec.argv.push_back(word);
    const std::string log = folder_ / ("waiting" + std::to_string(++waiting_));
    const UniqueFd out(::open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    spec.stdout_fd = out.get();
    auto spawned = launcher.Spawn(spec);
    EXPECT_TRUE(spawned && AwaitLine(log, "up"));
    return *std::move(spawned);
  }

  // Creates a run directory of `owner` whose journal names these processes.
  std::string Forge(uid_t owner, const std::vector<pid_t>& processes) {
    const std::string run = folder_ / "home/runs/job/20991231-235959-feedfeedfeed";
    fs::create_directories(run);
    RunBegan began;
    began.run_id = "feedfeedfeed";
    began.name = "job";
    began.boot = BootId();
    std::string journal = JournalLine({1, "2099-12-31T23:59:59.000000Z", 1, began});
    for (std::size_t i = 0; i < processes.size(); ++i) {
      ProcessStarted started;
      started.process = static_cast<ProcessId>(i);
      started.pid = processes[i];
      started.start_ticks = StartTicksOf(processes[i]);
      EXPECT_NE(started.start_ticks, 0U);
      journal += JournalLine({2 + i, "2099-12-31T23:59:59.000000Z", 2 + i, started});
    }
    std::ofstream(run + "/journal.jsonl") << journal;
    std::ofstream(run + "/plan.json") << "{}";
    EXPECT_EQ(::chown(run.c_str(), owner, kLab), 0);
    fs::permissions(run, fs::perms(0750));
    for (const char* name : {"/journal.jsonl", "/plan.json"}) EXPECT_EQ(::chmod((run + name).c_str(), 0644), 0);
    return run;
  }

  TempDir folder_;
  int waiting_ = 0;
};

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(TwoUsers, ExecuteOwnRunsByNameAndOthersOnlyByPath) {
  const std::string anas = Run(kAna, {"run", folder_ / "recipe.lua", "word=anas"});
  const std::string bens = Run(kBen, {"run", folder_ / "recipe.lua", "word=bens"});
  ASSERT_FALSE(anas.empty());
  ASSERT_FALSE(bens.empty());
  EXPECT_TRUE(Has(Muster(kAna, {"report", "job"}).out, bens)) << "to read, the newest is anybody's";
  EXPECT_EQ(Log(Run(kAna, {"replay", "job"})), "anas\n");
  EXPECT_EQ(Log(Run(kAna, {"replay"})), "anas\n");
  EXPECT_EQ(Log(Run(kAna, {"run", "job"})), "anas\n");

  const CommandResult by_path = Muster(kAna, {"replay", bens});
  EXPECT_EQ(by_path.exit_code, 0) << by_path.err;
  EXPECT_TRUE(Has(by_path.err, "belongs to uid 60002: what is executed was written by uid 60002")) << by_path.err;
  EXPECT_TRUE(Has(by_path.out, "bens")) << by_path.out;

  const std::string id = bens.substr(bens.rfind('-') + 1);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"replay", id}, {"run", "--resume", id}, {"tag", id, "x"}, {"stop", id}, {"clean", id}}) {
    const CommandResult refused = Muster(kAna, words);
    EXPECT_EQ(refused.exit_code, 2) << words.front();
    EXPECT_TRUE(Has(refused.err, "is yours") && Has(refused.err, bens + " belongs to uid 60002")) << refused.err;
  }
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"tag", bens, "x"}, {"stop", bens}, {"clean", bens}}) {
    const CommandResult refused = Muster(kAna, words);
    EXPECT_EQ(refused.exit_code, 2) << words.front();
    EXPECT_TRUE(Has(refused.err, "error[owner]") || Has(refused.err, "belongs to uid 60002")) << refused.err;
  }
  EXPECT_FALSE(fs::exists(bens + "/tags.json"));
}

// Such as those of an agent of root.
TEST_F(TwoUsers, GetErrorsForLogsThatTheyCannotRead) {
  const std::string run = Run(kAna, {"run", folder_ / "recipe.lua", "word=anas"});
  const std::string log = run + "/logs/worker.0.0.log";
  ASSERT_EQ(::chown(log.c_str(), 0, 0), 0);
  const std::string cannot = "cannot be read: Permission denied";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"logs", run}, {"logs", run, "--grep", "anas"}, {"logs", run, "--merge"}, {"logs", run, "--follow"}}) {
    const CommandResult shown = Muster(kAna, words);
    EXPECT_EQ(shown.exit_code, 1) << words.back() << shown.out;
    EXPECT_TRUE(Has(shown.err, log) && Has(shown.err, cannot)) << words.back() << shown.err;
  }
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"report", run}, {"report", "--json", run}, {"report", run, "--html", "-"}}) {
    const CommandResult shown = Muster(kAna, words);
    EXPECT_EQ(shown.exit_code, 1) << words.back() << shown.out;
    EXPECT_TRUE(Has(shown.err, log) && Has(shown.err, "Permission denied")) << words.back() << shown.err;
  }
  EXPECT_EQ(Muster(0, {"logs", run}).exit_code, 0) << "the same files, for root";
}

TEST_F(TwoUsers, KillNoProcessNamedByAForeignJournal) {
  ASSERT_FALSE(Run(kAna, {"run", folder_ / "recipe.lua"}).empty());
  const Spawned anas = Waiting(kAna);
  const std::string forged = Forge(kBen, {anas.pid});
  const CommandResult cleaned = Muster(kAna, {"clean"});
  EXPECT_EQ(cleaned.exit_code, 0) << cleaned.err;
  EXPECT_TRUE(Has(cleaned.out, "skipped 1 runs of other users")) << cleaned.out;
  EXPECT_FALSE(Has(cleaned.out, forged)) << cleaned.out;
  EXPECT_EQ(Muster(kAna, {"clean", forged}).exit_code, 2);
  EXPECT_EQ(Muster(kAna, {"clean", "--older-than", "0", "--yes"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(forged));
  EXPECT_FALSE(HasEnded(anas.ref()));
}

TEST_F(TwoUsers, AsRootKillOnlyProcessesOfTheJournalsOwner) {
  ASSERT_FALSE(Run(kBen, {"run", folder_ / "recipe.lua"}).empty());
  const Spawned anas = Waiting(kAna);
  const Spawned bens = Waiting(kBen);
  const Spawned roots = Waiting(0);
  const std::string forged = Forge(kBen, {anas.pid, bens.pid, roots.pid});
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"clean", forged, "--dry-run"}, {"clean", forged}}) {
    const CommandResult cleaned = Muster(0, words);
    EXPECT_EQ(cleaned.exit_code, 0) << cleaned.err;
    EXPECT_TRUE(Has(cleaned.out, "pid " + std::to_string(bens.pid))) << cleaned.out;
    EXPECT_FALSE(Has(cleaned.out, "pid " + std::to_string(anas.pid))) << cleaned.out;
    EXPECT_FALSE(Has(cleaned.out, "pid " + std::to_string(roots.pid))) << cleaned.out;
  }
  EXPECT_TRUE(HasEnded(bens.ref()));
  EXPECT_FALSE(HasEnded(anas.ref()));
  EXPECT_FALSE(HasEnded(roots.ref()));
}

}  // namespace
}  // namespace muster::testing
