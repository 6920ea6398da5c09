#include "plan/environment/removed_variables.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace muster {
namespace {

// Slurm, Open MPI and PMI set these for the processes that they start, including muster.
constexpr std::array<std::string_view, 4> kOfLaunchers = {"SLURM_*", "OMPI_*", "PMIX_*", "PMI_*"};

bool IsOfLauncher(std::string_view name) {
  return std::any_of(kOfLaunchers.begin(), kOfLaunchers.end(),
                     [&](std::string_view pattern) { return Matches(pattern, name); });
}

}  // namespace

std::vector<std::string> RemovedByContract(
    const Plan& plan, const std::map<std::string, std::map<std::string, VariableSource>>& provenance,
    const std::vector<std::string>& inherited) {
  std::set<std::string> removed;
  for (const Role& role : plan.roles) {
    const auto sources = provenance.find(role.name);
    if (sources == provenance.end()) continue;
    for (const std::string& pattern : role.unset) {
      const auto source = sources->second.find(pattern);
      // Without an entry, the contract also sets the variable, so that its source is not that of an unset.
      const bool by_contract = source == sources->second.end() || source->second.layer == Layer::kContract;
      if (!by_contract) continue;
      for (const std::string& entry : inherited) {
        const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
        if (Matches(pattern, name) && !IsOfLauncher(name)) removed.emplace(name);
      }
    }
  }
  return {removed.begin(), removed.end()};
}

}  // namespace muster
