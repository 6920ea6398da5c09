// From declared parameters and given values to settled ones; pure. Values come in layers (ParameterOrigin), the later
// ones stronger: default, extension, environment, profile, MUSTER_SET, command line.
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

// What a recipe says before its plan function is called.
struct Declared {
  std::vector<Parameter> parameters;            // those of variants may share a name
  std::vector<Override> values;                 // of its extensions and of the profiles that were asked for, in order
  Value cluster;                                // a map
  std::map<std::string, Place> cluster_places;  // where each of its fields is given
  Place place;                                  // of the recipe
};

struct Resolved {
  std::vector<ParameterState> parameters;  // by name, those of variants that are not chosen too
  ClusterFacts cluster;
  std::map<std::string, SecretSource> secrets;
  std::vector<Override> unknown;  // from outside, by names that no parameter has: they may be those of derived values
};

// `environment` gives the value of a variable, if set. Every wrong override is reported; with `need_all`, so is every
// parameter without a value. A value that was given to a parameter of a variant counts only while the layer that gave
// it has the same variant as the last layer: who chooses another variant begins with its defaults.
Resolved ResolveParameters(const Declared& declared, const ParameterNames& names, const std::vector<Override>& outside,
                           const Site& site, const DeviceUse& devices, bool need_all,
                           const std::function<std::optional<std::string>(const std::string&)>& environment,
                           Diagnostics& diagnostics);

}  // namespace muster
