// Reads the axes of a sweep's space from the description in sweep.json, for the scales of plots.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/value.h"

namespace muster {

struct SpaceAxis {
  bool log = false;
  bool whole = false;
  std::optional<std::pair<double, double>> domain;
  std::vector<Value> choices;  // of axes that list their values
};

// By name. `space`: the member "space" of the description; whatever it is, other axes and unknown members are omitted.
std::map<std::string, SpaceAxis> SpaceAxes(const Value& space);

}  // namespace muster
