// When rows that tell how far something is are shown below other text, and when not.
//
// Knows an Output, time and job control; what the rows say is asked for. Where there is no terminal, or it is not
// wanted, it has no timer and catches no signal.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "run/loop/output.h"

namespace muster {

class ProgressDisplay {
 public:
  // `out` must outlive it and be a terminal if it is `wanted`.
  ProgressDisplay(boost::asio::io_context& io, Output& out, bool wanted);

  // At most `most` rows, each narrower than `columns`.
  using Rows = std::function<std::vector<std::string>(std::size_t columns, std::size_t most)>;

  // `rows` is asked from now on, from the loop.
  void Begin(Rows rows);
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
  Rows rows_;
  boost::asio::steady_timer timer_;
  bool armed_ = false;
  Clock::time_point drawn_;
  boost::asio::signal_set continued_;
};

}  // namespace muster
