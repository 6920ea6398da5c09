// The hosts of a call of muster: those of its command line, of the allocation that it is in, or of the site.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/recipe_options.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"

namespace muster {

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

}  // namespace muster
