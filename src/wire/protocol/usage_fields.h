// Archive fields of the messages in usage_messages.h and of the types that they contain.
#pragma once

#include "wire/archive/archive.h"
#include "wire/protocol/protocol_bounds.h"
#include "wire/protocol/usage_messages.h"

namespace muster {

template <class A>
void Fields(A& archive, ProcessUsage& m) {
  archive(m.process, m.attempt, m.running_ms, m.cpu_ms, m.memory_kib, m.device_kib);
}

template <class A>
void Fields(A& archive, UsageSampled& m) {
  archive(AtMost(m.processes, protocol_bounds::kHostProcesses));
}

}  // namespace muster
