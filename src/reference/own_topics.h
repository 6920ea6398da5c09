// Topics of muster's diagnostics facilities: the fault hooks, and the kernel mechanisms with their substitutes, from
// the tables of base/system/fault.h and base/system/mechanism.h.
#pragma once

#include "reference/page.h"

namespace muster {

// Topics "faults" and "mechanisms".
Topics OwnTopics();

}  // namespace muster
