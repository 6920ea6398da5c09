// Hosts that an engine is to provide, for a plan that is made before they exist: how many the recipe needs, and what
// the user asks of the engine. Also the pods of a cluster, which muster itself asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/engine_choice.h"
#include "engine/manifest.h"
#include "muster/result.h"

namespace muster {

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
