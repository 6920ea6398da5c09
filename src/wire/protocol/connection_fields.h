// Archive fields of the messages in connection_messages.h and of the types that they contain.
#pragma once

#include "wire/archive/archive.h"
#include "wire/protocol/connection_messages.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {

template <class A>
void Fields(A& archive, Hello& m) {
  archive(m.version, AtMost(m.run_id, protocol_bounds::kName), m.host, AtMost(m.logs, protocol_bounds::kText),
          m.lease_ms, AtMost(m.run_dir, protocol_bounds::kText), m.elsewhere, m.usage_ms,
          AtMost(m.device_kind, protocol_bounds::kName));
}

template <class A>
void Fields(A& archive, Finish& m) {
  archive(m.unused);
}

template <class A>
void Fields(A& archive, HeadHeartbeat& m) {
  archive(m.number);
}

template <class A>
void Fields(A& archive, AgentHeartbeat& m) {
  archive(m.number, m.at, m.answered, m.answered_at);
}

template <class A>
void Fields(A& archive, AgentReady& m) {
  archive(m.version, m.pid, m.start_ticks, AtMost(m.host_name, protocol_bounds::kHostName),
          AtMost(m.mechanisms, protocol_bounds::kWords, protocol_bounds::kName),
          AtMost(m.cgroup, protocol_bounds::kPath), m.descriptors, m.memory_kib, m.at,
          AtMost(m.address, protocol_bounds::kHostName), m.shares_run_dir, m.cores);
}

template <class A>
void Fields(A& archive, AgentSignalled& m) {
  archive(m.signal);
}

template <class A>
void Fields(A& archive, AgentFailed& m) {
  archive(Phrase{m.why, protocol_bounds::kPhrase});
}

}  // namespace muster
