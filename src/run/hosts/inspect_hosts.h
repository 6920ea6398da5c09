// Inspects every host of a list through an agent, without a run.
//
// Depends on transports and one inspection request; decides nothing. A host that cannot be inspected is a result like
// any other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "muster/host_facts.h"
#include "muster/site.h"
#include "run/directory/run_files.h"
#include "transport/agent_heartbeats.h"
#include "transport/transport.h"
#include "wire/protocol/protocol.h"

namespace muster {

struct InspectedHost {
  std::string name;
  std::string why;      // why there are no facts; empty if there are
  std::string hint;     // hint for `why`
  std::string missing;  // which facts are unknown, and why; empty if all are known
  HostFacts facts;
  // The host's wall clock: `offset_ns` is to be added to the local clock to get the host's. Empty for this machine.
  std::optional<ClockEstimate> clock;
};

// The result for a host that was asked at `asked_at` and whose answer arrived at `now`, by the local wall clock. Values
// of variables are hidden as by `hidden`.
InspectedHost InspectedHostOf(const std::string& name, const Inspected& reported, std::uint64_t asked_at,
                              std::uint64_t now, const HiddenValues& hidden);

// Inspects all hosts at once, as far as the transport permits; returns when the last one has answered or failed, and
// its agent has exited. Values of variables are hidden as by `hidden`. In the order of `hosts`.
std::vector<InspectedHost> InspectHosts(Transport& transport, std::span<const SiteHost> hosts, const Inspect& question,
                                        const HiddenValues& hidden);

}  // namespace muster
