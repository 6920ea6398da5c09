// Runs one command to its end and keeps what it prints, up to a limit.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"

namespace muster {

struct CommandOutput {
  int exit_code = -1;  // -1: it could not be started, was killed, or took too long
  std::string out;
  std::string err;
  bool started = false;
  bool late = false;  // it was killed because it took too long
};

// A running command. Killed and reaped if it is destroyed before Take().
class CapturedCommand {
 public:
  static constexpr std::size_t kMostBytes = 64U << 20;  // of each output; a command that prints more gets SIGXFSZ

  // `spec` without stdin, stdout and stderr. It gets a process group of its own, since keyboard signals of the terminal
  // are for muster, and is killed with this thread. `input` is its stdin. Where it cannot be started, it is not
  // going().
  CapturedCommand(Launcher& launcher, SpawnSpec spec, std::string_view input = {});
  CapturedCommand(const CapturedCommand&) = delete;
  CapturedCommand& operator=(const CapturedCommand&) = delete;
  ~CapturedCommand();

  // The process is running.
  bool going() const { return pid_.has_value(); }
  const ChildRef& ref() const { return *pid_; }
  // Waits for the end, at most so long; then kills it.
  CommandOutput Take(std::chrono::milliseconds within);

 private:
  std::optional<ChildRef> pid_;
  UniqueFd pidfd_;
  UniqueFd out_;
  UniqueFd err_;
};

}  // namespace muster
