#include "cli/options/named_hosts.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include "base/system/clock.h"
#include "base/system/host_name.h"
#include "base/values/text_parts.h"
#include "cli/command/small_file.h"
#include "cli/lookup/current_site.h"
#include "cli/options/engine_choice.h"
#include "engine/engine_calls.h"
#include "plan/environment/inherited_environment.h"
#include "plan/hosts/host_list.h"
#include "pods/pod_transport.h"
#include "run/hosts/bad_hosts.h"
#include "run/hosts/host_history.h"
#include "transport/dial_transport.h"
#include "transport/local_transport.h"
#include "transport/ssh_transport.h"

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
      return Fail(Error("hosts", {},
                        fmt::format("{} is a spare with {}, and every host of the plan has {} or more: it could "
                                    "take no place",
                                    spare->name, Counted(*spare->devices, "device"), least),
                        "leave it out, or name it before those that can"));
    }
  }
  return std::vector<SiteHost>(spares, hosts->end());
}

namespace {

std::uint64_t NowSeconds() { return WallNowNs() / 1'000'000'000; }

}  // namespace

std::vector<std::string> RememberedHosts(const std::vector<std::string>& hosts,
                                         const std::vector<std::string>& environment) {
  const std::string file = BadHostsFile(environment);
  if (file.empty()) return {};
  return BadHostLines(ReadBadHosts(file), hosts, NowSeconds());
}

void RememberHosts(const std::vector<std::pair<std::string, std::string>>& bad, std::size_t hosts,
                   const std::vector<std::string>& environment) {
  const std::string file = BadHostsFile(environment);
  if (file.empty() || (hosts > 1 && bad.size() >= hosts)) return;
  std::vector<HostFailure> failures;
  for (const auto& [host, why] : bad) failures.push_back({NowSeconds(), host, why});
  static_cast<void>(RememberBadHosts(file, failures));  // best effort; nothing depends on it
}

void RememberUsedHosts(const std::vector<HostUse>& used, const std::vector<std::string>& environment) {
  const std::string file = HostHistoryFile(environment);
  if (!file.empty())
    static_cast<void>(RememberHostUse(file, used, NowSeconds()));  // best effort; nothing depends on it
}

namespace {

// How agents on the hosts of an allocation are started: what the dial-back transport needs from an engine's page.

std::string ValueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& variable : environment) {
    if (variable.starts_with(name) && variable.size() > name.size() && variable[name.size()] == '=') {
      return variable.substr(name.size() + 1);
    }
  }
  return {};
}

// The variables of the caller that the engine's command must not see, as removals.
std::vector<std::string> Removals(const std::vector<std::string>& environment, const std::vector<std::string>& clear) {
  const std::vector<std::string> kept = WithoutVariables(environment, clear);
  std::vector<std::string> removed;
  std::size_t at = 0;
  for (const std::string& variable : environment) {
    if (at < kept.size() && kept[at] == variable) {
      ++at;
    } else {
      removed.push_back(variable.substr(0, variable.find('=')));
    }
  }
  return removed;
}

// `agent` is the value of --agent, empty if not given; `words` are for each agent besides --dial; `environment` is the
// user's, "NAME=value". Kind "engine": neither XDG_STATE_HOME nor HOME says where the dial file goes.
Result<DialSettings> DialSettingsFor(EngineChoice engine, const std::string& agent, std::vector<std::string> words,
                                     const std::vector<std::string>& environment) {
  DialSettings settings;
  settings.agent = agent;
  settings.node_variable = engine.page.node_name;
  // The home folder, which nodes of a cluster share; not XDG_RUNTIME_DIR, which is each machine's own.
  const std::string state = ValueOf(environment, "XDG_STATE_HOME");
  const std::string home = ValueOf(environment, "HOME");
  if (!state.starts_with('/') && !home.starts_with('/')) {
    return Fail(MachineError("engine", "neither XDG_STATE_HOME nor HOME is set: agents need a file there",
                             "a folder that all nodes see: XDG_STATE_HOME=/shared/folder"));
  }
  settings.folder = (state.starts_with('/') ? state : home + "/.local/state") + "/muster/dial";
  // What can be wrong with the command does not depend on which hosts it is for.
  const std::vector<std::string> first = {engine.allocation->hosts.front().name};
  if (auto call = StartCall(engine.page, *engine.allocation, first, {"muster-agent", "dial", words}); !call) {
    return Fail(std::move(call.error()));
  }
  std::vector<std::string> removals = Removals(environment, engine.page.clear);
  for (std::string& name : HostVariablesOfCaller(environment)) removals.push_back(std::move(name));
  const auto shared = std::make_shared<const EngineChoice>(std::move(engine));
  if (auto question = QuestionAboutPause(shared->page, shared->allocation->job)) {
    settings.paused = PauseQuestion{{question->call.words, Removals(environment, question->call.clear)},
                                    [shared, phrase = question->phrase](const CommandOutput& output) {
                                      return phrase({output.out, output.err, output.exit_code});
                                    }};
  }
  settings.start = [engine = shared, words = std::move(words),
                    removals = std::move(removals)](const AgentsToStart& agents) {
    auto call = StartCall(engine->page, *engine->allocation, agents.nodes, {agents.agent, agents.dial_file, words});
    assert(call);
    return AgentStart{std::move(call->words), removals};
  };
  return settings;
}

