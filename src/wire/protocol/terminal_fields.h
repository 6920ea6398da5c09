// The fields of the messages of terminal_messages.h, and of what they carry, for the archive.
#pragma once

#include "wire/archive/archive.h"
#include "wire/protocol/terminal_messages.h"

namespace muster {

template <class A>
void Fields(A& archive, PtySize& m) {
  archive(m.rows, m.columns);
}

template <class A>
void Fields(A& archive, PtyBytes& m) {
  archive(m.process, m.attempt, AtMost(m.bytes, kMaxPtyRest));
}

template <class A>
void Fields(A& archive, PtyTaken& m) {
  archive(m.process, m.attempt, m.count);
}

template <class A>
void Fields(A& archive, PtyResized& m) {
  archive(m.process, m.attempt, m.size);
}

}  // namespace muster
