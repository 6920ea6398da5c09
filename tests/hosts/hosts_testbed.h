// A testbed of hosts (tests/hosts/testbed) for the lifetime of an object: n1, n2, … with an sshd each, on this machine.
//
// The testbed ends with the object, and with the test program if that is killed: it exits when its stdin ends.
#pragma once

#include <cerrno>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "support/command.h"
#include "support/places.h"
#include "support/temp_dir.h"

#define SKIP_WITHOUT_TESTBED() \
  if (!HostsTestbed::Missing().empty()) GTEST_SKIP() << HostsTestbed::Missing()

namespace muster::testing {

class HostsTestbed {
 public:
  // Why this machine cannot run a testbed; empty if it can.
  static const std::string& Missing() {
    static const std::string missing = MissingFor(Program());
    return missing;
  }

  // `options` are those of "testbed up", such as {"--sshd", "MaxStartups 10"}. Throws if it cannot be started.
  explicit HostsTestbed(int hosts, const std::vector<std::string>& options = {})
      : HostsTestbed(Program(), hosts, options) {}
  HostsTestbed(const HostsTestbed&) = delete;
  HostsTestbed& operator=(const HostsTestbed&) = delete;
  ~HostsTestbed() { Down(); }

  // Call this before anything else: returns true once all hosts answer. Errors are on stderr.
  bool Up() { return Answer() == "up"; }

  // These return true on success.
  bool Cut(const std::string& host) { return Do("cut " + host); }
  bool Heal(const std::string& host) { return Do("heal " + host); }
  bool Slow(const std::string& host) { return Do("slow " + host); }  // delays every packet by 0.1 s, each way; once
  bool PowerOff(const std::string& host) { return Do("poweroff " + host); }  // without closing connections
  bool Kill(const std::string& host) { return Do("kill " + host); }          // the kernel closes connections

  // Stops the testbed as a finished test does; waits until nothing remains.
  void Down() {
    if (pid_ < 0) return;
    orders_.reset();
    Wait();
  }
  // Kills the testbed.
  void KillTestbed() {
    ::kill(pid_, SIGKILL);
    Wait();
  }

  std::string folder() const { return folder_ / "hosts"; }
  // Hosts see nothing below it except folder().
  std::string own_folder() const { return folder_.path(); }
  std::string ssh_config() const { return folder() + "/ssh_config"; }
  // A program that replaces ssh, callable from anywhere.
  std::string ssh() const { return folder() + "/ssh"; }

  // The pid, in this namespace, of the host's init; if it dies, the whole host dies.
  pid_t Init(const std::string& host) const {
    std::ifstream file(folder() + "/testbed.json");
    const nlohmann::json facts = nlohmann::json::parse(file);
    for (const nlohmann::json& one : facts["hosts"]) {
      if (one["name"] == host) return one["pid"].get<pid_t>();
    }
    throw std::runtime_error("the testbed has no host " + host);
  }

  // The process whose network namespace is that of the login machine.
  pid_t Login() const { return pid_; }

  // These return the command line that runs `argv` on the login machine, on a host without its sshd, or through ssh.
  std::vector<std::string> Login(std::vector<std::string> argv) const {
    argv.insert(argv.begin(), folder() + "/login");
    return argv;
  }
  std::vector<std::string> On(const std::string& host, std::vector<std::string> argv) const {
    argv.insert(argv.begin(), {folder() + "/on", host});
    return argv;
  }
  std::vector<std::string> Ssh(const std::string& host, const std::string& command) const {
    return Login({"ssh", "-n", "-F", ssh_config(), "-o", "BatchMode=yes", "-o", "ConnectTimeout=2", host, command});
  }

 protected:
  // One that another program brings up, which has these options and answers these orders too.
  HostsTestbed(const std::string& program, int hosts, const std::vector<std::string>& options) {
    std::vector<std::string> argv = {program,           "up",      std::to_string(hosts), folder(),  "--share",
                                     MUSTER_SOURCE_DIR, "--share", MUSTER_BIN_DIR,        "--share", MUSTER_TESTS_DIR};
    argv.insert(argv.end(), options.begin(), options.end());
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error("no socket for the testbed");
    orders_.reset(ends[0]);
    const UniqueFd its_end(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, its_end.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions, its_end.get(), 1);
    const std::vector<std::string> env = {"PATH=/usr/bin:/bin"};
    const int error = ::posix_spawnp(&pid_, argv.front().c_str(), &actions, nullptr,
                                     command_detail::Pointers(argv).data(), command_detail::Pointers(env).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("the testbed cannot be started");
  }

  static std::string MissingFor(const std::string& program) {
    const CommandResult check = RunCommand({.argv = {program, "check"}});
    if (check.exit_code == 0) return std::string();
    return check.out.empty() ? "the testbed cannot be asked: " + check.err : check.out.substr(0, check.out.find('\n'));
  }

  bool Do(const std::string& order) {
    const std::string line = order + "\n";
    return ::send(orders_.get(), line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size()) &&
           Answer() == "done";
  }

 private:
  static std::string Program() { return std::string(MUSTER_SOURCE_DIR) + "/tests/hosts/testbed"; }

  // The next line, or the rest if the testbed ends.
  std::string Answer() {
    std::string line;
    for (char byte = 0; ::read(orders_.get(), &byte, 1) == 1 && byte != '\n';) line += byte;
    return line;
  }

  void Wait() {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

  TempDir folder_;
  UniqueFd orders_;
  pid_t pid_ = -1;
};

}  // namespace muster::testing