// Further words for muster-agent.
std::vector<std::string> AgentWords(const Without& without, const AgentSettings& agents) {
  std::vector<std::string> words;
  if (agents.isolation != Isolation::kNone) {
    words.insert(words.end(), {"--isolate", std::string(IsolationName(agents.isolation))});
  }
  if (const std::string names = WithoutText(without); !names.empty()) {
    words.insert(words.end(), {"--without", names});
  }
  for (const std::string& fault : agents.faults) words.insert(words.end(), {"--fault", fault});
  return words;
}

bool IsIn(const Allocation& allocation, const SiteHost& host) {
  return std::any_of(allocation.hosts.begin(), allocation.hosts.end(),
                     [&](const AllocatedHost& one) { return one.name == host.name; });
}

}  // namespace

void AddAgentOption(CLI::App& app, std::string& agent) {
  app.add_option("--agent", agent, "path of muster-agent on the other hosts (default: beside muster, or on PATH)")
      ->type_name("PATH");
}

bool IsHereAlone(const std::vector<SiteHost>& hosts) {
  return hosts.empty() || (hosts.size() == 1 && IsThisMachine(hosts.front().name));
}

bool RunsHere(const RecipeOptions& options, const std::vector<SiteHost>& hosts) {
  if (!IsHereAlone(hosts)) return false;
  if (hosts.empty() || (options.engine.on.empty() && options.engine.page.empty())) return true;
  const auto engine = EngineForHosts(options);
  return !engine || !*engine || !(*engine)->page.preempted || !IsIn(*(*engine)->allocation, hosts.front());
}

Result<std::optional<EngineChoice>> EngineOf(const RecipeOptions& options, const std::vector<SiteHost>& hosts) {
  if (RunsHere(options, hosts)) return std::nullopt;
  auto engine = EngineForHosts(options);
  if (!engine || !*engine) return engine;
  for (const SiteHost& host : hosts) {
    if (IsIn(*(*engine)->allocation, host)) continue;
    // A recipe names its own hosts, and nobody asked for the allocation.
    if (options.engine.on.empty() && options.engine.page.empty()) return std::nullopt;
    return Fail(Error("hosts", {}, host.name + " is not in the allocation of " + AllocationText(**engine),
                      "the recipe or the plan names it; --on ssh reaches it"));
  }
  return engine;
}

std::shared_ptr<const EngineJob> EngineJobOf(const RecipeOptions& options, const std::vector<SiteHost>& hosts,
                                             std::uint32_t stop_seconds) {
  auto engine = RunsHere(options, hosts) ? EngineForHosts(options) : EngineOf(options, hosts);
  if (!engine || !*engine || !(*engine)->allocation) return nullptr;
  if (auto& notice = (*engine)->page.notice) notice->seconds = std::max(notice->seconds, stop_seconds);
  return std::make_shared<EngineJob>(EngineJob{std::move((*engine)->page), std::move((*engine)->allocation->job)});
}

