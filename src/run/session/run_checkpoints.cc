#include "run/session/run_checkpoints.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <sys/inotify.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "run/session/live_run.h"
#include "run/session/run_binding.h"

namespace muster {

namespace fs = std::filesystem;

void CheckpointWatch::Start(CheckpointPlace place, std::function<void(const Checkpoint&)> written) {
  place_ = std::move(place);
  written_ = std::move(written);
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify) return;
  changes_.assign(inotify.release());
  WatchFolders();
  // Read after the watch was added, so that no later change is missed.
  if (auto there = CompleteCheckpoints(place_)) before_.insert(there->begin(), there->end());
  Await();
}

void CheckpointWatch::Stop() {
  written_ = nullptr;
  boost::system::error_code ignored;
  changes_.close(ignored);
}

void CheckpointWatch::WatchFolders() {
  constexpr std::uint32_t kWrites = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR;
  const auto watch = [&](const fs::path& folder) {
    const int number = ::inotify_add_watch(changes_.native_handle(), folder.c_str(), kWrites);
    if (number >= 0) folders_[number] = folder;
    return number >= 0;
  };
  // Neither the listing nor the watch reports a folder that is created between the two: repeat until no folder is new.
  std::size_t known = 0;
  do {
    known = folders_.size();
    fs::path there = place_.dir.marked;
    while (!watch(there) && there.has_relative_path()) there = there.parent_path();
    if (there != place_.dir.marked) continue;
    for (const std::string& folder : CheckpointFolders(place_)) watch(folder);
  } while (folders_.size() != known);
}

void CheckpointWatch::Await() {
  changes_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                        if (error || alive.expired() || !written_) return;
                        ReadFileChanges(changes_.native_handle(), [this](const FileChange& change) {
                          const std::string path = folders_[change.watch] + "/" + std::string(change.name);
                          if ((change.mask & IN_MODIFY) != 0) open_.insert(path);
                          if ((change.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0) open_.erase(path);
                        });
                        WatchFolders();
                        Look();
                        if (written_) Await();
                      });
}

void CheckpointWatch::Look() {
  auto there = CompleteCheckpoints(place_, before_);
  if (!there) return;
  const auto whole = std::find_if(there->rbegin(), there->rend(), [this](const Checkpoint& checkpoint) {
    return std::none_of(open_.begin(), open_.end(), [&](const std::string& path) {
      return path == checkpoint.path || path.starts_with(checkpoint.path + "/");
    });
  });
  if (whole == there->rend()) return;
  const Checkpoint found = *whole;
  const auto written = std::exchange(written_, nullptr);
  Stop();
  if (written) written(found);
}

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

std::optional<Checkpoint> RunCheckpoints::Newest() const {
  if (place_) {
    if (const auto own = CompleteCheckpoints(*place_, earlier_)) return own->back();
  }
  if (run_.binding.checkpoint.empty()) return std::nullopt;
  return Checkpoint{run_.binding.checkpoint};
}

void RunCheckpoints::WatchIfAwaited() {
  if (!run_.supervisor.awaits_checkpoint()) return StopWatching();
  if (watch_ || !place_) return;
  run_.console.Warn("waiting for a checkpoint; another stop request ends the run without it");
  if (auto before = CompleteCheckpoints(*place_)) before_watch_.insert(before->begin(), before->end());
  watch_.emplace(run_.io);
  watch_->Start(*place_, [this](const Checkpoint& written) {
    seen_ = true;
    if (!run_.ended) run_.events.HandleEvent(CheckpointSeen{written.path, {}, CheckpointAgeMs(written.path)});
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
