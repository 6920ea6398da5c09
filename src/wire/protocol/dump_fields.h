// The fields of the messages of dump_messages.h, and of what they carry, for the archive.
#pragma once

#include "muster/event.h"
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

template <class A>
void Fields(A& archive, StackFrame& m) {
  archive(AtMost(m.function, protocol_bounds::kDumpText), AtMost(m.file, protocol_bounds::kDumpText), m.line);
}

template <class A>
void Fields(A& archive, ThreadState& m) {
  archive(m.tid, m.alike, AtMost(m.name, protocol_bounds::kDumpText), AtMost(m.state, protocol_bounds::kDumpText),
          AtMost(m.wait, protocol_bounds::kDumpText), AtMost(m.call, protocol_bounds::kDumpText),
          AtMost(m.target, protocol_bounds::kDumpText), AtMost(m.frames, protocol_bounds::kDumpFrames));
}

template <class A>
void Fields(A& archive, SystemProcessState& m) {
  archive(m.pid, m.parent, AtMost(m.program, protocol_bounds::kDumpText), m.cpu_ns, m.threads_seen,
          AtMost(m.by, protocol_bounds::kDumpText), AtMost(m.threads, protocol_bounds::kDumpThreads));
}

template <class A>
void Fields(A& archive, ProcessDumped& m) {
  archive(m.dump, m.process, m.attempt, m.log_bytes, m.silent_ms, m.window_ns,
          AtMost(m.states, protocol_bounds::kDumpProcesses), m.at);
}

template <class A>
void Fields(A& archive, DumpNote& m) {
  archive(AtMost(m.kind, protocol_bounds::kName), Phrase{m.detail, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, HostDumped& m) {
  archive(m.host, m.dump, AtMost(m.notes, protocol_bounds::kNotes));
}

}  // namespace muster
