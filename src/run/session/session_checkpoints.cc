// The part of a session that knows where its processes write checkpoints: what they go on from when they are started,
// and when one that they were asked for is there. The head looks in the folder as this machine sees it.
#include <fmt/format.h>

#include "base/values/diagnostic_text.h"
#include "run/directory/checkpoints.h"
#include "run/directory/json_text.h"
#include "run/session/session.h"

namespace muster {

void Session::NoteEarlierCheckpoints() {
  if (plan_.checkpoints.dir.marked.empty()) return;
  auto place = PlaceInRun(plan_.checkpoints, binding_.run_dir);
  if (!place) return console_.Warn(place.error());
  checkpoints_ = *std::move(place);
  if (auto earlier = CompleteCheckpoints(*checkpoints_)) earlier_checkpoints_.insert(earlier->begin(), earlier->end());
}

void Session::FindCheckpoint() {
  if (!checkpoints_) return;
  const auto own = CompleteCheckpoints(*checkpoints_, earlier_checkpoints_);
  if (!own || own->back().path == binding_.checkpoint) return;
  binding_.checkpoint = own->back().path;
  Record(CheckpointSeen{binding_.checkpoint, {}});
  const BoundBesides besides{request_.code ? request_.code->hash : std::string(), request_.resumed};
  const Result<void> written =
      ReplaceFile(directory_->folder(), "binding.json", JsonText(BindingValue(plan_, binding_, besides)) + "\n");
  if (!written) console_.Warn(Sentence(written.error()));
}

void Session::WatchCheckpoints() {
  if (!supervisor_.awaits_checkpoint()) {
    if (checkpoint_watch_) checkpoint_watch_->Stop();
    return;
  }
  if (checkpoint_watch_ || !checkpoints_) return;
  console_.Warn("waiting for a checkpoint; asked once more, the run ends without it");
  checkpoint_watch_.emplace(io_);
  checkpoint_watch_->Start(*checkpoints_, [this](const Checkpoint& written) {
    if (!ended_) Happened(CheckpointSeen{written.path, {}});
  });
}

}  // namespace muster
