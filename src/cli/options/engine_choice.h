// The engine that a call of muster uses: chosen by --on or --engine, or the one in whose allocation this process is;
// and the hosts that it is to provide for a plan that is made before they exist, pods of a cluster among them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "engine/allocation.h"
#include "engine/engine_page.h"
#include "engine/engine_settings.h"
#include "engine/manifest.h"
#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "spawn/start/limited_command.h"

namespace muster {

// The engine that a call of muster uses: chosen by --on or --engine, or the one in whose allocation this process is.

struct EngineOptions {
  std::string on;                       // --on; empty: not given
  std::string page;                     // --engine: a file; empty: not given
  std::vector<std::string> slurm;       // --slurm NAME=VALUE
  std::vector<std::string> kubernetes;  // --kubernetes NAME=VALUE
  std::vector<std::string> settings;    // --engine-option NAME=VALUE
};

struct EngineChoice {
  EnginePage page;
  std::optional<Allocation> allocation;  // none: this process is in no allocation of it
};

// --on and --engine. The options must live as long as the app.
void AddEngineOptions(CLI::App& app, EngineOptions& options);
// --slurm and --engine-option, for commands that ask an engine for an allocation.
void AddEngineSettings(CLI::App& app, EngineOptions& options);

// The chosen engine; with neither option the one of the allocation that this process is in, unless it was itself
// started by a run of muster, to which the allocation belongs. Nothing: --on local, --on ssh, or no allocation. Kinds
// "usage", "engine", and those of ReadEnginePage and ReadAllocation. The allocation is read once.
Result<std::optional<EngineChoice>> ChosenEngine(const EngineOptions& options);

// The page of an engine: that of the file, if it is not empty, else the program's own of that name. Kinds "usage" and
// those of ReadEnginePage.
Result<EnginePage> EnginePageOf(const std::string& name, const std::string& file);

// Runs a command of an engine with this process's environment less `clear`, at most 30 s.
CommandOutput RunEngineCommand(const std::vector<std::string>& words, const std::vector<std::string>& clear,
                               std::string_view input = {});

// "slurm job 12": where hosts come from, for messages.
std::string AllocationText(const EngineChoice& engine);

// The settings for the engine: command line over recipe over site. Kinds "usage", and those of SettingsOfTable.
Result<EngineSettings> SettingsFor(const EnginePage& page, const EngineOptions& options,
                                   const std::vector<EngineField>& of_recipe);

// Hosts that an engine is to provide, for a plan that is made before they exist: how many the recipe needs, and what
// the user asks of the engine. Also the pods of a cluster, which muster itself asks for.

struct RecipeOptions;

// What a job needs of an allocation, before it is planned for that.
struct AllocationNeeds {
  std::uint32_t hosts = 1;
  std::vector<EngineField> of_recipe = {};  // the recipe's options of engines
};

// Sets the hosts of `options` (RecipeOptions::requested_hosts) to those that the engine is to provide, named `prefix`
// and a number from `first`, and its engine to none. Returns the settings for the engine. Without `needs` they are
// those of the recipe. Kinds "usage" (hosts or devices are named), those of SettingsFor, and those of an evaluation.
Result<EngineSettings> RequestHosts(RecipeOptions& options, const EnginePage& page, const std::string& prefix,
                                    std::uint32_t first, std::optional<AllocationNeeds> needs = std::nullopt);

// The pods that a call asks for.
struct PodRequest {
  EnginePage page;
  EngineSettings settings;
  std::uint32_t stop_seconds = 0;  // ManifestJob::stop_seconds
};

// Whether the options name an engine that is asked with manifests. Kinds of ChosenEngine.
Result<bool> AsksForPods(const EngineOptions& options);

// RequestHosts for the pods of --on, which become RecipeOptions::pods. `as`: --as, empty if not given. Kinds of
// RequestHosts, and "usage": spares of a Job.
Result<void> RequestPods(RecipeOptions& options, const std::string& as);

// The manifest of these pods: kinds of MakeManifest, and "cwd".
Result<Manifest> ManifestOf(const PodRequest& request, const std::string& name, const std::string& run,
                            std::uint32_t pods, const std::string& agent);

// --as.
void AddManifestForm(CLI::App& app, std::string& as);

}  // namespace muster
