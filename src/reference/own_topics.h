// What muster tells about itself for tests and odd kernels: the fault hooks, and the mechanisms of the kernel with what
// stands in for them. Knows the tables of base/system/fault.h and base/system/mechanism.h.
#pragma once

#include "reference/topic.h"

namespace muster {

// Topics "faults" and "mechanisms".
Topics OwnTopics();

}  // namespace muster
