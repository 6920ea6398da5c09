// The stand-in for a Kubernetes cluster (tests/pods/cluster) for the lifetime of an object, and its kubectl.
#pragma once

#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "support/command.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {

#define SKIP_WITHOUT_CLUSTER() \
  if (!StandInCluster::Missing().empty()) GTEST_SKIP() << StandInCluster::Missing()

class StandInCluster {
 public:
  // Why this machine cannot run containers of the stand-in; empty if it can.
  static const std::string& Missing() {
    static const std::string missing = [] {
      const auto tried = RunCommand({.argv = {"unshare", "--pid", "--fork", "--mount-proc", "--uts", "true"}});
      if (tried.exit_code != 0) return "no namespaces: " + tried.err;
      const auto yaml = RunCommand({.argv = {"/usr/bin/python3", "-c", "import yaml"}});
      return yaml.exit_code == 0 ? std::string() : "/usr/bin/python3 has no yaml (tools/setup --all)";
    }();
    return missing;
  }
  static std::string Kubectl() { return MUSTER_SOURCE_DIR "/tests/pods/kubectl"; }

  // Throws if it cannot be started.
  StandInCluster() {
    int in[2] = {-1, -1};
    int out[2] = {-1, -1};
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    life_.reset(in[1]);
    const UniqueFd read(in[0]);
    const UniqueFd write(out[1]);
    const UniqueFd answer(out[0]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, read.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, write.get(), STDOUT_FILENO);
    std::string program = MUSTER_SOURCE_DIR "/tests/pods/cluster";
    std::string path = folder();
    std::string variable = "PATH=/usr/bin:/bin:/usr/sbin:/sbin";
    char* const argv[] = {program.data(), path.data(), nullptr};
    char* const env[] = {variable.data(), nullptr};
    const int error = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv, env);
    ::posix_spawn_file_actions_destroy(&actions);
    char up = 0;
    if (error != 0 || ::read(answer.get(), &up, 1) != 1) throw std::runtime_error("the cluster does not start");
  }
  StandInCluster(const StandInCluster&) = delete;
  StandInCluster& operator=(const StandInCluster&) = delete;
  ~StandInCluster() {
    life_.reset();
    ::waitpid(pid_, nullptr, 0);
  }

  std::string folder() const { return folder_.path(); }
  std::string operator/(const std::string& name) const { return folder_ / name; }

  CommandResult Call(std::vector<std::string> words) const {
    words.insert(words.begin(), {Kubectl(), "--context=" + folder()});
    return RunCommand({.argv = words});
  }
  nlohmann::json List() const { return nlohmann::json::parse(Call({"list"}).out, nullptr, false); }
  // The pid, in this namespace, of the first process of the only pod's container; 0 without one.
  pid_t Init() const {
    const auto list = List();
    return list["pids"].empty() ? 0 : list["pids"].begin()->get<pid_t>();
  }
  // Neither objects nor pods.
  bool IsEmpty() const {
    const auto list = List();
    return list["pods"].empty() && list["objects"].empty();
  }
  // The command lines with which kubectl was called.
  std::string Calls() const {
    std::ifstream file(folder_ / "calls", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  TempDir folder_;
  UniqueFd life_;
  pid_t pid_ = -1;
};

}  // namespace muster::testing
