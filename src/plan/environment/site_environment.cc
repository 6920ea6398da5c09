#include "plan/environment/site_environment.h"

#include <algorithm>
#include <string_view>

#include "plan/environment/environment.h"

namespace muster {

std::vector<std::string> InheritedAtSite(const SiteEnvironment& site, const std::vector<std::string>& inherited) {
  if (site.empty()) return inherited;
  const auto covered = [](const std::vector<std::string>& patterns, std::string_view name) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [name](const std::string& pattern) { return Matches(pattern, name); });
  };
  std::vector<std::string> environment;
  environment.reserve(inherited.size() + site.set.size());
  for (const std::string& entry : inherited) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (!site.pass.empty() && name != "PATH" && !covered(site.pass, name)) continue;
    if (covered(site.unset, name) || site.set.contains(std::string(name))) continue;
    environment.push_back(entry);
  }
  for (const auto& [name, value] : site.set) environment.push_back(name + "=" + value);
  return environment;
}

}  // namespace muster
