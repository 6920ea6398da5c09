// Resolves a word to a parameter: by full name, former name, or unique suffix ("lr" for "optimizer.lr").
// Pure.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/exchange/evaluation.h"
#include "muster/diagnostic.h"

namespace muster {

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

}  // namespace muster
