// The settings of the transport to pods: how kubectl is called, and which objects make the pods.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "muster/result.h"

namespace muster {

// The objects of a run, for `kubectl apply`. Each has the label muster.run=<run> (PodSettings::label), and pod i has a
// host name that ends with -i.
struct PodObjects {
  std::string manifest;
  std::vector<std::string> kinds;  // to be deleted by the label, as kubectl names them
};

struct PodSettings {
  std::string program = "kubectl";        // a path, or a name to be looked up on PATH
  std::vector<std::string> options = {};  // for every call: --context=…, --namespace=…
  std::string label = "muster.run";
  std::string container = "agent";     // in which `agent` is called
  std::string agent = "muster-agent";  // in the image: a path, or a name on its PATH
  std::vector<std::string> agent_words = {};
  std::uint32_t start_seconds = 600;  // how long pods may take to start
  std::function<Result<PodObjects>(const std::string& run, std::uint32_t pods)> objects = {};
};

}  // namespace muster
