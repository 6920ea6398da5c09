// Archive fields of the messages in inspection_messages.h and of the types that they contain.
#pragma once

#include "muster/host_facts.h"
#include "wire/archive/archive.h"
#include "wire/protocol/inspection_messages.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {

template <class A>
void Fields(A& archive, FolderQuery& m) {
  archive(AtMost(m.what, protocol_bounds::kText), AtMost(m.path, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, ProgramQuery& m) {
  archive(AtMost(m.name, protocol_bounds::kText), AtMost(m.search_path, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, Inspect& m) {
  archive(AtMost(m.places, protocol_bounds::kFacts), AtMost(m.programs, protocol_bounds::kFacts),
          AtMost(m.pythons, protocol_bounds::kFacts, protocol_bounds::kText),
          AtMost(m.packages, protocol_bounds::kFacts, protocol_bounds::kText),
          AtMost(m.variables, protocol_bounds::kFacts, protocol_bounds::kText),
          AtMost(m.environment, protocol_bounds::kList, protocol_bounds::kText),
          AtMost(m.search_dirs, protocol_bounds::kList, protocol_bounds::kText), AtMost(m.cwd, protocol_bounds::kText),
          m.trials, m.within_ms);
}

template <class A>
void Fields(A& archive, LimitFact& m) {
  archive(AtMost(m.name, protocol_bounds::kName), m.soft, m.hard);
}

template <class A>
void Fields(A& archive, DiskFact& m) {
  archive(AtMost(m.what, protocol_bounds::kPhrase), AtMost(m.path, protocol_bounds::kPhrase),
          AtMost(m.kind, protocol_bounds::kName), m.bytes, m.free_bytes, m.inodes, m.free_inodes,
          Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, ProgramFact& m) {
  archive(AtMost(m.name, protocol_bounds::kPhrase), AtMost(m.path, protocol_bounds::kPhrase),
          Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, PythonFact& m) {
  archive(AtMost(m.program, protocol_bounds::kPhrase), AtMost(m.version, protocol_bounds::kPhrase),
          AtMost(m.packages, protocol_bounds::kFacts, protocol_bounds::kPhrase, protocol_bounds::kPhrase),
          Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, HostCheck& m) {
  archive(AtMost(m.kind, protocol_bounds::kName), AtMost(m.what, protocol_bounds::kPhrase),
          Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, HostFacts& m) {
  archive(
      AtMost(m.muster, protocol_bounds::kPhrase), AtMost(m.system, protocol_bounds::kPhrase),
      AtMost(m.kernel, protocol_bounds::kPhrase), AtMost(m.machine, protocol_bounds::kPhrase), m.root, m.cores,
      m.memory_bytes, AtMost(m.drivers, protocol_bounds::kWords, protocol_bounds::kName, protocol_bounds::kPhrase),
      AtMost(m.device_kind, protocol_bounds::kName), m.devices,
      AtMost(m.addresses, protocol_bounds::kFacts, protocol_bounds::kHostName),
      AtMost(m.limits, protocol_bounds::kWords),
      AtMost(m.variables, protocol_bounds::kVariables, protocol_bounds::kEnvironment, protocol_bounds::kEnvironment),
      AtMost(m.disks, protocol_bounds::kFacts), AtMost(m.programs, protocol_bounds::kFacts),
      AtMost(m.pythons, protocol_bounds::kFacts), AtMost(m.trials, protocol_bounds::kFacts));
}

template <class A>
void Fields(A& archive, Inspected& m) {
  archive(m.facts, Phrase{m.error, protocol_bounds::kPhrase}, m.asked_at, m.answered_at);
}

template <class A>
void Fields(A& archive, OpenPaths& m) {
  archive(AtMost(m.ports, protocol_bounds::kPorts));
}

template <class A>
void Fields(A& archive, PathTarget& m) {
  archive(AtMost(m.address, protocol_bounds::kHostName), m.port);
}

template <class A>
void Fields(A& archive, ProbePaths& m) {
  archive(AtMost(m.targets, kMostPathTargets), m.within_ms);
}

template <class A>
void Fields(A& archive, ClosePaths& m) {
  archive(m.unused);
}

template <class A>
void Fields(A& archive, PathsOpen& m) {
  archive(m.port, Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, PathsProbed& m) {
  archive(AtMost(m.errors, kMostPathTargets, protocol_bounds::kPhrase));
}

}  // namespace muster
