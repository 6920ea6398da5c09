// Tests whole rehearsals on this machine: a successful one, and corrupted environments.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/system/sockets.h"
#include "rehearse/rehearsed.h"
#include "support/run_folder.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

// Rehearses four torch workers with one simulated device each.
class Four : public RunFolder {
 public:
  explicit Four(const std::string& each, const std::string& before = "",
                const std::vector<std::string>& variables = {"MUSTER_HOST_DEVICES=4"})
      : variables_(variables) {
    std::ofstream(Folder() + "/train.py") << "raise SystemExit(7)\n";
    WriteRecipe(before +
                    "\njob:workers { count = 4, devices = 1, command = { 'sh', 'train.py', '--lr', '0.5' },\n"
                    "each = function(process)\n" +
                    each + "\nend }",
                "framework = 'torch', cluster = { hosts = 1, devices_per_host = 4, device_kind = 'cuda' },");
  }

  // Only this test sees the simulated devices; another one may use the same numbers.
  std::vector<std::string> Environment() const {
    std::vector<std::string> environment = {"PATH=/usr/bin:/bin", "HERE=" + Folder(),
                                            "MUSTER_LEASES=" + Folder() + "/leases"};
    environment.insert(environment.end(), variables_.begin(), variables_.end());
    return environment;
  }

  Rehearsed Rehearse(Words more = {}) const {
    Words words = {MusterProgram(), "rehearse", "recipe.lua", "--run-dir", RunDir(), "--json", "--within", "2s"};
    words.insert(words.end(), more.begin(), more.end());
    Command command;
    command.argv = words;
    command.env = Environment();
    command.cwd = Folder();
    Rehearsed rehearsed(RunCommand(command));
    EXPECT_TRUE(ProcessesWith(Folder()).empty()) << "something is left";
    return rehearsed;
  }

 private:
  std::vector<std::string> variables_;
};

std::set<std::string> On(const std::string& host, std::initializer_list<int> ranks) {
  std::set<std::string> who;
  for (const int rank : ranks)
    who.insert("worker." + std::to_string(rank) + " rank " + std::to_string(rank) + " on " + host);
  return who;
}

std::string Here() {
  const std::string name = RunCommand({.argv = {"/bin/uname", "-n"}, .env = {"PATH=/usr/bin:/bin"}}).out;
  return name.substr(0, name.find('\n'));
}

TEST(LocalRehearsal, SucceedsAndLeavesAnOrdinaryRunDirectory) {
  const Four four("");
  const Rehearsed rehearsed = four.Rehearse();
  ASSERT_EQ(rehearsed.result.exit_code, 0) << rehearsed.result.out << rehearsed.result.err;
  EXPECT_EQ(rehearsed.json["ok"], true);
  for (const char* check : {"start", "ranks", "counts", "ports", "meeting", "hello", "devices", "files", "disk"})
    EXPECT_EQ(rehearsed.Outcome(check), "ok") << check;
  const json report = json::parse(ContentOf(four.RunDir() + "/report.json"));
  EXPECT_EQ(report["rehearsal"], true);
  EXPECT_EQ(report["outcome"], "ok");
  EXPECT_EQ(report["receipt"]["left"], 0);
  EXPECT_TRUE(report["contexts"].empty());
  EXPECT_EQ(four.Records("run_began").at(0)["rehearsal"], true);
  EXPECT_NE(ContentOf(four.RunDir() + "/report.txt").find("rehearsal of job succeeded"), std::string::npos);
  EXPECT_NE(four.Muster({"ls", four.RunDir()}).out.find("job (rehearsal)"), std::string::npos);
}

TEST(LocalRehearsal, IsNotListedAsARealRun) {
  const Four four("");
  Command command;
  command.argv = {MusterProgram(), "rehearse", "recipe.lua"};
  command.env = four.Environment();
  command.cwd = four.Folder();
  const CommandResult result = RunCommand(command);
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("rehearsal of job: 4 processes on 1 host"), std::string::npos) << result.out;
  EXPECT_TRUE(std::filesystem::exists(four.Folder() + "/runs/job.rehearsal/latest/report.json"));
  EXPECT_FALSE(std::filesystem::exists(four.Folder() + "/runs/job/latest"));
  const CommandResult reported = four.Muster({"report", "job.rehearsal"});
  EXPECT_NE(reported.out.find("  hello     ok           12 greetings, all pairs"), std::string::npos) << reported.out;
  const CommandResult replayed = four.Muster({"replay", "job.rehearsal"});
  EXPECT_EQ(replayed.exit_code, 2);
  EXPECT_NE(replayed.err.find("is a rehearsal"), std::string::npos) << replayed.err;
}

