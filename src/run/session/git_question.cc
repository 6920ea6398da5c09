#include "run/session/git_question.h"

#include <utility>

#include "run/session/live_run.h"

namespace muster {

void GitQuestion::Ask() {
  if (run_.request.code_folder.empty()) return;
  look_ = std::make_unique<GitQuery>(run_.io, run_.request.code_folder, run_.request.environment,
                                     [this](const std::optional<GitState>& state) { OnState(state); });
}

bool GitQuestion::DelaysEnd(std::function<void()> end) {
  if (!look_) return false;
  end_ = std::move(end);  // not for long: the query was started at the beginning
  return true;
}

void GitQuestion::OnState(const std::optional<GitState>& state) {
  if (state) {
    run_.journal.Record(CodeSeen{run_.request.code_folder, state->commit, state->branch, state->changed,
                                 state->untracked, state->names});
  }
  // Later, because the query itself calls this function.
  run_.Later([this] {
    look_.reset();
    if (const auto end = std::exchange(end_, nullptr)) end();
  });
}

}  // namespace muster
