// Archive fields of the messages in port_messages.h and of the types that they contain.
#pragma once

#include "wire/archive/archive.h"
#include "wire/protocol/port_messages.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {

template <class A>
void Fields(A& archive, PortRequest& m) {
  archive(AtMost(m.name, protocol_bounds::kName), m.number);
}

template <class A>
void Fields(A& archive, HoldPorts& m) {
  archive(AtMost(m.ports, protocol_bounds::kPorts));
}

template <class A>
void Fields(A& archive, PortsHeld& m) {
  archive(AtMost(m.ports, protocol_bounds::kPorts), Phrase{m.error, protocol_bounds::kPhrase});
}

}  // namespace muster
