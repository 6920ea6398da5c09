// From declared parameters and given overrides to settled values; pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lua/evaluation.h"

namespace muster {

struct ClusterFacts {
  std::vector<SiteHost> named;               // the hosts by name, if anybody named them
  std::vector<std::uint32_t> devices = {1};  // of each host
  // Where they come from, for notes: "hosts 1 (default) × devices_per_host 8 (recipes/ps.lua:5)".
  std::string text;
  std::vector<ClusterNumber> numbers;  // hosts and devices_per_host

  std::int64_t hosts() const { return static_cast<std::int64_t>(devices.size()); }
  std::int64_t all_devices() const;
  std::int64_t least_devices() const;  // that any host has
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
