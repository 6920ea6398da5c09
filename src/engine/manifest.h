// The objects by which a Kubernetes cluster runs the agents of a job: one pod for each host, as a JobSet, an Indexed
// Job or plain pods, and a headless Service. YAML text; kubectl applies it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine_page.h"
#include "engine/engine_settings.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// A value as YAML, as kubectl reads it.

// One document in block style with a line end, keys in their order. Texts are plain only where no reader of YAML 1.1 or
// 1.2 could take them for something else.
std::string YamlText(const Value& value);

// The objects by which a Kubernetes cluster runs the agents of a job: one pod for each host, as a JobSet, an Indexed
// Job or plain pods, and a headless Service. Text; kubectl applies it.

// The label of all objects whose value is the run's id.
inline constexpr const char* kRunLabel = "muster.run";
// The container in which an agent runs.
inline constexpr const char* kAgentContainer = "agent";

struct ManifestJob {
  std::string name;  // of the job
  std::string run;   // the run's id
  std::uint32_t pods = 1;
  std::string folder;                  // working folder of the containers
  std::string agent = "muster-agent";  // in the image: a path, or a name on its PATH
  std::uint32_t stop_seconds = 0;      // most that a stop with a checkpoint takes
};

struct Manifest {
  std::string text;                // YAML documents
  std::vector<std::string> kinds;  // of the objects to delete by the label, as kubectl names them
};

// The options of pages with manifests whose effect is fixed; others have a path.
const std::vector<std::string>& ManifestOptions();

// The manifest. Pod i has the host name PodHostName(…, i). Settings must be checked by that page (engine_settings.h).
// Kinds "missing" (no image), "enum", "format", "conflict" (a field that muster sets): with the places of the settings.
Result<Manifest> MakeManifest(const EnginePage& page, const EngineSettings& settings, const ManifestJob& job);

// The text of a setting; empty if there is none.
std::string TextOf(const EngineSettings& settings, const std::string& name);
// How long pods may take to start, in seconds.
std::uint32_t StartSecondsOf(const EngineSettings& settings);

}  // namespace muster
