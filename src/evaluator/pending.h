// A request to an evaluator that has not been answered yet, and the conversion of its answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "evaluator/conversation.h"
#include "muster/result.h"

namespace muster {

template <class T>
class Pending {
 public:
  using Decode = std::function<Result<T>(Result<std::string> bytes)>;

  // `decode` converts the answer's bytes, or the error, to the result.
  Pending(std::shared_ptr<Conversation> conversation, Decode decode)
      : conversation_(std::move(conversation)), decode_(std::move(decode)) {}

  // As in Conversation.
  int fd() const { return conversation_->fd(); }
  std::uint64_t deadline_ns() const { return conversation_->deadline_ns(); }
  // Must not be called again after it has returned a result.
  std::optional<Result<T>> Continue() {
    auto bytes = conversation_->Continue();
    if (!bytes) return std::nullopt;
    return decode_(*std::move(bytes));
  }
  // The same request with its result converted further; this object must not be used any more.
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
