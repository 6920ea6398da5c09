// Archive fields of the messages in sub_agent_messages.h and of the types that they contain.
#pragma once

#include "wire/archive/archive.h"
#include "wire/protocol/protocol_bounds.h"
#include "wire/protocol/sub_agent_messages.h"

namespace muster {

template <class A>
void Fields(A& archive, OpenAgent& m) {
  archive(m.number);
}

template <class A>
void Fields(A& archive, ToAgent& m) {
  archive(m.number, AtMost(m.bytes, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, CloseAgent& m) {
  archive(m.number);
}

template <class A>
void Fields(A& archive, FromAgent& m) {
  archive(m.number, AtMost(m.bytes, kMostPassedOn));
}

template <class A>
void Fields(A& archive, AgentExited& m) {
  archive(m.number, Phrase{m.why, protocol_bounds::kPhrase}, m.killed);
}

}  // namespace muster
