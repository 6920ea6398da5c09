// Whole runs on several hosts: what reaches them, what comes back, and what is told when something breaks.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <sys/syscall.h>

#include "hosts/hosts_bed.h"
#include "support/await.h"
#include "support/processes.h"

namespace muster::testing {
namespace {

using nlohmann::json;

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {(std::istreambuf_iterator<char>(file)), {}};
}

// `body` is that of the plan.
std::string Recipe(int hosts, const std::string& body) {
  return "local muster = require 'muster'\nreturn muster.recipe {\n  name = 'job', doc = 'a job', framework = 'none',\n"
         "  cluster = { hosts = " +
         std::to_string(hosts) + ", devices_per_host = 1 },\n  plan = function(p, job)\n" + body + "\n  end,\n}\n";
}

// A muster that runs in the background, on the machine from where one logs in.
class HostsRun {
 public:
  // The run directory is one that only this machine sees, unless another one is given.
  HostsRun(const HostsBed& bed, const std::string& recipe, std::vector<std::string> options,
           const std::string& run_dir = {})
      : folder_(bed.own_folder()), run_dir_(run_dir.empty() ? folder_ + "/run" : run_dir) {
    std::ofstream(folder_ + "/r.lua") << recipe;
    Command command;
    options.insert(options.begin(), {MusterProgram(), "run", folder_ + "/r.lua", "--run-dir", run_dir_});
    command.argv = bed.Login(std::move(options));
    command.env = {"PATH=/usr/bin:/bin", "MUSTER_SSH=" + bed.ssh(), "HOME=/root", "XDG_STATE_HOME=" + folder_};
    runner_ = std::thread([this, command] { result_ = RunCommand(command); });
  }
  ~HostsRun() {
    if (runner_.joinable()) runner_.join();
  }
  HostsRun(const HostsRun&) = delete;
  HostsRun& operator=(const HostsRun&) = delete;

  const std::string& run_dir() const { return run_dir_; }

  const CommandResult& Result() {
    if (runner_.joinable()) runner_.join();
    return result_;
  }
  json Report() {
    Result();
    return json::parse(ContentOf(run_dir() + "/report.json"), nullptr, false);
  }
  std::vector<json> Journal(const std::string& event) const {
    std::vector<json> records;
    std::ifstream file(run_dir() + "/journal.jsonl");
    for (std::string line; std::getline(file, line);) {
      json record = json::parse(line, nullptr, false);
      if (!record.is_discarded() && record["event"] == event) records.push_back(std::move(record));
    }
    return records;
  }
  // Once so many records of that kind are there.
  bool Await(const std::string& event, std::size_t count) const {
    const auto until = std::chrono::steady_clock::now() + kDeadline;
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
    ::inotify_add_watch(watch.get(), folder_.c_str(), IN_CREATE);
    bool watched = false;
    while (std::chrono::steady_clock::now() < until) {
      if (!watched) watched = ::inotify_add_watch(watch.get(), (run_dir() + "/journal.jsonl").c_str(), IN_MODIFY) >= 0;
      if (!watched) ::inotify_add_watch(watch.get(), run_dir().c_str(), IN_CREATE);
      if (Journal(event).size() >= count) return true;
      if (!AwaitReadable(watch.get(), std::chrono::seconds(5))) continue;
      char events[4096];
      if (::read(watch.get(), events, sizeof events) < 0) return false;
    }
    return false;
  }
  std::string token() const { return "MUSTER_PROCESS=" + Journal("run_began").at(0)["run"].get<std::string>(); }

