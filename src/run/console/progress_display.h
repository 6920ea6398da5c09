// Decides when rows about progress are shown below other output.
//
// Depends on an Output, time and job control; the owner provides the rows. Without a terminal, or if it is not wanted,
// it has no timer and catches no signal.
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
  // `out` must outlive it and be a terminal if `wanted` is set.
  ProgressDisplay(boost::asio::io_context& io, Output& out, bool wanted);

  // At most `most` rows, each narrower than `columns`.
  using Rows = std::function<std::vector<std::string>(std::size_t columns, std::size_t most)>;

  // Calls `rows` from the loop from now on.
  void Begin(Rows rows);
  // Must be called after events, to update the rows.
  void Changed();
  // Hides the rows until Release().
  void Hold();
  void Release();
  // Hides the rows for good.
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
