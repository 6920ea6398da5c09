// Whole runs over the hosts of a testbed, in the background, and their state.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <unistd.h>

#include "hosts/host_processes.h"
#include "hosts/hosts_testbed.h"
#include "support/await.h"
#include "support/journal_records.h"
#include "support/processes.h"
#include "support/run_folder.h"

namespace muster::testing {

// `body` is that of the plan function.
inline std::string Recipe(int hosts, const std::string& body) {
  return "local muster = require 'muster'\nreturn muster.recipe {\n  name = 'job', doc = 'a job', framework = 'none',\n"
         "  cluster = { hosts = " +
         std::to_string(hosts) + ", devices_per_host = 1 },\n  plan = function(p, job)\n" + body + "\n  end,\n}\n";
}

// A recipe of the source tree, and environment variables of the caller.
struct RecipeFile {
  std::string path;
  std::vector<std::string> env = {};
};

// A muster that runs in the background on the testbed's login machine.
class HostsRun {
 public:
  // Runs a recipe given as text. By default only the login machine sees the run directory.
  HostsRun(const HostsTestbed& testbed, const std::string& recipe, const std::vector<std::string>& options,
           const std::string& run_dir = {})
      : folder_(testbed.own_folder()), run_dir_(run_dir.empty() ? folder_ + "/run" : run_dir) {
    std::ofstream(folder_ + "/r.lua") << recipe;
    Begin(testbed, {folder_ + "/r.lua"}, options, {});
  }
  // Runs a recipe of the source tree, from that tree.
  HostsRun(const HostsTestbed& testbed, const RecipeFile& recipe, const std::vector<std::string>& options)
      : folder_(testbed.own_folder()), run_dir_(folder_ + "/run") {
    Begin(testbed, recipe, options, MUSTER_SOURCE_DIR);
  }
  // Runs a recipe in `folder`, which hosts see: recipe, state and run directory are there. `by` are the words that
  // start muster, such as those of salloc.
  HostsRun(const HostsTestbed& testbed, const std::string& folder, const std::vector<std::string>& by,
           const RecipeFile& recipe, const std::vector<std::string>& options)
      : folder_(folder), run_dir_(folder + "/run") {
    Begin(testbed, recipe, options, MUSTER_SOURCE_DIR, by);
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
  std::vector<json> Journal(const std::string& event) const { return RecordsOf(run_dir() + "/journal.jsonl", event); }
  // Waits until there are `count` records of that kind; false on timeout.
  bool Await(const std::string& event, std::size_t count) const { return AwaitIn(run_dir(), event, count); }
  // The same for another run directory beside this one.
  static bool AwaitIn(const std::string& run_dir, const std::string& event, std::size_t count) {
    const auto until = std::chrono::steady_clock::now() + kDeadline;
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
    ::inotify_add_watch(watch.get(), std::filesystem::path(run_dir).parent_path().c_str(), IN_CREATE);
    bool watched = false;
    while (std::chrono::steady_clock::now() < until) {
      if (!watched) watched = ::inotify_add_watch(watch.get(), (run_dir + "/journal.jsonl").c_str(), IN_MODIFY) >= 0;
      if (!watched) ::inotify_add_watch(watch.get(), run_dir.c_str(), IN_CREATE);
      if (RecordsOf(run_dir + "/journal.jsonl", event).size() >= count) return true;
      if (!AwaitReadable(watch.get(), std::chrono::seconds(5))) continue;
      char events[4096];
      if (::read(watch.get(), events, sizeof events) < 0) return false;
    }
    return false;
  }
  std::string token() const { return "MUSTER_PROCESS=" + Journal("run_began").at(0)["run"].get<std::string>(); }

  std::string Log(const std::string& process) const { return ContentOf(run_dir() + "/logs/" + process + ".0.log"); }

 private:
  void Begin(const HostsTestbed& testbed, const RecipeFile& recipe, const std::vector<std::string>& options,
             const std::string& cwd, std::vector<std::string> by = {}) {
    Command command;
    by.insert(by.end(), {MusterProgram(), "run", recipe.path, "--run-dir", run_dir_});
    command.argv = testbed.Login(std::move(by));
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    command.env = {"PATH=/usr/bin:/bin", "MUSTER_SSH=" + testbed.ssh(), "HOME=/root", "XDG_STATE_HOME=" + folder_};
    command.env.insert(command.env.end(), recipe.env.begin(), recipe.env.end());
    command.cwd = cwd;
    runner_ = std::thread([this, command] { result_ = RunCommand(command); });
  }

  std::string folder_;
  std::string run_dir_;
  std::thread runner_;
  CommandResult result_;
};

// The state of some hosts of a testbed before a run.
class HostsBefore {
 public:
  HostsBefore(const HostsTestbed& testbed, const std::vector<std::string>& hosts) : shared_(testbed.folder() + "/") {
    for (const std::string& host : hosts) {
      const pid_t init = testbed.Init(host);
      hosts_.emplace(host, Before{"/proc/" + std::to_string(init) + "/root", HostProcesses(init)});
    }
  }

  // Expects on every host: no process of the run, no folder (unless hosts share it), and no cgroup of its agents.
  void ExpectNothingLeft(const HostsRun& run) const {
    EXPECT_TRUE(ProcessesWith(run.token()).empty());
    const bool shared = run.run_dir().starts_with(shared_);
    ExpectNoProcesses();
    for (const auto& [name, host] : hosts_) {
      EXPECT_TRUE(shared || !std::filesystem::exists(host.root + run.run_dir())) << "left on " << name;
    }
    for (const json& agent : run.Journal("agent_connected")) {
      const auto group = agent["cgroup"].get<std::string>();
      EXPECT_TRUE(group.empty() || !std::filesystem::exists(group)) << group;
    }
  }
  // Expects on every host no process that was not there before.
  void ExpectNoProcesses() const {
    for (const auto& [name, host] : hosts_) {
      EXPECT_EQ(host.processes.New(), std::vector<pid_t>()) << "left on " << name;
    }
  }

 private:
  struct Before {
    std::string root;  // the host's root folder, as a path on this machine
    HostProcesses processes;
  };
  std::string shared_;
  std::map<std::string, Before> hosts_;
};

inline const char* const kSleepers =
    "    job:workers { count = 4, devices = 0, cwd = '/', command = { 'sleep', '1000' } }";

}  // namespace muster::testing
