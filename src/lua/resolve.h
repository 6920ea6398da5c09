// From declared parameters and given overrides to settled values; pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lua/evaluation.h"

namespace muster {

struct ClusterFacts {
  std::int64_t hosts = 1;
  std::int64_t devices_per_host = 1;
  // Where the two come from, for notes: "hosts 1 (default) × devices_per_host 8 (recipes/ps.lua:5)".
  std::string text;
};

struct Resolved {
  std::vector<ParameterState> parameters;  // by name
  ClusterFacts cluster;
  std::map<std::string, SecretSource> secrets;
};

// `environment` gives the value of a variable, if set. Every wrong or unknown override is reported; with
// `need_all`, so is every parameter without a value.
Resolved ResolveParameters(const std::vector<Parameter>& parameters, const Value& cluster, const Place& recipe_place,
                           const EvaluationRequest& request, bool need_all,
                           const std::function<std::optional<std::string>(const std::string&)>& environment,
                           Diagnostics& diagnostics);

}  // namespace muster
