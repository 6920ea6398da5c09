// What is said between an evaluator process and its parent: a request, the evaluator's questions, its answer; whatever
// kind of request it is. Waits for nothing: who asks waits at a descriptor until there is something to go on with.
//
// Knows frames and processes, not what requests and answers hold.
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
  // Answers the evaluator's questions while a request is on its way. A failure ends the evaluation.
  using Answer = std::function<Result<Reply>(const Question&)>;

  // `start`: how another one is started if this one is never born.
  Conversation(std::unique_ptr<EvaluatorProcess> evaluator, EvaluatorStart start);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Begins a request; the one before has been answered. Of the limits those of time count; they are this request's.
  // After the `last` one the evaluator ends.
  void Ask(std::string request, Answer answer, const EvaluationLimits& limits, bool last);

  // Becomes readable (poll(2)) when Continue() has something to do; the same for as long as this lives.
  int fd() const { return epoll_.get(); }
  // Waits for that, or for the time (monotonic), for who does nothing else.
  void Wait(std::uint64_t until_ns) const;
  // Monotonic (base/system/clock.h): when Continue() is to be called even if nothing is readable. It then says what the
  // limit is.
  std::uint64_t deadline_ns() const { return deadline_ns_; }

  // Goes on as far as it can without waiting. Nothing: it is not over. Else the bytes of the answer, or why there are
  // none; then there is no evaluator any more, and places are the evaluator's word.
  std::optional<Result<std::string>> Continue();

  // Why an answer whose bytes are none is none; ends the evaluator.
  Diagnostic Unreadable();

 private:
  enum class Waits : std::uint8_t { kNothing, kForRead, kForWrite, kForEnd };

  std::optional<Result<std::string>> Go();
  // Sends the request once there is somebody to send it to; false if there is nobody yet, or `failed` says why never.
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
  std::string request_;  // until it is sent
  bool sent_ = false;
  Answer answer_;
  EvaluationLimits limits_;
  bool last_ = false;
  std::uint64_t deadline_ns_ = 0;
  std::size_t questions_ = 0;
  Place last_reached_;  // of an evaluator that is no more
};

// Waits for the end of it. `on_wait` (may be empty) is called after each second.
Result<std::string> AwaitAnswer(Conversation& conversation, const std::function<void(unsigned seconds)>& on_wait);

}  // namespace muster
