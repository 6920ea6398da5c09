#include "run/session/run_clock.h"

#include <chrono>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "base/system/clock.h"

namespace muster {
namespace {

class SystemClock final : public RunClock {
 public:
  explicit SystemClock(boost::asio::io_context& io) : timer_(io) {}

  MonotonicNs Monotonic() const override { return MonotonicNowNs(); }
  std::uint64_t Wall() const override { return WallNowNs(); }

  void SetAlarm(MonotonicNs deadline, std::function<void()> fire) override {
    const MonotonicNs now = Monotonic();
    timer_.expires_after(std::chrono::nanoseconds(deadline > now ? deadline - now : 0));
    timer_.async_wait([fire = std::move(fire), alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
      if (!error && !alive.expired()) fire();
    });
  }
  void ClearAlarm() override { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // a handler may still be queued
};

}  // namespace

std::unique_ptr<RunClock> SystemRunClock(boost::asio::io_context& io) { return std::make_unique<SystemClock>(io); }

}  // namespace muster
