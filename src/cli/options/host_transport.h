// Chooses the transport: a local agent for this machine alone, the engine's start command for the hosts of an
// allocation, ssh for other hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "base/system/isolation.h"
#include "cli/options/recipe_options.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"
#include "transport/transport.h"
#include "wire/lease/lease.h"

namespace muster {

struct EngineJob;  // engine/ending_cause.h

// --agent PATH.
void AddAgentOption(CLI::App& app, std::string& agent);

// Whether no host is named, or this machine alone. With several hosts this machine is reached through ssh too.
bool IsHereAlone(const std::vector<SiteHost>& hosts);

// Whether a run on these hosts gets a local agent: this machine alone. Where an engine that was named (as in the
// scripts of submitted runs) says by a signal to what it started itself that a job is being preempted, it starts that
// agent, too.
bool RunsHere(const RecipeOptions& options, const std::vector<SiteHost>& hosts);

// The engine in whose allocation all these hosts are; nothing for other hosts, and if the run is here. Kind "usage":
// --on names the engine, and a host is not in the allocation; else those of EngineForHosts.
Result<std::optional<EngineChoice>> EngineOf(const RecipeOptions& options, const std::vector<SiteHost>& hosts);

// The engine's job that the hosts are part of, for a run's questions about its end; null outside of an allocation.
// `stop_seconds`: StopSeconds() of the plan.
std::shared_ptr<const EngineJob> EngineJobOf(const RecipeOptions& options, const std::vector<SiteHost>& hosts,
                                             std::uint32_t stop_seconds);

// What the plan's launchers cannot do in that allocation.
Diagnostics LauncherWarnings(const Plan& plan, const EngineJob& job);

// The user's environment for the processes on these hosts: in an allocation without what describes the head's own task.
std::vector<std::string> EnvironmentForHosts(const RecipeOptions& options, const std::vector<SiteHost>& hosts,
                                             std::vector<std::string> environment);

// What agents are started with.
struct AgentSettings {
  std::string program = {};                  // --agent; empty: not given
  std::uint64_t lease_ms = kDefaultLeaseMs;  // how long one may be silent
  Isolation isolation = Isolation::kNone;
  std::vector<std::string> faults = {};       // to inject
  std::vector<std::string> environment = {};  // the user's, "NAME=value"
};

// The transport to these hosts, spares included. Kinds of EngineOf.
Result<std::unique_ptr<Transport>> TransportTo(const RecipeOptions& options, const std::vector<SiteHost>& hosts,
                                               AgentSettings agents);

// The transport into the allocation of this engine, by its start command. `variables` of the allocation ("NAME=value")
// are set for it. Kinds of DialSettingsFor.
Result<std::unique_ptr<Transport>> TransportInto(EngineChoice engine, const Without& without, AgentSettings agents,
                                                 const std::vector<std::string>& variables = {});

}  // namespace muster
