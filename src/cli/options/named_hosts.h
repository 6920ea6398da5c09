// The hosts of a call of muster: those of its command line, of the allocation that it is in, or of the site; the
// record of those that failed recently; and the transport that reaches them: a local agent for this machine alone,
// the engine's start command for the hosts of an allocation, ssh for other hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>

#include "base/system/mechanism.h"
#include "cli/options/recipe_options.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"
#include "run/hosts/host_history.h"
#include "transport/transport.h"
#include "wire/connection/lease.h"

namespace muster {

// The hosts of a call of muster: those of its command line, of the allocation that it is in, or of the site.

// The engine whose allocation gives the hosts: chosen by --on or --engine, or the one that this process is in, if
// neither the command line nor the site says where to run. Nothing: there is none. Kind "usage": --on names an engine,
// and this process is in no allocation of it; else those of ChosenEngine.
Result<std::optional<EngineChoice>> EngineForHosts(const RecipeOptions& options);

// What the hosts of the engine are called in messages ("slurm job 12"), or those that it is to allocate; nothing if the
// hosts are not an engine's. Kinds of EngineForHosts.
Result<std::optional<std::string>> HostsFromEngine(const RecipeOptions& options);

// Whether the command line names hosts.
bool NamesHosts(const RecipeOptions& options);
// Refuses --exclude and --spares if the command line names no hosts, so that the hosts of `whose` ("the plan") are
// fixed. Kind "usage".
Result<void> CheckListIsNamed(const RecipeOptions& options, const std::string& whose);
// The hosts of the command line, else those of the allocation, else those of the site, in order, without spares; none
// if neither names any. Kinds "hosts", "usage" and those of GetSite.
Result<std::vector<SiteHost>> NamedHosts(const RecipeOptions& options);
// Whether all hosts of the plan are named, and among these.
bool AreAmong(const Plan& plan, const std::vector<SiteHost>& hosts);
// The spare hosts: the last ones of the list; without --spares those of an allocation that the plan leaves. Each has a
// number of devices, by default that of the plan. Fails if one could replace no host of the plan.
Result<std::vector<SiteHost>> SpareHosts(const RecipeOptions& options, const Plan& plan);

// The record of hosts that failed recently (run/hosts/bad_hosts.h), with the user's file and the clock.

// A line for each host with recent failures.
std::vector<std::string> RememberedHosts(const std::vector<std::string>& hosts,
                                         const std::vector<std::string>& environment);

// Pairs of host and reason. If no host of the run (of so many) did better, nothing is recorded: the cause is probably
// something else.
void RememberHosts(const std::vector<std::pair<std::string, std::string>>& bad, std::size_t hosts,
                   const std::vector<std::string>& environment);

// Adds the hosts of a run that has ended to the user's history of hosts (run/hosts/host_history.h).
void RememberUsedHosts(const std::vector<HostUse>& used, const std::vector<std::string>& environment);

// Chooses the transport: a local agent for this machine alone, the engine's start command for the hosts of an
// allocation, ssh for other hosts.

struct EngineJob;  // engine/engine_calls.h

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
