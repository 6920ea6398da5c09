#include "cli/options/named_hosts.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include "cli/command/small_file.h"
#include "cli/lookup/current_site.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

Result<std::vector<SiteHost>> SiteHosts() {
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  return HostsOfSite(site->facts);
}

// The hosts of the allocation, or those of them that the command line names, which have the allocation's numbers of
// devices and tasks if the command line gives none.
Result<std::vector<SiteHost>> AllocatedHosts(const EngineChoice& engine, std::optional<std::vector<SiteHost>> named) {
  std::vector<SiteHost> all = HostsOf(*engine.allocation);
  if (!named) return all;
  for (SiteHost& host : *named) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const SiteHost& one) {
      return strcasecmp(one.name.c_str(), host.name.c_str()) == 0;
    });
    if (found == all.end()) {
      return Fail(Error("hosts", {}, host.name + " is not in the allocation of " + AllocationText(engine),
                        "its hosts are " + HostListText(all)));
    }
    if (host.devices) {
      host.name = found->name;
    } else {
      host = *found;
    }
  }
  return *std::move(named);
}

// All of them, including spares.
Result<std::vector<SiteHost>> GivenHosts(const RecipeOptions& options) {
  if (!options.requested_hosts.empty()) return options.requested_hosts;
  Result<std::vector<SiteHost>> hosts;
  bool given = !options.hostfile.empty() || !options.hosts.empty();
  const auto engine = EngineForHosts(options);
  if (!engine) return Fail(engine.error());
  if (!options.hostfile.empty()) {
    auto text = ReadSmallFile(options.hostfile);
    if (!text) return Fail(Error("hosts", {}, "--hostfile: " + text.error()));
    hosts = ParseHostFile(*text, options.hostfile);
  } else if (!options.hosts.empty()) {
    hosts = ParseHostList(fmt::format("{}", fmt::join(options.hosts, ",")), "--host");
  } else if (*engine) {
    given = true;
    hosts = AllocatedHosts(**engine, std::nullopt);
  } else if (auto of_site = options.believed || options.engine.on == "local" ? std::vector<SiteHost>() : SiteHosts();
             !of_site || !of_site->empty()) {
    hosts = std::move(of_site);
    given = hosts.has_value();
  } else if (!options.exclude.empty()) {
    return Fail(Error("usage", {}, "--exclude without --host or --hostfile", "it excludes hosts of a list"));
  } else if (options.spares > 0) {
    return Fail(Error("usage", {}, "--spares without --host or --hostfile",
                      "it keeps the last hosts of a list: --host n[01-18]:8 --spares 2"));
  }
  if (hosts && *engine && NamesHosts(options)) hosts = AllocatedHosts(**engine, *std::move(hosts));
  if (hosts && !options.exclude.empty()) {
    const auto excluded = ParseHostList(fmt::format("{}", fmt::join(options.exclude, ",")), "--exclude");
    if (!excluded) return Fail(excluded.error());
    hosts = WithoutHosts(*std::move(hosts), *excluded);
  }
  if (hosts && given && options.spares >= hosts->size()) {
    return Fail(Error(
        "hosts", {},
        fmt::format("--spares {}, and {}: {}", options.spares,
                    hosts->size() == 1 ? "only 1 host is named" : fmt::format("only {} hosts are named", hosts->size()),
                    HostListText(*hosts)),
        "name the hosts that the job uses first, and the spares after them"));
  }
  return hosts;
}

}  // namespace

bool NamesHosts(const RecipeOptions& options) { return !options.hosts.empty() || !options.hostfile.empty(); }

Result<std::optional<EngineChoice>> EngineForHosts(const RecipeOptions& options) {
  if (options.engine.on == "local" && NamesHosts(options)) {
    return Fail(Error("usage", {}, "--on local and --host or --hostfile are given", "give one of them"));
  }
  const bool chosen = !options.engine.on.empty() || !options.engine.page.empty();
  if (options.believed || (!chosen && NamesHosts(options))) return std::nullopt;
  if (!chosen) {
    // A site that says where its jobs run is believed.
    const auto site = GetSite();
    if (!site) return Fail(site.error());
    const SiteFacts& facts = site->facts;
    if (!facts.hosts.empty() || !facts.hostfile.empty() || facts.transport == SiteTransport::kLocal)
      return std::nullopt;
  }
  auto engine = ChosenEngine(options.engine);
  if (!engine || !*engine || (*engine)->allocation) return engine;
  const EnginePage& page = (*engine)->page;
  if (page.manifest) {
    return Fail(Error("usage", {},
                      fmt::format("--on {} makes pods for runs, and is for run, rehearse and plan", page.name),
                      "other commands know the pods of a run by its folder"));
  }
  return Fail(Error(
      "usage", {},
      fmt::format("--on {}: this is not inside an allocation of {} ({} is not set)", page.name, page.name, page.inside),
      fmt::format("muster plan RECIPE --on {} prints a batch script that makes one", page.name)));
}

