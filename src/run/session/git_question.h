// The state in which git has the code of a run, asked beside its start. The end of the run waits for the answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "code/git_query.h"

namespace muster {

struct LiveRun;

class GitQuestion {
 public:
  explicit GitQuestion(LiveRun& run) : run_(run) {}

  // Of RunRequest::code_folder; not at all if that is empty.
  void Ask();
  // Whether the answer is due; then `end` is called from the loop when it is here.
  bool DelaysEnd(std::function<void()> end);
  bool end_waits() const { return end_ != nullptr; }
  // The end does not wait any longer.
  void GiveUp() { OnState(std::nullopt); }

 private:
  void OnState(const std::optional<GitState>& state);

  LiveRun& run_;
  std::unique_ptr<GitQuery> look_;
  std::function<void()> end_;
};

}  // namespace muster
