// The checkpoints that the processes of a run write: from which they continue when they are started, and when one that
// they were asked for is there. The head looks in the folder as this machine sees it.
#pragma once

#include <optional>
#include <set>

#include "run/directory/checkpoints.h"
#include "run/session/checkpoint_watch.h"

namespace muster {

class RunBinding;
struct LiveRun;

class RunCheckpoints {
 public:
  RunCheckpoints(LiveRun& run, RunBinding& bound) : run_(run), bound_(bound) {}

  // Before the run starts: what is there is not its own.
  void NoteEarlier();
  // What is started from now on continues from this run's newest one, if it has written any.
  void UseNewest();
  // Watches while the supervisor waits for one, and not longer.
  void WatchIfAwaited();
  void StopWatching();

 private:
  LiveRun& run_;
  RunBinding& bound_;
  std::optional<CheckpointPlace> place_;  // with its folder as a path
  std::set<Checkpoint> earlier_;
  std::optional<CheckpointWatch> watch_;
};

}  // namespace muster
