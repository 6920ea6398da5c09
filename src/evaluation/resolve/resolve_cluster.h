// The hosts and their devices: named on the command line, named by the recipe, or counted. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "evaluation/exchange/evaluation.h"

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

// "hosts" or "devices_per_host": they are overridden like parameters, unless the recipe has parameters of that name.
Parameter ClusterParameter(std::string_view name, const Place& place);

// `cluster` is the recipe's table, `places` where its fields are given, or else `recipe_place`. `apply` puts overrides
// into the state of the parameter kClusterHosts or kClusterDevices. `chosen` is how many devices of every host
// --devices names; 0: it is not given.
ClusterFacts SettleCluster(const Value& cluster, const std::map<std::string, Place>& places, const Place& recipe_place,
                           const Site& site, std::size_t chosen, const std::function<void(ParameterState&)>& apply,
                           Diagnostics& diagnostics);

}  // namespace muster
