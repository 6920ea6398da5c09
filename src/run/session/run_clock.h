// The clock of a session, with one alarm. Independent of runs; an interface, so that tests can set the
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "muster/event.h"

namespace muster {

class RunClock {
 public:
  virtual ~RunClock() = default;
  // CLOCK_MONOTONIC: for order, deadlines and durations.
  virtual MonotonicNs Monotonic() const = 0;
  // CLOCK_REALTIME, nanoseconds since 1970: only for display, never for decisions.
  virtual std::uint64_t Wall() const = 0;
  // Calls `fire` once, from the loop, at `deadline` or as soon after it as the loop can. Replaces an earlier
  // alarm.
  virtual void SetAlarm(MonotonicNs deadline, std::function<void()> fire) = 0;
  virtual void ClearAlarm() = 0;
};

// The system's clock, with the alarm on `io`, which must outlive it.
std::unique_ptr<RunClock> SystemRunClock(boost::asio::io_context& io);

}  // namespace muster
