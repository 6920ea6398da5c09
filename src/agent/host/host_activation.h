// Activates a host: one shell executes the steps of an activation, and the changes of its environment are reported.
// Handles bash, processes and the clock; independent of protocol frames and policy.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/processes/child_set.h"
#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Activates a host: one shell executes the steps of an activation, and the changes of its environment are reported.
//
// Handles bash, processes and the clock; independent of protocol frames and policy. Sourced files are the user's code
// and may do anything: the shell is a process like any other, with a group of its own and a deadline that limits every
// wait, and its environment is bounded and read as untrusted bytes. No text of a recipe is part of the shell's program:
// kinds and names are its arguments.

// Parses the shell's output into `reported.set`, `reported.unset` and `reported.failed_step`. Entries end with a zero
// byte: variables before, a marker for each step that was begun, variables after. Variables that differ in every shell
// (PWD, OLDPWD, SHLVL, _) are omitted.
struct ActivationOutput {
  enum class End : std::uint8_t {
    kWhole,        // complete output
    kInStep,       // in step `reported.failed_step`
    kNoModules,    // the same: there is no function `module`
    kNoConda,      // the same: there is no function `conda`
    kOutsideStep,  // before the first step or after the last
  };
  End end = End::kOutsideStep;
  HostActivated reported;
};
ActivationOutput ParseActivationOutput(std::string_view bytes);

class HostActivation {
 public:
  // For the environment before and after together.
  static constexpr std::size_t kMaxOutputBytes = 8U << 20;

  using Done = std::function<void(HostActivated)>;

  // `done` is called once for each Begin; after Kill() with an error. `shell` is the path of a bash.
  HostActivation(boost::asio::io_context& io, Launcher& launcher, Done done, std::string shell = "/bin/bash");
  HostActivation(const HostActivation&) = delete;
  HostActivation& operator=(const HostActivation&) = delete;

  // Must be called at most once. The variables of `command` are valid; `log` is its log_path below the run directory.
  void Begin(const Activate& command, const FileBelow& log, const ResourceLimit& descriptors);
  bool begun() const { return begun_; }
  // Kills the shell and its group.
  void Kill();

  // For the shell, as in ChildSet.
  bool Owns(pid_t pid) const { return shell_.Owns(pid); }
  bool Ended(pid_t pid) { return shell_.Ended(pid); }
  bool empty() const { return shell_.empty(); }
  // Forgets the shell, to be killed by other means.
  void Abandon();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  tl::expected<void, SpawnError> Start(const Activate& command, const FileBelow& log, const ResourceLimit& descriptors);
  void OnExited(const ProcessExited& event);
  void Report(HostActivated reported);

  boost::asio::io_context& io_;
  Done done_;
  std::string program_;
  ChildSet shell_;
  Timer deadline_;
  UniqueFd output_;
  std::chrono::milliseconds within_{0};
  MonotonicNs began_at_ = 0;
  bool begun_ = false;
  bool late_ = false;
};

}  // namespace muster
