#include "serve/site/head_call.h"

#include <chrono>
#include <memory>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <errno.h>
#include <fcntl.h>

#include "run/control/control_protocol.h"

namespace muster {
namespace {

using ErrorCode = boost::system::error_code;

constexpr std::chrono::seconds kPatience{10};

struct HeadCall : std::enable_shared_from_this<HeadCall> {
  HeadCall(boost::asio::io_context& io, ControlConnection connected, std::function<void(Result<ControlAnswer>)> then)
      : head(std::move(connected)), ready(io), patience(io), done(std::move(then)) {}

  void Begin() {
    ErrorCode error;
    const int copy = ::fcntl(head.fd(), F_DUPFD_CLOEXEC, 0);  // the connection closes its own
    if (copy < 0) return Fails(SystemError("control", "the head cannot be asked", errno));
    ready.assign(copy, error);
    patience.expires_after(kPatience);
    patience.async_wait([self = shared_from_this()](const ErrorCode& stopped) {
      if (!stopped) self->Fails(MachineError("control", "the head does not answer"));
    });
    Await();
  }

  void Await() {
    ready.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const ErrorCode& error) {
                       if (error || !self->done) return;
                       const bool open = self->head.Receive();
                       if (const auto line = self->head.TakeLine()) return self->Take(*line);
                       if (!open) return self->Fails(MachineError("control", "the head closed the connection"));
                       self->Await();
                     });
  }

  void Take(const std::string& line) {
    auto answer = ParseControlAnswer(line);
    if (!answer) return Fails(MachineError("control", answer.error()));
    if (!answer->error.empty()) return Fails(MachineError("control", answer->error));
    Finish(*std::move(answer));
  }
  void Fails(Diagnostic why) { Finish(Fail(std::move(why))); }
  void Finish(Result<ControlAnswer> result) {
    patience.cancel();
    ErrorCode ignored;
    ready.close(ignored);
    if (const auto then = std::exchange(done, nullptr)) then(std::move(result));
  }

  ControlConnection head;
  boost::asio::posix::stream_descriptor ready;
  boost::asio::steady_timer patience;
  std::function<void(Result<ControlAnswer>)> done;
};

}  // namespace

void CallHead(boost::asio::io_context& io, const std::string& dir, const ControlRequest& request,
              std::function<void(Result<ControlAnswer>)> done) {
  auto head = ControlConnection::Open(dir);
  if (head) {
    if (auto sent = head->Send(request); !sent) head = Fail(std::move(sent.error()));
  }
  if (!head) {
    boost::asio::post(io, [done = std::move(done), why = head.error()] { done(Fail(why)); });
    return;
  }
  std::make_shared<HeadCall>(io, *std::move(head), std::move(done))->Begin();
}

}  // namespace muster
