// Session: what it takes to start a process. The order is made a start, which is sent to the process's host as soon as
// the window of starts has room for it.
#include <cerrno>
#include <utility>

#include "base/system/fault.h"
#include "base/values/diagnostic_text.h"
#include "run/session/session.h"

namespace muster {

void Session::Start(const StartOrdered& order) {
  const std::uint32_t host = supervisor_.slots().machine(plan_.processes[order.process].host);
  roll_.Ordered(order.process, host);
  start_window_.Ordered(order, host);
}

void Session::SendStarts() {
  if (ended_) return;
  for (const StartWindow::Start& start : start_window_.Take(clock_->Monotonic())) SendStart(start);
  const MonotonicNs now = clock_->Monotonic();
  if (start_window_.NextAt(now) != now || std::exchange(starts_due_, true)) return;
  Later([this] {  // after what has arrived meanwhile
    starts_due_ = false;
    SendStarts();
  });
}

void Session::SendAllStarts() {
  for (const StartWindow::Start& start : start_window_.TakeAll()) SendStart(start);
}

void Session::OnStartAnswered(std::uint32_t host) {
  start_window_.Answered(host, clock_->Monotonic());
  SendStarts();
}

void Session::SendStart(const StartWindow::Start& to_send) {
  const auto& [order, host] = to_send;
  Result<StartProcess> start = FailsHere(Fault::kHeadBeforeStart)
                                   ? Fail(SystemError("spawn", "the start cannot be made: a fault hook", EIO))
                                   : starts_.Of(order.process, order.attempt);
  if (start && request_.pty == order.process) start->pty = terminal_->Size();
  if (start && !agents_[host].over) return Send(host, std::move(*start));
  start_window_.Answered(host, clock_->Monotonic());
  if (start) return;
  Later([this, order = order, why = Sentence(start.error())] {
    if (!ended_) Happened(SpawnFailed{order.process, order.attempt, "binding", EINVAL, why, clock_->Monotonic()});
  });
}

}  // namespace muster
