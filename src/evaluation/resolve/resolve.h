// Resolves declared parameters and given values to settled values. Pure. Values come in layers (ParameterOrigin) of
// increasing precedence: default, extension, environment, profile, MUSTER_SET, command line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/exchange/evaluation.h"
#include "evaluation/resolve/parameter_names.h"
#include "evaluation/resolve/resolve_cluster.h"

namespace muster {

// The declarations of a recipe, before its plan function is called.
struct Declared {
  std::vector<Parameter> parameters;            // names may repeat in different variants
  std::vector<Override> values;                 // of its extensions and the selected profiles, in order
  Value cluster;                                // a map
  std::map<std::string, Place> cluster_places;  // where each of its fields is given
  Place place;                                  // of the recipe
};

struct Resolved {
  std::vector<ParameterState> parameters;  // by name, including those of variants that are not selected
  ClusterFacts cluster;
  std::map<std::string, SecretSource> secrets;
  std::vector<Override> unknown;  // from outside, with names that no parameter has: possibly derived values
};

// `environment` returns the value of a variable, if set. Reports every invalid override; with `need_all`, also every
// parameter without a value. A value for a parameter of a variant applies only if the layer that gave it has the same
// variant as the last layer: selecting another variant starts with its defaults.
Resolved ResolveParameters(const Declared& declared, const ParameterNames& names, const std::vector<Override>& outside,
                           const Site& site, const DeviceUse& devices, bool need_all,
                           const std::function<std::optional<std::string>(const std::string&)>& environment,
                           Diagnostics& diagnostics);

}  // namespace muster
