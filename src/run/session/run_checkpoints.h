// Tracks the checkpoints that the processes of a run write: from which one processes continue when they are started,
// and when a requested one is complete. The head looks at the folder on its own machine.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "run/directory/checkpoints.h"
#include "run/session/checkpoint_watch.h"

namespace muster {

class RunBinding;
struct LiveRun;

class RunCheckpoints {
 public:
  RunCheckpoints(LiveRun& run, RunBinding& bound) : run_(run), bound_(bound) {}

  // Called before the run starts: existing checkpoints are not from this run.
  void NoteEarlier();
  // Processes that are started from now on continue from this run's newest checkpoint, if there is one.
  void UseNewest();
  // Watches for a new one only while the supervisor waits for it.
  void WatchIfAwaited();
  void StopWatching();
  // At the end: a checkpoint that was awaited and that the kernel did not report, as of files that other hosts write.
  std::optional<std::string> WrittenUnseen() const;

 private:
  LiveRun& run_;
  RunBinding& bound_;
  std::optional<CheckpointPlace> place_;  // with its folder as a path
  std::set<Checkpoint> earlier_;
  std::optional<CheckpointWatch> watch_;
  std::set<Checkpoint> before_watch_;
  bool seen_ = false;  // by the watch
};

}  // namespace muster