Result<std::optional<std::string>> HostsFromEngine(const RecipeOptions& options) {
  if (!options.requested_hosts.empty()) return options.requested_by;
  const auto engine = EngineForHosts(options);
  if (!engine) return Fail(engine.error());
  if (!*engine) return std::nullopt;
  return AllocationText(**engine);
}

Result<void> CheckListIsNamed(const RecipeOptions& options, const std::string& whose) {
  const auto engine = EngineForHosts(options);
  if (!engine) return Fail(engine.error());
  if (*engine || NamesHosts(options) || (options.exclude.empty() && options.spares == 0)) return {};
  return Fail(Error("usage", {},
                    fmt::format("{} without --host or --hostfile: the hosts are those of {}",
                                options.exclude.empty() ? "--spares" : "--exclude", whose),
                    options.exclude.empty() ? "it keeps the last hosts of a list: --host n[01-18]:8 --spares 2"
                                            : "it excludes hosts of a list: --host n[01-16]:8 --exclude n03"));
}

bool AreAmong(const Plan& plan, const std::vector<SiteHost>& hosts) {
  return std::all_of(plan.hosts.begin(), plan.hosts.end(), [&](const PlanHost& host) {
    return std::any_of(hosts.begin(), hosts.end(),
                       [&](const SiteHost& one) { return strcasecmp(one.name.c_str(), host.name.c_str()) == 0; });
  });
}

Result<std::vector<SiteHost>> NamedHosts(const RecipeOptions& options) {
  auto hosts = GivenHosts(options);
  if (hosts) hosts->resize(hosts->size() - options.spares);
  return hosts;
}

namespace {

// The hosts of an allocation that the plan does not use and that could replace one that it does: they are paid for.
Result<std::vector<SiteHost>> UnusedHosts(const RecipeOptions& options, const Plan& plan) {
  const auto engine = EngineForHosts(options);
  if (!engine) return Fail(engine.error());
  if (!*engine || NamesHosts(options) || plan.hosts.empty()) return std::vector<SiteHost>();
  auto hosts = GivenHosts(options);
  if (!hosts || !AreAmong(plan, *hosts)) return hosts ? std::vector<SiteHost>() : hosts;
  std::uint32_t least = plan.hosts.front().devices;
  std::set<std::string> used;
  for (const PlanHost& host : plan.hosts) {
    least = std::min(least, host.devices);
    used.insert(host.name);
  }
  std::erase_if(*hosts,
                [&](const SiteHost& host) { return used.contains(host.name) || host.devices.value_or(least) < least; });
  for (SiteHost& host : *hosts) host.devices = host.devices.value_or(least);
  return hosts;
}

}  // namespace

Result<std::vector<SiteHost>> SpareHosts(const RecipeOptions& options, const Plan& plan) {
  if (options.spares == 0) return UnusedHosts(options, plan);
  auto hosts = GivenHosts(options);
  if (!hosts) return hosts;
  const auto spares = hosts->end() - options.spares;
  std::uint32_t least = 0;
  std::optional<std::uint32_t> usual;  // the number of devices in the plan, for hosts without a number
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    const std::uint32_t devices = plan.hosts[i].devices;
    least = i == 0 ? devices : std::min(least, devices);
    if (!usual && !(*hosts)[i].devices) usual = devices;
  }
  for (auto spare = spares; spare != hosts->end(); ++spare) {
    if (!spare->devices && !usual && least > 0) {
      return Fail(Error("hosts", {},
                        fmt::format("how many devices has {}? It is a spare without a number, and all other hosts have "
                                    "one of their own",
                                    spare->name),
                        fmt::format("{}:{}", spare->name, least)));
    }
    if (!spare->devices) spare->devices = usual.value_or(0);
    if (*spare->devices < least) {
      return Fail(
          Error("hosts", {},
                fmt::format("{} is a spare with {} device{}, and every host of the plan has {} or more: it could "
                            "take no place",
                            spare->name, *spare->devices, *spare->devices == 1 ? "" : "s", least),
                "leave it out, or name it before those that can"));
    }
  }
  return std::vector<SiteHost>(spares, hosts->end());
}

}  // namespace muster
