#include "cli/options/engine_choice.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/system/own_environment.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "cli/command/small_file.h"
#include "cli/lookup/current_site.h"
#include "cli/options/named_hosts.h"
#include "cli/options/recipe_options.h"
#include "engine/engine_calls.h"
#include "lua/state/own_data.h"

namespace muster {
namespace {

// An engine whose controller restarts retries for some seconds by itself.
constexpr std::chrono::seconds kCommandTime{30};

std::optional<std::string> OwnVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<std::string> OutputOf(const EnginePage& page, const std::vector<std::string>& command) {
  const auto begin = std::chrono::steady_clock::now();
  CommandOutput output = RunEngineCommand(command, page.query_clear);
  for (bool said = false; output.exit_code != 0; said = true) {
    const auto tried_for =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    const auto pause = TryAgainAfter(page, output.err, tried_for);
    if (!pause) break;
    if (!said) {
      const std::string line =
          page.name + " does not answer: " + command.front() + ": " + output.err.substr(0, output.err.find('\n'));
      std::fprintf(stderr, "muster: %s; asking again for up to %lld s\n", Printable(line).c_str(),
                   static_cast<long long>(kAwayTime.count()));
    }
    ::poll(nullptr, 0, static_cast<int>(pause->count()));
    output = RunEngineCommand(command, page.query_clear);
  }
  if (output.exit_code == 0) return std::move(output.out);
  const std::string words = ShellQuoted(std::span(command));
  const std::string why = !output.started ? "it cannot be started"
                          : output.late   ? "it took longer than 30 s"
                                          : Printable(output.err.substr(0, output.err.find('\n')));
  return Fail(MachineError("engine", page.name + ": " + words + ": " + (why.empty() ? "it failed" : why)));
}

Result<std::string> ContentOf(const std::string& path) {
  auto text = ReadSmallFile(path);
  if (text) return *std::move(text);
  return Fail(MachineError("engine", text.error()));
}

Result<EnginePage> OwnEnginePage(const std::string& name) {
  const auto value = OwnEngine(name);
  if (!value) return Fail(value.error());
  return ReadEnginePage(*value, "lua/muster/engines/" + name + ".lua", {});
}

// A user's page is evaluated as a site file is: it reads nothing but modules beside it.
Result<EnginePage> PageOfFile(const std::string& file) {
  if (auto text = ReadSmallFile(file); !text) return Fail(Error("engine", {}, "--engine: " + text.error()));
  EvaluationOptions options;
  options.recipe_file = file;
  options.task = TableTask{.engine_page = true};
  auto evaluated = EvaluateRecipe(options);
  if (!evaluated) return Fail(evaluated.error());
  if (!evaluated->site_file) return Fail(Error("engine", {file, 0}, "the evaluator returned no page"));
  return ReadEnginePage(evaluated->site_file->table, file, evaluated->site_file->lines);
}

// The page that the options name; nothing if they name none.
Result<std::optional<EnginePage>> NamedPage(const EngineOptions& options) {
  if (!options.page.empty()) {
    auto page = PageOfFile(options.page);
    if (!page) return Fail(page.error());
    if (!options.on.empty() && options.on != page->name) {
      return Fail(Error("usage", {}, "--on " + options.on + ", and the page of --engine is that of " + page->name,
                        "leave --on out"));
    }
    return *std::move(page);
  }
  if (options.on.empty()) return std::nullopt;
  const std::vector<std::string> own = OwnEngineNames();
  if (std::find(own.begin(), own.end(), options.on) != own.end()) {
    auto page = OwnEnginePage(options.on);
    if (!page) return Fail(page.error());
    return *std::move(page);
  }
  std::vector<std::string> known = {"local", "ssh"};
  known.insert(known.end(), own.begin(), own.end());
  return Fail(Error("usage", {}, "--on " + Quoted(options.on) + ": there is no such engine or transport",
                    DidYouMean(options.on, known) + "; --engine FILE brings an engine of your own"));
}

// The engine in whose allocation this process is, by the environment alone.
Result<std::optional<EnginePage>> PageOfAllocation() {
  if (OwnVariable("MUSTER_PROCESS")) return std::nullopt;
  const auto signs = OwnEngineSigns();
  if (!signs) return Fail(signs.error());
  for (const Value& sign : *signs->AsList()) {
    const Value::Map& fields = *sign.AsMap();
    const auto value = OwnVariable(*fields.at("inside").AsString());
    if (!value || value->empty()) continue;
    auto page = OwnEnginePage(*fields.at("name").AsString());
    if (!page) return Fail(page.error());
    return *std::move(page);
  }
  return std::nullopt;
}

Result<std::optional<EngineChoice>> Choose(const EngineOptions& options) {
  if (options.page.empty() && (options.on == "local" || options.on == "ssh")) return std::nullopt;
  auto page = NamedPage(options);
  if (page && !*page) page = PageOfAllocation();
  if (!page) return Fail(page.error());
  if (!*page) return std::nullopt;
  EngineChoice choice{**std::move(page), std::nullopt};
  if (choice.page.manifest) return choice;  // it is used from outside only
  AllocationSources sources = {OwnVariable, ContentOf, [&choice](const std::vector<std::string>& command) {
                                 return OutputOf(choice.page, command);
                               }};
  // Who says where, as a batch script does, does not mean this machine.
  if (options.on.empty() && options.page.empty()) {
    sources.otherwise = "--on local runs on this machine, --host names hosts";
  }
  if (!IsInside(choice.page, sources)) return choice;
  auto allocation = ReadAllocation(choice.page, sources);
  if (!allocation) return Fail(allocation.error());
  choice.allocation = *std::move(allocation);
  return choice;
}

Result<EngineSettings> SettingsOfRecipe(const EnginePage& page, const std::vector<EngineField>& fields) {
  Value::Map table;
  std::map<std::string, Place> places;
  for (const EngineField& field : fields) {
    if (field.engine != page.name) continue;
    table[field.name] = field.value;
    places[field.name] = field.place;
  }
  return SettingsOfTable(
      page, Value(std::move(table)), [&](const std::string& name) { return places[name]; },
      [&](const std::string& name) { return places[name].file + ":" + std::to_string(places[name].line); });
}

Result<EngineSettings> SettingsOfSite(const EnginePage& page) {
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  const auto options = site->facts.engines.find(page.name);
  if (options == site->facts.engines.end()) return EngineSettings();
  const std::string prefix = page.name + ".";
  return SettingsOfTable(
      page, Value(Value::Map(options->second.begin(), options->second.end())),
      [&](const std::string& name) { return site->facts.places.at(prefix + name); },
      [&](const std::string& name) { return site->facts.sources.at(prefix + name); });
}

}  // namespace

CommandOutput RunEngineCommand(const std::vector<std::string>& words, const std::vector<std::string>& clear,
                               std::string_view input) {
  const std::vector<std::string> environment = WithoutVariables(OwnVariables(), clear);
  SpawnSpec spec;
  spec.argv = words;
  spec.env = EnvPointers(environment);
  Launcher launcher;
  CapturedCommand call(launcher, std::move(spec), input);
  return call.Take(kCommandTime);
}

Result<EnginePage> EnginePageOf(const std::string& name, const std::string& file) {
  return file.empty() ? OwnEnginePage(name) : PageOfFile(file);
}

void AddEngineOptions(CLI::App& app, EngineOptions& options) {
  app.add_option("--on", options.on, "where: local, ssh, or slurm and other engines (default: the allocation)")
      ->type_name("NAME");
  app.add_option("--engine", options.page, "page of an engine of your own (muster docs engines)")->type_name("FILE");
}

void AddEngineSettings(CLI::App& app, EngineOptions& options) {
  app.add_option("--slurm", options.slurm, "option of Slurm: partition=gpu, time=12h, gres=gpu:8")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--kubernetes", options.kubernetes, "option of Kubernetes: image=NAME, devices=nvidia.com/gpu:8")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--engine-option", options.settings, "option of the engine of --on or --engine")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

Result<std::optional<EngineChoice>> ChosenEngine(const EngineOptions& options) {
  static std::map<std::pair<std::string, std::string>, Result<std::optional<EngineChoice>>> known;
  const auto key = std::pair(options.on, options.page);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  return known.emplace(key, Choose(options)).first->second;
}

std::string AllocationText(const EngineChoice& engine) { return engine.page.name + " job " + engine.allocation->job; }

Result<EngineSettings> SettingsFor(const EnginePage& page, const EngineOptions& options,
                                   const std::vector<EngineField>& of_recipe) {
  if (!options.slurm.empty() && page.name != "slurm") {
    return Fail(
        Error("usage", {}, "--slurm is for Slurm, and the engine is " + page.name, "--engine-option NAME=VALUE"));
  }
  if (!options.kubernetes.empty() && !page.manifest) {
    return Fail(Error("usage", {}, "--kubernetes is for Kubernetes, and the engine is " + page.name,
                      "--engine-option NAME=VALUE"));
  }
  const std::vector<std::string>& own = page.manifest ? options.kubernetes : options.slurm;
  const std::string own_option = page.manifest ? "--kubernetes" : "--slurm";
  if (!own.empty() && !options.settings.empty()) {
    return Fail(
        Error("usage", {}, own_option + " and --engine-option are given", "give all of them with " + own_option));
  }
  const auto call =
      own.empty() ? SettingsOfWords(page, options.settings, "--engine-option") : SettingsOfWords(page, own, own_option);
  const auto recipe = SettingsOfRecipe(page, of_recipe);
  const auto site = SettingsOfSite(page);
  Diagnostics problems;
  for (const auto* settings : {&call, &recipe, &site}) {
    if (!*settings) problems.insert(problems.end(), settings->error().begin(), settings->error().end());
  }
  if (!problems.empty()) return Fail(std::move(problems));
  const std::array nearest = {*call, *recipe, *site};
  return MergedSettings(nearest);
}

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
