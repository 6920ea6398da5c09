// Resolves the hosts and their devices: from the command line, from the recipe, or by number. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "evaluation/exchange/evaluation.h"

namespace muster {

struct ClusterFacts {
  std::vector<SiteHost> named;               // the hosts by name, if they are named
  std::vector<std::uint32_t> devices = {1};  // of each host
  // Of each host, for processes without devices; empty if not every host has one: the tasks that an engine was asked
  // for, else the numbers with which the hosts were named.
  std::vector<std::uint32_t> slots;
  bool slots_are_tasks = false;  // the former
  // Without slots: for how many such processes the hosts of an allocation have room; or empty.
  std::vector<std::uint32_t> room;
  // The sources, for notes: "hosts 1 (default) × devices_per_host 8 (recipes/ps.lua:5)".
  std::string text;
  std::vector<ClusterNumber> numbers;  // hosts and devices_per_host

  std::int64_t hosts() const { return static_cast<std::int64_t>(devices.size()); }
  std::int64_t all_devices() const;
  std::int64_t least_devices() const;  // the minimum over all hosts
};

// "hosts" or "devices_per_host": overridden like parameters, unless the recipe has parameters of that name.
Parameter ClusterParameter(std::string_view name, const Place& place);

// `cluster` is the recipe's table, `places` are the places of its fields, by default `recipe_place`. `apply` applies
// overrides to the state of the parameter kClusterHosts or kClusterDevices. `chosen` is the number of devices of every
// host according to --devices; 0: not given.
ClusterFacts SettleCluster(const Value& cluster, const std::map<std::string, Place>& places, const Place& recipe_place,
                           const Site& site, std::size_t chosen, const std::function<void(ParameterState&)>& apply,
                           Diagnostics& diagnostics);

}  // namespace muster
