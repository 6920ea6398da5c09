// Activating a host: one shell does the steps of an activation, and what they changed in its environment is told.
//
// Knows bash, processes and the clock; knows no protocol frames and no policy. What is sourced is the user's own code
// and may do anything: it is a process like any other, with a group of its own and a deadline, nothing of it is waited
// for longer than that, and what it leaves in its environment is bounded and read as untrusted bytes. Nothing of a
// recipe is part of the shell's program: kinds and names are its arguments.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/processes/child_set.h"
#include "base/system/open_below.h"
#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"
#include "wire/protocol/activation_messages.h"

namespace muster {

// What the shell has told by its end, read into `told.set`, `told.unset` and `told.failed_step`. Entries end with a
// zero byte: variables as they were, a mark for each step that was begun, variables as they are. Variables in which
// every shell differs (PWD, OLDPWD, SHLVL, _) are left out.
struct ActivationOutput {
  enum class End : std::uint8_t {
    kWhole,        // all there is to tell
    kInStep,       // in step `told.failed_step`
    kNoModules,    // the same: there is no function `module`
    kNoConda,      // the same: there is no function `conda`
    kOutsideStep,  // before the first step or after the last
  };
  End end = End::kOutsideStep;
  HostActivated told;
};
ActivationOutput ParseActivationOutput(std::string_view bytes);

class HostActivation {
 public:
  // Environment before and after, together.
  static constexpr std::size_t kMostOutputBytes = 8U << 20;

  using Done = std::function<void(HostActivated)>;

  // `done` is called once for each Begin; after Kill() with an error. `shell` is the path of a bash.
  HostActivation(boost::asio::io_context& io, Launcher& launcher, Done done, std::string shell = "/bin/bash");
  HostActivation(const HostActivation&) = delete;
  HostActivation& operator=(const HostActivation&) = delete;

  // At most once. The variables of `command` are sound; `log` is its log_path below the run directory.
  void Begin(const Activate& command, const FileBelow& log, const ResourceLimit& descriptors);
  bool begun() const { return begun_; }
  // Ends the shell and its group.
  void Kill();

  // Of the shell, as in ChildSet.
  bool Owns(pid_t pid) const { return shell_.Owns(pid); }
  bool Ended(pid_t pid) { return shell_.Ended(pid); }
  bool empty() const { return shell_.empty(); }
  // Forgets the shell, to be ended by other means.
  void Abandon();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  tl::expected<void, SpawnError> Start(const Activate& command, const FileBelow& log, const ResourceLimit& descriptors);
  void OnExited(const ProcessExited& event);
  void Report(HostActivated told);

  boost::asio::io_context& io_;
  Done done_;
  std::string program_;
  ChildSet shell_;
  Timer deadline_;
  UniqueFd account_;
  std::chrono::milliseconds within_{0};
  MonotonicNs began_at_ = 0;
  bool begun_ = false;
  bool late_ = false;
};

}  // namespace muster
