// A descriptor that an event loop waits for, and the executor of such a loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

namespace muster {

using LoopExecutor = boost::asio::io_context::executor_type;
using WatchedFd = boost::asio::posix::basic_stream_descriptor<LoopExecutor>;

}  // namespace muster
