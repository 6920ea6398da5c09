// The head's end of a connection that an agent has made by dialling back, from the wait for it to its end.
//
// Depends on the dial server; what is the same for every connection is RemoteAgent's. The last word is the
// guard's, once nothing is left there: then AgentLost comes at once. A connection that ends without it says nothing
// about the host, whose lease must expire first. AgentEmpty comes when the connection has ended, which the guard closes
// last.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "transport/channel.h"
#include "transport/dial_server.h"
#include "transport/remote_agent.h"

namespace muster {

class DialChannel final : public RemoteChannel {
 public:
  // An agent that has not sent its greeting this long after it connected is given up.
  static constexpr std::chrono::seconds kGreetingPatience{30};
  // An agent that has attested that nothing is left, and has not exited this long afterwards, is not waited for.
  static constexpr std::chrono::seconds kExitPatience{10};

  // The server must not know the host's name yet.
  DialChannel(boost::asio::io_context& io, std::shared_ptr<DialServer> server, const TransportHost& host,
              std::uint64_t lease_ms);

 private:
  class Connection;
};

}  // namespace muster
