// How an agent comes to run on a host.
#pragma once

#include <cstdint>
#include <memory>

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
  // How long an agent may be silent.
  virtual std::uint64_t lease_ms() const { return kDefaultLeaseMs; }
  // Starts connecting to the host's agent. Fails only if that cannot even begin. What comes through the channel belongs
  // to what was asked through it.
  Result<std::unique_ptr<Channel>> Connect(boost::asio::io_context& io, const TransportHost& host);

 private:
  virtual Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) = 0;
};

}  // namespace muster
