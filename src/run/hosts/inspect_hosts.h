// Asking every host of a list what it is like, through its agent: a head without a run.
//
// Knows transports and one question; decides nothing. A host that cannot be asked is an answer like any other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "muster/host_facts.h"
#include "muster/site.h"
#include "run/directory/environment_record.h"
#include "run/directory/hidden_values.h"
#include "transport/channel.h"
#include "transport/clock_offset.h"
#include "transport/transport.h"
#include "wire/protocol/inspection_messages.h"

namespace muster {

struct InspectedHost {
  std::string name;
  std::string why;      // it has no facts, for this reason; empty: it has
  std::string hint;     // to that
  std::string missing;  // what of the facts is not known, and why; empty: all is
  HostFacts facts;
  // Its wall clock, as `offset_ns` to be added to ours for its; none for this machine, which has one.
  std::optional<ClockEstimate> clock;
};

// What a host answered to a question that went at `asked_at` and whose answer came at `now`, by our wall clock. The
// variables in it are as `hidden` shows them.
InspectedHost InspectedHostOf(const std::string& name, const Inspected& told, std::uint64_t asked_at, std::uint64_t now,
                              const HiddenValues& hidden);

// All at once, as far as the transport lets them; returns when the last one has answered or cannot, and its agent has
// ended. The variables that come back are as `hidden` shows them. In the order of `hosts`.
std::vector<InspectedHost> InspectHosts(Transport& transport, std::span<const SiteHost> hosts, const Inspect& question,
                                        const HiddenValues& hidden);

}  // namespace muster