 private:
  std::string folder_;
  std::string run_dir_;
  std::thread runner_;
  CommandResult result_;
};

const char* const kSleepers = "    job:workers { count = 4, devices = 0, cwd = '/', command = { 'sleep', '1000' } }";

TEST(ManyHosts, RunOneJobAndItsFilesComeHome) {
  SKIP_WITHOUT_BED();
  HostsBed bed(4);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed,
               Recipe(4,
                      "    local note = job:file { 'note.txt', text = 'for all' }\n"
                      "    job:workers { count = 8, devices = 0, cwd = '/', command = muster.shell "
                      "'echo $MUSTER_RANK on $(hostname): $(cat $NOTE)', env = { NOTE = note } }"),
               {"--host", "n[1-4]"});
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().out << run.Result().err;
  for (int rank = 0; rank < 8; ++rank) {
    const std::string log = "/logs/worker." + std::to_string(rank) + ".0.";
    EXPECT_EQ(ContentOf(run.run_dir() + log + "log"),
              std::to_string(rank) + " on n" + std::to_string(rank / 2 + 1) + ": for all\n");
    EXPECT_TRUE(std::filesystem::exists(run.run_dir() + log + "idx"));
  }
  EXPECT_FALSE(std::filesystem::exists(run.run_dir() + "/probe"));
  EXPECT_EQ(run.Report()["receipt"]["left"], 0);
  ASSERT_EQ(run.Journal("host_reached").size(), 4U);
  EXPECT_EQ(run.Journal("host_reached")[0]["shares_run_dir"], false);
  for (const json& host : run.Journal("plan_bound")[0]["hosts"]) {
    EXPECT_EQ(host["address"], "10.77.0." + host["name"].get<std::string>().substr(1));
  }
  EXPECT_TRUE(ProcessesWith(run.token()).empty());
  for (const char* host : {"n1", "n2", "n3", "n4"}) {
    EXPECT_EQ(RunCommand({.argv = bed.On(host, {"ls", run.run_dir()})}).exit_code, 2) << "nothing is left on " << host;
  }
}

TEST(ManyHosts, WriteWhereAllSeeItIfTheyDo) {
  SKIP_WITHOUT_BED();
  HostsBed bed(2);
  ASSERT_TRUE(bed.Up());
  const std::string shared = bed.folder() + "/shared";
  HostsRun run(bed, Recipe(2, "    job:workers { count = 2, devices = 0, cwd = '/', command = { 'hostname' } }"),
               {"--host", "n[1-2]"}, shared);
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().err;
  EXPECT_EQ(ContentOf(shared + "/logs/worker.0.0.log"), "n1\n");
  EXPECT_EQ(ContentOf(shared + "/logs/worker.1.0.log"), "n2\n");
  EXPECT_NE(ContentOf(shared + "/journal.jsonl").find("\"shares_run_dir\":true"), std::string::npos);
}

TEST(ManyHosts, HaveOneFirstFailureAndAreStoppedTogether) {
  SKIP_WITHOUT_BED();
  HostsBed bed(3);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed,
               Recipe(3,
                      "    job:workers { count = 3, devices = 0, cwd = '/', command = muster.shell "
                      "'if [ $MUSTER_RANK = 1 ]; then head -c 300000 /dev/zero | tr \"\\\\0\" x; echo; "
                      "echo out of luck; exit 7; fi; sleep 1000' }"),
               {"--host", "n[1-3]"});
  EXPECT_EQ(run.Result().exit_code, 1);
  const json failure = run.Report()["first_failure"];
  EXPECT_EQ(failure["rank"], 1) << run.Result().out << run.Result().err;
  EXPECT_EQ(failure["last_lines"].back(), "out of luck");
  EXPECT_EQ(std::filesystem::file_size(run.run_dir() + "/logs/worker.1.0.log"), 300'013U);
  EXPECT_TRUE(ProcessesWith(run.token()).empty());
}

TEST(ManyHosts, AreToldOfTogetherIfTheyCannotBeReached) {
  SKIP_WITHOUT_BED();
  HostsBed bed(2);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed, Recipe(4, kSleepers), {"--host", "n1,x7,n2,x8"});
  EXPECT_EQ(run.Result().exit_code, 3);
  EXPECT_NE(run.Result().err.find("2 of 4 hosts: there is no host of that name: x[7-8]"), std::string::npos)
      << run.Result().err;
  EXPECT_TRUE(run.Journal("process_started").empty());
  EXPECT_EQ(run.Report()["outcome"], "failed");
}

