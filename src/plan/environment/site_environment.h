// Applies a site's environment settings to an inherited environment: the lowest layer above inheritance. Pure.
#pragma once

#include <string>
#include <vector>

#include "muster/site.h"

namespace muster {

// `inherited` ("NAME=value") as processes inherit it at that site, before any activation. `PATH` always passes, because
// programs cannot be found without it.
std::vector<std::string> InheritedAtSite(const SiteEnvironment& site, const std::vector<std::string>& inherited);

}  // namespace muster
