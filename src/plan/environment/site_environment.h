// What the site's say makes of an inherited environment: the lowest layer but what is inherited itself. Pure.
#pragma once

#include <string>
#include <vector>

#include "muster/site.h"

namespace muster {

// `inherited` ("NAME=value") as processes inherit it at that site, before any activation. The variable `PATH` passes
// whatever is passed: without it nothing is found.
std::vector<std::string> InheritedAtSite(const SiteEnvironment& site, const std::vector<std::string>& inherited);

}  // namespace muster
