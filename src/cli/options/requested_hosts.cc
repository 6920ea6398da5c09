#include "cli/options/requested_hosts.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/options/named_hosts.h"
#include "cli/options/recipe_options.h"

namespace muster {
namespace {

// Hosts as the engine may name them, each like `host`.
std::vector<SiteHost> Numbered(const std::string& prefix, std::uint32_t first, std::uint32_t count, SiteHost host) {
  std::vector<SiteHost> hosts;
  for (std::uint32_t i = first; i < first + count; ++i) {
    host.name = prefix + std::to_string(i);
    hosts.push_back(host);
  }
  return hosts;
}

}  // namespace

Result<EngineSettings> RequestHosts(RecipeOptions& options, const EnginePage& page, const std::string& prefix,
                                    std::uint32_t first, std::optional<AllocationNeeds> needs) {
  const std::string& name = page.name;
  if (NamesHosts(options) || !options.exclude.empty()) {
    return Fail(Error("usage", {},
                      "--on " + name + " and --host, --hostfile or --exclude are given: the engine chooses the hosts",
                      page.manifest ? "a field of pods asks for certain ones: pod = { nodeSelector = { … } }"
                                    : "an option of the engine asks for certain ones: extra=--nodelist=n[01-04]"));
  }
  if (!options.devices.empty()) {
    return Fail(Error("usage", {}, "--on " + name + " and --devices are given: the engine chooses the devices",
                      page.manifest ? "--kubernetes devices=nvidia.com/gpu:8 says how many"
                                    : "--engine-option NAME=VALUE says how many"));
  }
  const EngineOptions engine = std::exchange(options.engine, {});
  options.engine.on = "local";
  // First what the recipe asks of the engine, and how many hosts it is for.
  const std::uint32_t spares = std::exchange(options.spares, 0);
  if (!needs) {
    auto asked = EvaluateFrom(options, EvaluationDepth::kParameters);
    if (!asked) return Fail(asked.error());
    needs = AllocationNeeds{asked->hosts, std::move(asked->engine_settings)};
  }
  options.spares = spares;
  auto settings = SettingsFor(page, engine, needs->of_recipe);
  if (!settings) return settings;
  const auto nodes = NodesOf(*settings);
  options.requested_hosts = Numbered(prefix, first, nodes.value_or(needs->hosts + spares),
                                     {{}, {}, DevicesOf(page, *settings), TasksOf(page, *settings)});
  options.requested_by = nodes ? name + ".nodes from " + settings->at("nodes").source : name + ", as the recipe asks";
  if (options.requested_hosts.size() <= spares) {
    return Fail(Error("hosts", {}, fmt::format("--spares {}, and {}.nodes is {}", spares, name, *nodes),
                      "the nodes of the allocation are those of the job and the spares"));
  }
  return settings;
}

Result<bool> AsksForPods(const EngineOptions& options) {
  if (options.on.empty() && options.page.empty()) return false;
  const auto engine = ChosenEngine(options);
  if (!engine) return Fail(engine.error());
  return *engine && (*engine)->page.manifest;
}

Result<void> RequestPods(RecipeOptions& options, const std::string& as) {
  const auto engine = ChosenEngine(options.engine);
  if (!engine) return Fail(engine.error());
  const EnginePage page = (*engine)->page;
  if (options.recipe.empty()) {
    return Fail(Error("usage", {}, "--on " + page.name + " takes a recipe: pods are requested as it says",
                      "muster run RECIPE, or muster run RUN for the recipe of an earlier run"));
  }
  auto settings = RequestHosts(options, page, "pod", 0);
  if (!settings) return Fail(settings.error());
  if (!as.empty()) (*settings)["as"] = {Value(as), {}, "--as"};
  if (options.spares > 0 && TextOf(*settings, "as") != "pods") {
    return Fail(Error("usage", {}, "--spares: a Job ends all of its pods when one of them fails",
                      "--as pods makes pods that do not depend on each other"));
  }
  options.pods = {page, *std::move(settings), 0};
  return {};
}

Result<Manifest> ManifestOf(const PodRequest& request, const std::string& name, const std::string& run,
                            std::uint32_t pods, const std::string& agent) {
  std::error_code error;
  ManifestJob job;
  job.name = name;
  job.run = run;
  job.pods = pods;
  job.folder = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "cannot determine the current folder", error.value()));
  if (!agent.empty()) job.agent = agent;
  job.stop_seconds = request.stop_seconds;
  return MakeManifest(request.page, request.settings, job);
}

void AddManifestForm(CLI::App& app, std::string& as) {
  app.add_option("--as", as, "with --on kubernetes: an Indexed Job, a JobSet or plain pods")
      ->type_name("job|jobset|pods");
}

}  // namespace muster
