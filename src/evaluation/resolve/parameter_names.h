// Which parameter a word means: its whole name, a former one, or the end of it ("lr" for "optimizer.lr") where only one
// name ends so. Pure.
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

// The numbers of the cluster that are overridden like parameters go by these names, and by their last parts where the
// recipe has no parameter that is called so.
inline constexpr std::string_view kClusterHosts = "cluster.hosts";
inline constexpr std::string_view kClusterDevices = "cluster.devices_per_host";

class ParameterNames {
 public:
  explicit ParameterNames(std::span<const Parameter> parameters);

  struct Found {
    std::string name;                     // whole; empty: none, or more than one
    bool by_old_name = false;             // it was given by a former name
    std::vector<std::string> candidates;  // whole names, where the word could mean more than one
  };
  // `whole`: only whole and former names count, as recipes have to write them.
  Found Find(const std::string& word, bool whole) const;

  // The override names nothing that Find knows; `derived` are further names that it may have been meant to be.
  Diagnostic Unknown(const Override& override, std::span<const std::string> derived) const;

 private:
  std::set<std::string> names_;
  std::map<std::string, std::string> old_names_;  // former -> present
};

// The whole name that the parameter had, or nothing.
std::string FormerName(const Parameter& parameter);

// "command line", "profile smoke": where an override came from, after "from the".
std::string OriginText(const Override& override);

}  // namespace muster
