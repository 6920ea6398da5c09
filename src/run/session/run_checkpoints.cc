#include "run/session/run_checkpoints.h"

#include <utility>

#include "run/session/live_run.h"
#include "run/session/run_binding.h"

namespace muster {

void RunCheckpoints::NoteEarlier() {
  if (run_.plan.checkpoints.dir.marked.empty()) return;
  auto place = PlaceInRun(run_.plan.checkpoints, run_.binding.run_dir);
  if (!place) return run_.console.Warn(place.error());
  place_ = *std::move(place);
  if (auto earlier = CompleteCheckpoints(*place_)) earlier_.insert(earlier->begin(), earlier->end());
}

void RunCheckpoints::UseNewest() {
  if (!place_) return;
  const auto own = CompleteCheckpoints(*place_, earlier_);
  if (own && own->back().path != run_.binding.checkpoint) bound_.SetCheckpoint(own->back().path);
}

void RunCheckpoints::WatchIfAwaited() {
  if (!run_.supervisor.awaits_checkpoint()) return StopWatching();
  if (watch_ || !place_) return;
  run_.console.Warn("waiting for a checkpoint; another stop request ends the run without it");
  if (auto before = CompleteCheckpoints(*place_)) before_watch_.insert(before->begin(), before->end());
  watch_.emplace(run_.io);
  watch_->Start(*place_, [this](const Checkpoint& written) {
    seen_ = true;
    if (!run_.ended) run_.events.HandleEvent(CheckpointSeen{written.path, {}});
  });
}

std::optional<std::string> RunCheckpoints::WrittenUnseen() const {
  if (!watch_ || seen_) return std::nullopt;
  const auto written = CompleteCheckpoints(*place_, before_watch_);
  return written ? std::optional(written->back().path) : std::nullopt;
}

void RunCheckpoints::StopWatching() {
  if (watch_) watch_->Stop();
}

}  // namespace muster
