// A request to the head of a run or a sweep at its control socket, answered through the loop.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "run/control/control_protocol.h"

namespace muster {

// Sends the request to the head that holds the directory, and calls `done` once: with its answer, or kind "control" if
// there is none within ten seconds, or if it refuses. Never blocks.
void CallHead(boost::asio::io_context& io, const std::string& dir, const ControlRequest& request,
              std::function<void(Result<ControlAnswer>)> done);

}  // namespace muster
