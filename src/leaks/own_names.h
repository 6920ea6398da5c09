// Names of this machine and of its user in the texts of a plan: a plan that holds one was made for this machine alone,
// whatever brought it in. Pure: who asks knows the names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "muster/plan.h"

namespace muster {

struct OwnName {
  std::string what;  // "the name of this machine"
  std::string name;
};

struct FoundName {
  OwnName own;
  std::string where;  // "worker 0-3: variable DATA", "derived value data", "file conf/x.json"
};

// Where it stands as a word of its own: no letter, digit, '_' or '-' beside it.
bool HoldsWord(std::string_view text, std::string_view word);

// Each name once for every variable, word, folder, derived value and file that holds it. Not what stands inside
// `folder`, the recipe's own, which muster.here gives.
std::vector<FoundName> FindOwnNames(const Plan& plan, const std::vector<OwnName>& names, const std::string& folder);

}  // namespace muster
