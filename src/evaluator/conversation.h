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

// A request whose answer is awaited.
template <class T>
class Pending {
 public:
  using Decode = std::function<Result<T>(Result<std::string> bytes)>;

  // `decode` makes of the answer's bytes, or of the failure, what was asked for.
  Pending(std::shared_ptr<Conversation> conversation, Decode decode)
      : conversation_(std::move(conversation)), decode_(std::move(decode)) {}

  // As in Conversation.
  int fd() const { return conversation_->fd(); }
  std::uint64_t deadline_ns() const { return conversation_->deadline_ns(); }
  // Not to be called again once there was a result.
  std::optional<Result<T>> Continue() {
    auto bytes = conversation_->Continue();
    if (!bytes) return std::nullopt;
    return decode_(*std::move(bytes));
  }
  // The same request, with something else made of its result; this one is not to be used any more.
  template <class U>
  Pending<U> Then(std::function<Result<U>(Result<T>)> next) && {
    return {std::move(conversation_), [decode = std::move(decode_), next = std::move(next)](Result<std::string> bytes) {
              return next(decode(std::move(bytes)));
            }};
  }
  Result<T> Await(const std::function<void(unsigned seconds)>& on_wait = {}) {
    return decode_(AwaitAnswer(*conversation_, on_wait));
  }

 private:
  std::shared_ptr<Conversation> conversation_;
  Decode decode_;
};

}  // namespace muster