TEST(LocalRehearsal, WorksForAnEarlierRunAndForAPlan) {
  const Four four("");
  ASSERT_EQ(four.Rehearse().result.exit_code, 0);
  const CommandResult again =
      RunCommand({.argv = {MusterProgram(), "rehearse", four.RunDir(), "--run-dir", four.Folder() + "/again"},
                  .env = four.Environment(),
                  .cwd = four.Folder()});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  const std::string file = four.Folder() + "/plan.json";
  std::ofstream(file) << four.Muster({"plan", "recipe.lua", "--json"}).out;
  const CommandResult of_plan =
      RunCommand({.argv = {MusterProgram(), "rehearse", "--plan", file, "--run-dir", four.Folder() + "/planned"},
                  .env = four.Environment(),
                  .cwd = four.Folder()});
  EXPECT_EQ(of_plan.exit_code, 0) << of_plan.out << of_plan.err;
  EXPECT_NE(of_plan.out.find("rehearsal of job: 4 processes on 1 host"), std::string::npos) << of_plan.out;
}

TEST(LocalRehearsal, HasAPlanThatCannotBeRunAsAJob) {
  const Four four("");
  ASSERT_EQ(four.Rehearse().result.exit_code, 0);
  for (const char* command : {"run", "rehearse"}) {
    const std::string run_dir = four.Folder() + "/refused-" + command;
    const CommandResult refused = four.Muster({command, "--plan", four.RunDir() + "/plan.json", "--run-dir", run_dir});
    EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
    EXPECT_NE(refused.err.find("plan.json: error: this is the plan of a rehearsal: it starts stubs"), std::string::npos)
        << refused.err;
    EXPECT_FALSE(std::filesystem::exists(run_dir));
  }
}

TEST(LocalRehearsal, NamesADuplicateRank) {
  const Four four("if process.rank == 3 then process.env { RANK = 0, override = true } end");
  const Rehearsed rehearsed = four.Rehearse();
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.out << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), std::set<std::string>{"ranks"});
  EXPECT_EQ(rehearsed.Who("ranks"), On(Here(), {0, 3}));
  EXPECT_NE(rehearsed.Text("ranks").find("rank 0 occurs 2 times"), std::string::npos);
  EXPECT_NE(rehearsed.Text("ranks").find("RANK is \"0\", and the plan has 3"), std::string::npos);
}

TEST(LocalRehearsal, NamesAWrongCount) {
  const Four four("if process.rank == 2 then process.env { WORLD_SIZE = 8, override = true } end");
  const Rehearsed rehearsed = four.Rehearse();
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), std::set<std::string>{"counts"});
  EXPECT_EQ(rehearsed.Who("counts"), On(Here(), {2}));
  EXPECT_EQ(rehearsed.Text("counts"), "WORLD_SIZE is \"8\", and the plan has 4\n");
}

TEST(LocalRehearsal, NamesProcessesThatCannotReachTheRendezvousEndpoint) {
  const Four four("if process.rank == 1 then process.env { MASTER_PORT = 1, override = true } end");
  const Rehearsed rehearsed = four.Rehearse();
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), std::set<std::string>{"meeting"});
  EXPECT_EQ(rehearsed.Who("meeting"), On(Here(), {1}));
  EXPECT_EQ(rehearsed.Text("meeting"),
            "cannot reach the rendezvous endpoint at 127.0.0.1 port 1: connection refused\n");
}

// A contract that says what its variables carry is checked like muster's own.
TEST(LocalRehearsal, ChecksTheVariablesOfARecipesOwnContract) {
  const RunFolder folder;
  const auto rehearse = [&](const std::string& rank, const std::string& is) {
    std::ofstream(folder.Folder() + "/recipe.lua")
        << "local muster = require 'muster'\nlocal mine = muster.contract { name = 'mine',\n"
           "roles = { worker = { min = 1 }, keeper = { min = 1, max = 1, add = 'worker', done = 'never' } },\n"
           "meeting = { role = 'keeper', port = 'keeper' }, variables = {\n"
           "{ 'MINE_AT', 'all', '', "
        << (is.empty() ? "" : "is = 'endpoint'") << " }, { 'MINE_RANK', 'worker', '', " << is
        << " } },\ncommon = function(role, job) return { MINE_AT = job.meeting.address .. ':' .. job.meeting.port } "
           "end,\n"
           "env = function(process) return { MINE_RANK = "
        << rank
        << " } end }\nreturn muster.recipe { name = 'job', framework = mine, plan = function(p, job)\n"
           "job:workers { count = 3, command = { '/bin/true' } } end }\n";
    return Rehearsed(folder.Muster({"rehearse", "recipe.lua", "--json", "--within", "5s"}));
  };
  const Rehearsed right = rehearse("process.rank", "is = 'rank'");
  EXPECT_EQ(right.result.exit_code, 0) << right.result.out << right.result.err;
  EXPECT_EQ(right.Outcome("ranks"), "ok");
  EXPECT_EQ(right.Outcome("meeting"), "ok");
  const Rehearsed wrong = rehearse("process.rank and 1", "is = 'rank'");
  EXPECT_EQ(wrong.result.exit_code, 1) << wrong.result.err;
  EXPECT_EQ(wrong.Failed(), std::set<std::string>{"ranks"});
  EXPECT_EQ(wrong.Who("ranks").count("worker.0 rank 0 on " + Here()), 1U) << wrong.result.out;
  const Rehearsed undeclared = rehearse("1", "");
  EXPECT_EQ(undeclared.result.exit_code, 0) << undeclared.result.out;
  EXPECT_EQ(undeclared.Outcome("meeting"), "not_checked");
}

