#include "cli/options/host_transport.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/system/host_name.h"
#include "cli/options/engine_start.h"
#include "cli/options/named_hosts.h"
#include "engine/engine_calls.h"
#include "pods/pod_transport.h"
#include "transport/local_transport.h"
#include "transport/ssh_transport.h"

namespace muster {
namespace {

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
