// Allocations of an engine for single trials of a sweep (sweep/head/trial_place.h), from outside of any allocation: by
// the command of its page that holds one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/without.h"
#include "cli/options/host_transport.h"
#include "engine/engine_page.h"
#include "engine/engine_settings.h"
#include "sweep/head/trial_place.h"

namespace muster {

class EngineAllocator final : public TrialAllocator {
 public:
  // `name` is that of the jobs; `agents` has the environment of the processes, too.
  EngineAllocator(EnginePage page, EngineSettings settings, std::string name, const Without& without,
                  AgentSettings agents);

  Result<std::unique_ptr<TrialAllocation>> Request(boost::asio::io_context& io, std::uint32_t hosts,
                                                   TrialAllocation::Calls calls) override;
  Result<void> Cancel(const std::vector<std::string>& ids) override;
  std::optional<std::uint32_t> most_hosts() const override { return NodesOf(settings_); }

 private:
  const EnginePage page_;
  const EngineSettings settings_;
  const std::string name_;
  const Without without_;
  const AgentSettings agents_;
};

}  // namespace muster
