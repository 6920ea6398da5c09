// Archive fields of the messages in start_messages.h and of the types that they contain.
#pragma once

#include "wire/archive/archive.h"
#include "wire/protocol/protocol_bounds.h"
#include "wire/protocol/start_messages.h"

namespace muster {

template <class A>
void Fields(A& archive, HostVariables& m) {
  archive(AtMost(m.take, protocol_bounds::kVariables, protocol_bounds::kName),
          AtMost(m.leave, protocol_bounds::kVariables, protocol_bounds::kName));
}

template <class A>
void Fields(A& archive, DefineEnvironment& m) {
  archive(m.block, AtMost(m.variables, protocol_bounds::kList, protocol_bounds::kText), m.of_host);
}

template <class A>
void Fields(A& archive, PassedText& m) {
  archive(m.number, AtMost(m.content, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, ReadyWhen& m) {
  InRange(archive, m.kind, ReadyWhen::Kind::kCommand);
  archive(m.port, AtMost(m.text, protocol_bounds::kText),
          AtMost(m.argv, protocol_bounds::kList, protocol_bounds::kText), m.every_ms);
}

template <class A>
void Fields(A& archive, StartProcess& m) {
  archive(m.process, m.attempt, AtMost(m.argv, protocol_bounds::kList, protocol_bounds::kText),
          AtMost(m.search_dirs, protocol_bounds::kList, protocol_bounds::kText), AtMost(m.cwd, protocol_bounds::kText),
          m.environment, AtMost(m.env, protocol_bounds::kList, protocol_bounds::kText),
          AtMost(m.log_path, protocol_bounds::kText), m.log_limit,
          AtMost(m.release_ports, protocol_bounds::kPorts, protocol_bounds::kName),
          AtMost(m.own_ports, protocol_bounds::kPorts, protocol_bounds::kName),
          AtMost(m.passed, protocol_bounds::kList), AtMost(m.cores, protocol_bounds::kCores), m.ready, m.pty,
          AtMost(m.remove, protocol_bounds::kList, protocol_bounds::kText),
          AtMost(m.devices, protocol_bounds::kHostDevices, protocol_bounds::kDeviceName));
}

template <class A>
void Fields(A& archive, ProcessAttempt& m) {
  archive(m.process, m.attempt);
}

template <class A>
void Fields(A& archive, StopProcesses& m) {
  archive(AtMost(m.processes, protocol_bounds::kList), m.signal, m.grace_ms);
}

template <class A>
void Fields(A& archive, RequestOutput& m) {
  archive(m.unused);
}

}  // namespace muster