// Within an allocation mpirun by itself would start its daemons through the engine; without the engine's variables,
// which would also change what it counts as its hosts, it takes ssh.
Diagnostics LauncherWarnings(const Plan& plan, const EngineJob& job) {
  if (plan.framework != "mpi" || plan.hosts.size() < 2) return {};
  const bool by_mpirun = std::any_of(plan.processes.begin(), plan.processes.end(), [&](const Process& process) {
    const std::vector<Text>& command = EffectiveCommand(plan, process);
    return !command.empty() && command.front().marked == "mpirun";
  });
  if (!by_mpirun) return {};
  return {Warning("mpi", {}, fmt::format("mpirun reaches the other hosts of {} job {} by ssh", job.page.name, job.id),
                  "where nodes have no ssh: framework = { \"mpi\", start = \"srun\" }, or muster run @mpi start=srun")};
}

std::vector<std::string> EnvironmentForHosts(const RecipeOptions& options, const std::vector<SiteHost>& hosts,
                                             std::vector<std::string> environment) {
  const auto engine = EngineOf(options, hosts);
  if (!engine || !*engine) return environment;
  return WithoutVariables(std::move(environment), (*engine)->page.own);
}

namespace {

// The transport to the pods that the recipe was planned for.
Result<std::unique_ptr<Transport>> TransportToPods(const RecipeOptions& options, AgentSettings agents) {
  const PodRequest& request = *options.pods;
  // What is wrong with the objects does not depend on the run.
  if (auto tried = ManifestOf(request, options.job, "run", 1, agents.program); !tried) return Fail(tried.error());
  PodSettings settings;
  for (const std::string_view variable : agents.environment) {
    constexpr std::string_view kProgram = "MUSTER_KUBECTL=";
    if (variable.starts_with(kProgram) && variable.size() > kProgram.size())
      settings.program = variable.substr(kProgram.size());
  }
  for (const char* option : {"context", "namespace"}) {
    const std::string value = TextOf(request.settings, option);
    if (!value.empty()) settings.options.push_back(fmt::format("--{}={}", option, value));
  }
  settings.label = kRunLabel;
  settings.container = kAgentContainer;
  if (!agents.program.empty()) settings.agent = agents.program;
  settings.agent_words = AgentWords(options.without, agents);
  settings.start_seconds = StartSecondsOf(request.settings);
  settings.objects = [request, job = options.job, agent = agents.program](const std::string& run,
                                                                          std::uint32_t pods) -> Result<PodObjects> {
    auto manifest = ManifestOf(request, job, run, pods, agent);
    if (!manifest) return Fail(manifest.error());
    return PodObjects{std::move(manifest->text), std::move(manifest->kinds)};
  };
  return std::make_unique<PodTransport>(std::move(settings), agents.lease_ms, options.without);
}

}  // namespace

Result<std::unique_ptr<Transport>> TransportTo(const RecipeOptions& options, const std::vector<SiteHost>& hosts,
                                               AgentSettings agents) {
  if (options.pods) return TransportToPods(options, std::move(agents));
  if (RunsHere(options, hosts)) {
    return std::make_unique<LocalTransport>(std::string(), options.without, std::move(agents.faults), agents.isolation,
                                            agents.lease_ms);
  }
  auto engine = EngineOf(options, hosts);
  if (!engine) return Fail(engine.error());
  if (*engine) return TransportInto(**std::move(engine), options.without, std::move(agents));
  std::vector<std::string> words = AgentWords(options.without, agents);
  SshSettings settings = SshSettingsFrom(agents.environment);
  settings.agent_given = !agents.program.empty();
  settings.agent = std::move(agents.program);
  settings.agent_words = std::move(words);
  return std::make_unique<SshTransport>(std::move(settings), agents.lease_ms, options.without);
}

Result<std::unique_ptr<Transport>> TransportInto(EngineChoice engine, const Without& without, AgentSettings agents,
                                                 const std::vector<std::string>& variables) {
  const std::vector<std::string> set = WithoutVariables(variables, engine.page.clear);
  auto settings = DialSettingsFor(std::move(engine), agents.program, AgentWords(without, agents), agents.environment);
  if (!settings) return Fail(settings.error());
  settings->start = [start = std::move(settings->start), set](const AgentsToStart& started) {
    AgentStart call = start(started);
    call.environment.insert(call.environment.end(), set.begin(), set.end());
    return call;
  };
  return std::make_unique<DialTransport>(*std::move(settings), agents.lease_ms, without);
}

}  // namespace muster
