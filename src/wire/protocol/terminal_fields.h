// Archive fields of the messages in terminal_messages.h and of the types that they contain.
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
