// Where an attempt of a trial runs: hosts of the sweep, or an allocation of an engine that it gets for itself. The
// second is an interface: what asks the engine knows its page, which the head does not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "muster/site.h"
#include "transport/transport.h"

namespace muster {

struct EngineJob;  // engine/ending_cause.h

struct TrialPlace {
  std::vector<SiteHost> hosts;           // those of the plan, in order; none: this machine
  std::vector<SiteHost> spares = {};     // further ones that may replace lost hosts
  std::unique_ptr<Transport> transport;  // to these
  // Of an allocation: for questions about its end, and the environment of processes in it.
  std::shared_ptr<const EngineJob> engine = {};
  std::optional<std::vector<std::string>> environment = {};
};

// From the request to the engine until nothing of the allocation is left.
class TrialAllocation {
 public:
  // Called from the loop; not after the object was destroyed.
  struct Calls {
    std::function<void()> known;                    // job() is; it may still be queued. At most once
    std::function<void(TrialPlace place)> granted;  // at most once, after `known`
    // Once, the last call: nothing is left of it. `refused`: another request would end in the same way.
    std::function<void(const std::string& why, bool refused)> ended;
  };

  virtual ~TrialAllocation() = default;
  // "slurm job 12"; empty as long as the engine has not accepted the request.
  virtual const std::string& job() const = 0;
  // Its id alone.
  virtual const std::string& id() const = 0;
  // It is not needed, or not any more. May be called again; `ended` follows.
  virtual void Release() = 0;
};

// What asks the engine for allocations.
class TrialAllocator {
 public:
  virtual ~TrialAllocator() = default;
  // Requests hosts for an attempt; fails if the request cannot even begin.
  virtual Result<std::unique_ptr<TrialAllocation>> Request(boost::asio::io_context& io, std::uint32_t hosts,
                                                           TrialAllocation::Calls calls) = 0;
  // Takes back allocations that an earlier head has left, by their ids. Blocks for one command. Kind "engine".
  virtual Result<void> Cancel(const std::vector<std::string>& ids) = 0;
  // The most hosts and the devices of each that an allocation has; no number of hosts: as many as a trial needs.
  virtual std::optional<std::uint32_t> most_hosts() const = 0;
};

}  // namespace muster