TEST(ManyHosts, AreToldOfAnOlderAgent) {
  SKIP_WITHOUT_BED();
  HostsBed bed(2);
  ASSERT_TRUE(bed.Up());
  const std::string older = bed.folder() + "/older";
  std::ofstream(older) << "#!/bin/sh\nprintf 'muster-agent/1\\n'\nexec cat > /dev/null\n";
  std::filesystem::permissions(older, std::filesystem::perms::owner_all);
  HostsRun run(bed, Recipe(2, kSleepers), {"--host", "n[1-2]", "--agent", older});
  EXPECT_EQ(run.Result().exit_code, 3);
  EXPECT_NE(run.Result().err.find("2 of 2 hosts: its agent: it speaks protocol 1, this muster "), std::string::npos)
      << run.Result().err;
}

// --- what breaks while it runs ---------------------------------------------------------------------

TEST(ManyHosts, LoseOneWithoutPowerWithinTheLease) {
  SKIP_WITHOUT_BED();
  HostsBed bed(4);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed, Recipe(4, kSleepers), {"--host", "n[1-4]", "--host-lease", "2s"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  ASSERT_TRUE(bed.PowerOff("n3"));
  EXPECT_EQ(run.Result().exit_code, 3);
  ASSERT_EQ(run.Journal("agent_lost").size(), 1U);
  EXPECT_EQ(run.Journal("agent_lost")[0]["host"], 2);
  EXPECT_EQ(run.Journal("agent_lost")[0]["why"], "nothing was heard of it for 2 s");
  EXPECT_EQ(run.Report()["outcome"], "lost");
  EXPECT_TRUE(ProcessesWith(run.token()).empty());
}

TEST(ManyHosts, EndOnBothSidesOfACableThatStaysCut) {
  SKIP_WITHOUT_BED();
  HostsBed bed(2);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed, Recipe(2, kSleepers), {"--host", "n[1-2]", "--host-lease", "2s"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  ASSERT_TRUE(bed.Cut("n1"));
  EXPECT_EQ(run.Result().exit_code, 3);
  EXPECT_TRUE(ProcessesWith(run.token()).empty()) << "on n1, too, whose cable is still cut";
}

TEST(ManyHosts, EndWhenAnAgentIsKilled) {
  SKIP_WITHOUT_BED();
  HostsBed bed(2);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed, Recipe(2, kSleepers), {"--host", "n[1-2]"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  for (const json& agent : run.Journal("agent_connected")) {
    if (agent["host"] != 1) continue;
    EXPECT_EQ(RunCommand({.argv = bed.On("n2", {"kill", "-KILL", agent["pid"].dump()})}).exit_code, 0);
  }
  EXPECT_EQ(run.Result().exit_code, 3);
  ASSERT_EQ(run.Journal("agent_lost").size(), 1U);
  EXPECT_NE(run.Journal("agent_lost")[0]["why"].get<std::string>().find("ended by signal 9 (SIGKILL)"),
            std::string::npos);
  EXPECT_TRUE(ProcessesWith(run.token()).empty());
}

TEST(ManyHosts, EndWhenTheHeadIsKilled) {
  SKIP_WITHOUT_BED();
  HostsBed bed(2);
  ASSERT_TRUE(bed.Up());
  HostsRun run(bed, Recipe(2, kSleepers), {"--host", "n[1-2]"});
  ASSERT_TRUE(run.Await("process_started", 4)) << run.Result().err;
  std::vector<UniqueFd> processes;
  for (const pid_t pid : ProcessesWith(run.token())) {
    processes.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }
  ASSERT_EQ(processes.size(), 4U);
  ASSERT_EQ(::kill(run.Journal("run_began")[0]["pid"].get<pid_t>(), SIGKILL), 0);
  EXPECT_EQ(run.Result().exit_code, 128 + SIGKILL);
  for (const UniqueFd& process : processes) EXPECT_TRUE(AwaitReadable(process.get()));
}

}  // namespace
}  // namespace muster::testing
