// Resolves declared parameters, hosts and their devices, and given values to settled values. Pure. Values come in
// layers (ParameterOrigin) of increasing precedence: default, extension, environment, profile, MUSTER_SET, command
// line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/exchange/evaluation.h"
#include "muster/diagnostic.h"

namespace muster {

// Resolves a word to a parameter: by full name, former name, or unique suffix ("lr" for "optimizer.lr").
// Pure.

// The numbers of the cluster are overridden like parameters by these names, and by their last parts if the recipe has
// no parameter of that name.
inline constexpr std::string_view kClusterHosts = "cluster.hosts";
inline constexpr std::string_view kClusterDevices = "cluster.devices_per_host";

class ParameterNames {
 public:
  explicit ParameterNames(std::span<const Parameter> parameters);

  struct Found {
    std::string name;                     // full; empty: none, or ambiguous
    bool by_old_name = false;             // the word is a former name
    std::vector<std::string> candidates;  // full names, if the word is ambiguous
  };
  // `whole`: accept only full and former names, as in recipes.
  Found Find(const std::string& word, bool whole) const;

  // The diagnostic for an override with an unknown name; `derived` are further candidates for a suggestion.
  Diagnostic Unknown(const Override& override, std::span<const std::string> derived) const;

 private:
  std::set<std::string> names_;
  std::map<std::string, std::string> old_names_;  // former -> current
};

// "command line", "profile smoke": the source of an override, after "from the".
std::string OriginText(const Override& override);

// Resolves the hosts and their devices: from the command line, from the recipe, or by number. Pure.

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

// Resolves declared parameters and given values to settled values. Pure. Values come in layers (ParameterOrigin) of
// increasing precedence: default, extension, environment, profile, MUSTER_SET, command line.

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
