// Archive fields of the messages in device_messages.h and of the types that they contain.
#pragma once

#include "wire/archive/archive.h"
#include "wire/protocol/device_messages.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {

template <class A>
void Fields(A& archive, CoreRequest& m) {
  InRange(archive, m.kind, CoreRequest::Kind::kList);
  archive(m.process, m.count, AtMost(m.list, protocol_bounds::kCores), AtMost(m.role, protocol_bounds::kName),
          AtMost(m.devices, protocol_bounds::kList));
}

template <class A>
void Fields(A& archive, AllocateResources& m) {
  archive(AtMost(m.devices, protocol_bounds::kList), m.host_devices, m.any, AtMost(m.given, protocol_bounds::kList),
          m.shared, AtMost(m.kind, protocol_bounds::kName), AtMost(m.whose, protocol_bounds::kText),
          AtMost(m.cores, protocol_bounds::kHostProcesses), m.wait_ms, m.per_device,
          AtMost(m.party, protocol_bounds::kName), AtMost(m.job, protocol_bounds::kName));
}

template <class A>
void Fields(A& archive, ResourcesAllocated& m) {
  archive(AtMost(m.devices, protocol_bounds::kHostDevices, protocol_bounds::kDeviceName),
          AtMost(m.cores, protocol_bounds::kHostProcesses, protocol_bounds::kCores),
          AtMost(m.notes, protocol_bounds::kNotes, protocol_bounds::kPhrase),
          Phrase{m.error, protocol_bounds::kPhrase});
}

}  // namespace muster
