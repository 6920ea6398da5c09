// Finds names of this machine and its user in the texts of a plan: a plan with such a name is valid on this machine
// only. Pure: the caller passes the names.
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

struct NameOccurrence {
  OwnName own;
  std::string where;  // "worker 0-3: variable DATA", "derived value data", "file conf/x.json"
};

// Whether the text has the word on its own: no letter, digit, '_' or '-' beside it.
bool HoldsWord(std::string_view text, std::string_view word);

// Each name once for every variable, word, folder, derived value and file that contains it. Ignores paths below
// `folder`, the recipe's own, which muster.here returns.
std::vector<NameOccurrence> FindOwnNames(const Plan& plan, const std::vector<OwnName>& names,
                                         const std::string& folder);

}  // namespace muster
