// Queries git for the state of the code of a run, in parallel with its start. The end of the run waits for the answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "code/git.h"

namespace muster {

struct LiveRun;

class GitQuestion {
 public:
  explicit GitQuestion(LiveRun& run) : run_(run) {}

  // Queries the state of RunRequest::code_folder; does nothing if that is empty.
  void Ask();
  // Whether the answer is still missing; then `end` is called from the loop when it arrives.
  bool DelaysEnd(std::function<void()> end);
  bool end_waits() const { return end_ != nullptr; }
  // Stops the end from waiting.
  void GiveUp() { OnState(std::nullopt); }

 private:
  void OnState(const std::optional<GitState>& state);

  LiveRun& run_;
  std::unique_ptr<GitQuery> look_;
  std::function<void()> end_;
};

}  // namespace muster
