// The interface of a transport: it starts an agent on a host and returns the channel to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "transport/channel.h"
#include "transport/unchecked_channel.h"
#include "wire/lease/lease.h"

namespace muster {

class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;
  // How long an agent may be silent, in ms.
  virtual std::uint64_t lease_ms() const { return kDefaultLeaseMs; }
  // The latest output on stderr of the commands that started agents for many hosts at a time, as far as they write it
  // within that time, which this blocks for if they run; untrusted.
  virtual std::string StartWords(std::chrono::milliseconds within) const {
    static_cast<void>(within);
    return {};
  }
  // Starts the agents of all hosts connected so far at once. Without this call, a transport whose command starts many
  // agents runs it in the next turn of the loop.
  virtual void StartAgents() {}
  // Starts connecting to the host's agent. Fails only if the attempt cannot even begin. The channel delivers only
  // messages that match its commands.
  Result<std::unique_ptr<Channel>> Connect(boost::asio::io_context& io, const TransportHost& host);

 private:
  virtual Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) = 0;
};

}  // namespace muster
