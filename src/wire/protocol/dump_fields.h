// Archive fields of the messages in dump_messages.h and of the types that they contain.
#pragma once

#include "wire/archive/archive.h"
#include "wire/protocol/dump_messages.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {

template <class A>
void Fields(A& archive, DumpTarget& m) {
  archive(m.process, m.attempt, AtMost(m.path, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, TakeDump& m) {
  archive(m.dump, m.within_ms, AtMost(m.processes, protocol_bounds::kList));
}

}  // namespace muster
