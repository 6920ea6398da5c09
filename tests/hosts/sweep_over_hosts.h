// A sweep over the hosts of a testbed, in the background, and its state.
#pragma once

#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "hosts/hosts_testbed.h"
#include "support/await.h"
#include "support/journal_records.h"
#include "support/places.h"

namespace muster::testing {

// A muster with these words, on the testbed's login machine and from the source tree; sweeps are below `home`.
class SweepOverHosts {
 public:
  // By default only the login machine sees the sweep. `by` are the words that start muster, such as those of salloc.
  SweepOverHosts(const HostsTestbed& testbed, const std::vector<std::string>& words, std::string home = {},
                 std::vector<std::string> by = {})
      : testbed_(testbed), home_(home.empty() ? testbed.own_folder() : std::move(home)) {
    runner_ = std::thread([this, words, by = std::move(by)] { result_ = Call(words, by); });
  }
  ~SweepOverHosts() {
    if (runner_.joinable()) runner_.join();
  }
  SweepOverHosts(const SweepOverHosts&) = delete;
  SweepOverHosts& operator=(const SweepOverHosts&) = delete;

  CommandResult Call(const std::vector<std::string>& words, std::vector<std::string> by = {}) const {
    Command command;
    by.push_back(MusterProgram());
    command.argv = testbed_.Login(std::move(by));
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.env = {"PATH=/usr/bin:/bin", "MUSTER_SSH=" + testbed_.ssh(), "HOME=/root", "XDG_STATE_HOME=" + home_,
                   "MUSTER_HOME=" + home_};
    command.cwd = MUSTER_SOURCE_DIR;
    return RunCommand(command);
  }
  const CommandResult& Result() {
    if (runner_.joinable()) runner_.join();
    return result_;
  }
  // Returns the folder of the only sweep; empty if there is none yet.
  std::string Folder() const {
    std::error_code error;
    for (const auto& name : std::filesystem::directory_iterator(home_ + "/sweeps", error)) {
      for (const auto& sweep : std::filesystem::directory_iterator(name, error)) {
        if (!sweep.is_symlink()) return sweep.path();
      }
    }
    return {};
  }
  std::vector<nlohmann::json> Journal(const std::string& event) const {
    return RecordsOf(Folder() + "/journal.jsonl", event);
  }
  // Waits until there are `count` entries of that kind. The folders on the way are created one by one.
  bool Await(const std::string& event, std::size_t count) const {
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
    for (;;) {
      for (const std::string& folder : {home_, home_ + "/sweeps", home_ + "/sweeps/digits", Folder()}) {
        if (!folder.empty()) ::inotify_add_watch(watch.get(), folder.c_str(), IN_CREATE | IN_MODIFY);
      }
      if (Journal(event).size() >= count) return true;
      char events[4096];
      if (!AwaitReadable(watch.get()) || ::read(watch.get(), events, sizeof events) < 0) return false;
    }
  }
  CommandResult Checked(std::size_t trials) const {
    return RunCommand({.argv = {"/usr/bin/python3", std::string(MUSTER_SOURCE_DIR) + "/tests/support/check_sweep.py",
                                "--complete", std::to_string(trials), Folder()}});
  }

 private:
  const HostsTestbed& testbed_;
  std::string home_;
  std::thread runner_;
  CommandResult result_;
};

}  // namespace muster::testing
