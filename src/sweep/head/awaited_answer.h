// Waits in a loop for an answer of an evaluator.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <errno.h>
#include <fcntl.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "evaluator/evaluator_process.h"

namespace muster {

// Calls `done` once, from the loop, with the result. Destroying it cancels the wait.
template <class T>
class AwaitedAnswer {
 public:
  using Done = std::function<void(Result<T>)>;

  AwaitedAnswer(boost::asio::io_context& io, Pending<T> pending, Done done)
      : state_(std::make_shared<State>(io, std::move(pending), std::move(done))) {
    state_->Await();
  }
  AwaitedAnswer(const AwaitedAnswer&) = delete;
  AwaitedAnswer& operator=(const AwaitedAnswer&) = delete;
  ~AwaitedAnswer() { state_->End(); }

 private:
  struct State : std::enable_shared_from_this<State> {
    State(boost::asio::io_context& io, Pending<T> p, Done d)
        : pending(std::move(p)), done(std::move(d)), readable(io), deadline(io) {}

    void Await() {
      boost::system::error_code refused;
      // Duplicated, since the conversation owns the descriptor and may outlive this or end earlier.
      UniqueFd own(::fcntl(pending.fd(), F_DUPFD_CLOEXEC, 0));
      if (const int error = errno; !own) return Refuse(error);
      readable.assign(own.get(), refused);
      if (refused) return Refuse(refused.value());
      static_cast<void>(own.release());
      const std::uint64_t now = MonotonicNowNs();
      const std::uint64_t until = pending.deadline_ns();
      deadline.expires_after(std::chrono::nanoseconds(until > now ? until - now : 0));
      deadline.async_wait([self = this->shared_from_this()](const boost::system::error_code& error) {
        if (!error) self->Continue();
      });
      AwaitReadable();
    }
    void Refuse(int error) {
      boost::asio::post(deadline.get_executor(), [self = this->shared_from_this(), error] {
        const Done tell = std::exchange(self->done, nullptr);
        if (tell) tell(Fail(SystemError("evaluator", "an evaluator's answer cannot be waited for", error)));
      });
    }
    void AwaitReadable() {
      readable.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [self = this->shared_from_this()](const boost::system::error_code& error) {
                            if (!error) self->Continue();
                          });
    }
    void Continue() {
      if (!done) return;
      auto result = pending.Continue();
      if (!result) return AwaitReadable();
      const Done tell = std::exchange(done, nullptr);
      End();
      tell(*std::move(result));
    }
    void End() {
      done = nullptr;
      boost::system::error_code ignored;
      readable.close(ignored);
      deadline.cancel();
    }

    Pending<T> pending;
    Done done;
    boost::asio::posix::stream_descriptor readable;
    boost::asio::steady_timer deadline;
  };

  std::shared_ptr<State> state_;
};

}  // namespace muster
