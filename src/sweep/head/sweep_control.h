// The control socket of a sweep: like that of a run (run/control/control_server.h, docs/control.md), with trials
// instead of processes. A sweep has no processes of its own to dump or to list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "run/control/control_server.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/scheduler/sweep_steering.h"

namespace muster {

struct SweepControlCalls {
  const SweepProgress& account;  // outlives the server
  std::function<std::size_t()> running;
  std::function<std::string()> waits;  // which devices it waits for and who holds them; empty if no trial waits
  std::function<bool()> stopping;
  std::function<std::uint64_t()> records;
  std::function<std::uint32_t()> stops;
  std::function<bool(bool now)> stop;
  // Opens the control socket of a running trial; false if it is not running.
  std::function<bool(TrialNumber trial)> open;
  // Changes the limits of the sweep, and returns those now. The error is a sentence.
  std::function<tl::expected<SweepLimits, std::string>(const SteeringRequest& request)> steer;
};

// As ControlServer::Listen.
Result<std::unique_ptr<ControlServer>> ListenForSweep(boost::asio::io_context& io, int folder, SweepControlCalls calls);

}  // namespace muster
