// When the rows of a run's progress are shown below other text, and when not.
//
// Knows an Output, time and job control; what the rows say is asked for. Where there is no terminal, or it is not
// wanted, it has no timer and catches no signal.
#pragma once

#include <chrono>
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "run/output.h"
#include "run/progress.h"

namespace muster {

class ProgressDisplay {
 public:
  // `out` must outlive it and be a terminal if it is `wanted`.
  ProgressDisplay(boost::asio::io_context& io, Output& out, bool wanted);

  // `progress` is asked from now on, from the loop.
  void Begin(std::function<Progress()> progress);
  // Something has happened.
  void Changed();
  // The rows go, and come again with Release().
  void Hold();
  void Release();
  // The rows go, and do not come again.
  void End();

 private:
  using Clock = std::chrono::steady_clock;

  void DrawAt(Clock::time_point when);
  void Draw();
  void AwaitContinued();

  Output& out_;
  bool wanted_;
  bool held_ = false;
  std::function<Progress()> progress_;
  boost::asio::steady_timer timer_;
  bool armed_ = false;
  Clock::time_point drawn_;
  boost::asio::signal_set continued_;
};

}  // namespace muster