TEST(LocalRehearsal, NamesATakenPort) {
  std::uint16_t port = 0;
  const auto outsider = ListenAt(port, PortUse::kAlone);
  ASSERT_TRUE(outsider.has_value());
  const Four four("", "job:port('master', { number = " + std::to_string(port) + " })");
  const Rehearsed rehearsed = four.Rehearse();
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), std::set<std::string>{"ports"});
  EXPECT_EQ(rehearsed.Who("ports"), On(Here(), {0}));
  EXPECT_NE(rehearsed.Text("ports").find("port " + std::to_string(port) + " is in use"), std::string::npos);
}

TEST(LocalRehearsal, NamesAnInvisibleDevice) {
  const Four four("if process.rank == 3 then process.env { CUDA_VISIBLE_DEVICES = '0,1', override = true } end");
  const Rehearsed rehearsed = four.Rehearse();
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), std::set<std::string>{"devices"});
  EXPECT_EQ(rehearsed.Who("devices"), On(Here(), {3}));
  EXPECT_EQ(rehearsed.Text("devices"), "CUDA_VISIBLE_DEVICES=\"0,1\" hides its device 3\n");
}

TEST(LocalRehearsal, NamesAMissingScript) {
  const Four four("if process.rank == 2 then process.command = { 'sh', 'trian.py' } end");
  const Rehearsed rehearsed = four.Rehearse();
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Failed(), std::set<std::string>{"files"});
  EXPECT_EQ(rehearsed.Who("files"), On(Here(), {2}));
}

TEST(LocalRehearsal, NamesAProcessThatCannotBeStarted) {
  const Four four("if process.rank == 1 then process.cwd = here .. '/nowhere' end");
  const Rehearsed rehearsed = four.Rehearse();
  EXPECT_EQ(rehearsed.result.exit_code, 1) << rehearsed.result.err;
  EXPECT_EQ(rehearsed.Outcome("start"), "failed");
  EXPECT_TRUE(rehearsed.Who("start").contains("worker.1 rank 1 on " + Here()));
}

TEST(LocalRehearsal, RefusesUsageErrors) {
  const Four four("");
  const Rehearsed rehearsed = four.Rehearse({"--within", "0s"});
  EXPECT_EQ(rehearsed.result.exit_code, 2);
  const CommandResult missing = four.Muster({"rehearse", "missing.lua", "--json"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(json::parse(missing.out, nullptr, false).value("ok", true), false) << missing.out;
}

TEST(Stub, ReportsItsChecksWhenCalledByHand) {
  const Four four("");
  const CommandResult well = four.Muster({"stub", "--", "sh", "train.py"});
  EXPECT_EQ(well.exit_code, 0) << well.out << well.err;
  EXPECT_NE(well.out.find("files     ok"), std::string::npos) << well.out;
  const CommandResult wrong = four.Muster({"stub", "--", "sh", "other.py"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(wrong.out.find("files     FAILED"), std::string::npos) << wrong.out;
}

// Runs as a user other than root, because permissions do not restrict root.
TEST(Stub, NamesAFileWithoutReadPermission) {
  namespace fs = std::filesystem;
  const TempDir folder;
  fs::permissions(folder.path(), fs::perms(0755));
  fs::create_directory(folder / "closed");
  for (const char* name : {"data.csv", "closed/more.csv"}) std::ofstream(folder / name) << "1\n";
  fs::permissions(folder / "data.csv", fs::perms(::getuid() == 0 ? 0600 : 0));
  fs::permissions(folder / "closed", fs::perms(::getuid() == 0 ? 0700 : 0));
  Words words = {MusterProgram(), "stub", "--", "sh", "-x", "data.csv", "--more=./closed/more.csv", "gone.csv"};
  if (::getuid() == 0)
    words.insert(words.begin(), {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  const CommandResult result = RunCommand({.argv = words, .env = {"PATH=/usr/bin:/bin"}, .cwd = folder.path()});
  fs::permissions(folder / "closed", fs::perms(0755));
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  for (const char* said :
       {"\"data.csv\" cannot be read: Permission denied", "\"./closed/more.csv\" cannot be read: Permission denied"})
    EXPECT_NE(result.out.find(said), std::string::npos) << result.out << result.err;
  EXPECT_EQ(result.out.find("gone.csv"), std::string::npos) << "the job may write it\n" << result.out;
}

}  // namespace
}  // namespace muster::testing
