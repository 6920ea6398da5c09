// The conversation between an evaluator process and its parent: a request of any kind, the evaluator's questions, its
// answer. Does not block: the caller waits on a descriptor until Continue() can make progress.
//
// Depends on frames and processes, not on the content of requests and answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/system/unique_fd.h"
#include "evaluation/exchange/evaluation.h"
#include "evaluator/evaluator_frames.h"
#include "evaluator/evaluator_process.h"
#include "evaluator/incoming_frames.h"
#include "evaluator/outgoing_frames.h"
#include "muster/result.h"

namespace muster {

class Conversation {
 public:
  // Answers the evaluator's questions during a request. An error ends the evaluation.
  using Answer = std::function<Result<Reply>(const Question&)>;

  // `start`: how to start another evaluator if the given one cannot be forked.
  Conversation(std::unique_ptr<EvaluatorProcess> evaluator, EvaluatorStart start);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Begins a request; the previous one must have been answered. Of `limits` only those of time are used, for this
  // request. After the `last` one the evaluator exits.
  void Ask(std::string request, Answer answer, const EvaluationLimits& limits, bool last);

  // Becomes readable (poll(2)) when Continue() can make progress; constant during the lifetime of this object.
  int fd() const { return epoll_.get(); }
  // Waits for fd() to become readable, or until that time (monotonic), for callers that do nothing else meanwhile.
  void Wait(std::uint64_t until_ns) const;
  // When Continue() must be called even if nothing is readable (monotonic, base/system/clock.h); it then fails with the
  // limit.
  std::uint64_t deadline_ns() const { return deadline_ns_; }

  // Makes progress without waiting. Nothing: not finished yet. Else the bytes of the answer, or an error; after an
  // error there is no evaluator any more, and the places in it are those that the evaluator claims, unchecked.
  std::optional<Result<std::string>> Continue();

  // The error for an answer that cannot be decoded; ends the evaluator.
  Diagnostic Unreadable();

 private:
  enum class Waits : std::uint8_t { kNothing, kForRead, kForWrite, kForEnd };

  std::optional<Result<std::string>> Go();
  // Sends the request once the evaluator exists; false if it does not yet, or if it cannot be started (`failed`).
  bool Begun(Diagnostics& failed);
  std::optional<Result<std::string>> TakeFrame(Frame frame);
  Diagnostic NoAnswer(ReadStatus read);
  void WaitFor(Waits waits);
  void EndEvaluator();

  std::unique_ptr<EvaluatorProcess> evaluator_;
  EvaluatorStart start_;
  UniqueFd epoll_;
  IncomingFrames incoming_;
  OutgoingFrames outgoing_;
  Waits waits_ = Waits::kNothing;
  std::string request_;  // until it has been sent
  bool sent_ = false;
  Answer answer_;
  EvaluationLimits limits_;
  bool last_ = false;
  std::uint64_t deadline_ns_ = 0;
  std::size_t questions_ = 0;
  Place last_reached_;  // by the last evaluator, after its end
};

// Waits for the answer. `on_wait` (may be empty) is called after each second.
Result<std::string> AwaitAnswer(Conversation& conversation, const std::function<void(unsigned seconds)>& on_wait);

}  // namespace muster
