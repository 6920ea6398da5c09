// The fields of events (muster/event.h), each described once: for messages of agents (wire/archive/archive.h), and for
// the journal (docs/journal.md), which uses these names.
//
// Journal lines have the fields in this order; nested objects are sorted by field name.
#pragma once

#include "muster/event.h"
#include "wire/archive/archive.h"
#include "wire/protocol/protocol.h"

namespace muster {

// --- reported by agents ---------------------------------------------------------------------------

template <class V>
void Fields(V& v, ProcessStarted& e) {
  v("process", e.process), v("attempt", e.attempt), v("pid", e.pid), v("start_ticks", e.start_ticks), v("on", e.at);
}
template <class V>
void Fields(V& v, ProcessReady& e) {
  v("process", e.process), v("attempt", e.attempt), v("on", e.at);
}
template <class V>
void Fields(V& v, FirstOutput& e) {
  v("process", e.process), v("attempt", e.attempt), v("on", e.at);
}
template <class V>
void Fields(V& v, EndEvidence& e) {
  v("process", e.process), v("attempt", e.attempt), v("kind", AtMost(e.kind, protocol_bounds::kName));
  v("detail", Phrase{e.detail, protocol_bounds::kPhrase}), v("on", e.at);
}
template <class V>
void Fields(V& v, PortTaken& e) {
  v("process", e.process), v("attempt", e.attempt), v("port", AtMost(e.port, protocol_bounds::kName));
  v("number", e.number), v("holder", Phrase{e.holder, protocol_bounds::kPhrase}), v("running", e.running);
  v("on", e.at);
}
template <class V>
void Fields(V& v, SpawnFailed& e) {
  v("process", e.process), v("attempt", e.attempt), v("stage", AtMost(e.stage, protocol_bounds::kName));
  v("error", e.error), v("detail", Phrase{e.detail, protocol_bounds::kPhrase}), v("on", e.at);
}
template <class V>
void Fields(V& v, ProcessExited& e) {
  v("process", e.process), v("attempt", e.attempt), v("signalled", e.signalled), v("code", e.code);
  v("core_dumped", e.core_dumped), v("user_us", e.user_us), v("system_us", e.system_us);
  v("max_rss_kib", e.max_rss_kib), v("on", e.at);
}
template <class V>
void Fields(V& v, SignalSent& e) {
  v("process", e.process), v("attempt", e.attempt), v("signal", e.signal), v("error", e.error), v("on", e.at);
}
template <class V>
void Fields(V& v, PtyOpened& e) {
  v("process", e.process), v("attempt", e.attempt), v("on", e.at);
}
template <class V>
void Fields(V& v, PtyClosed& e) {
  v("process", e.process), v("attempt", e.attempt), v("bytes", e.bytes), v("unlogged", e.unlogged), v("on", e.at);
}
template <class V>
void Fields(V& v, OutputSeen& e) {
  v("host", e.host), v("processes", AtMost(e.processes, protocol_bounds::kHostProcesses));
  v("bytes", AtMost(e.bytes, protocol_bounds::kHostProcesses));
}
template <class V>
void Fields(V& v, StackFrame& e) {
  v("file", AtMost(e.file, protocol_bounds::kDumpText)), v("function", AtMost(e.function, protocol_bounds::kDumpText));
  v("line", e.line);
}
template <class V>
void Fields(V& v, ThreadState& e) {
  v("alike", e.alike), v("call", AtMost(e.call, protocol_bounds::kDumpText));
  v("frames", AtMost(e.frames, protocol_bounds::kDumpFrames)), v("name", AtMost(e.name, protocol_bounds::kDumpText));
  v("state", AtMost(e.state, protocol_bounds::kDumpText)), v("target", AtMost(e.target, protocol_bounds::kDumpText));
  v("tid", e.tid), v("wait", AtMost(e.wait, protocol_bounds::kDumpText));
}
template <class V>
void Fields(V& v, SystemProcessState& e) {
  v("by", AtMost(e.by, protocol_bounds::kDumpText)), v("cpu_ns", e.cpu_ns), v("parent", e.parent), v("pid", e.pid);
  v("program", AtMost(e.program, protocol_bounds::kDumpText));
  v("threads", AtMost(e.threads, protocol_bounds::kDumpThreads)), v("threads_seen", e.threads_seen);
}
template <class V>
void Fields(V& v, ProcessDumped& e) {
  v("dump", e.dump), v("process", e.process), v("attempt", e.attempt), v("log_bytes", e.log_bytes);
  v("silent_ms", e.silent_ms), v("window_ns", e.window_ns);
  v("states", AtMost(e.states, protocol_bounds::kDumpProcesses)), v("on", e.at);
}
template <class V>
void Fields(V& v, DumpNote& e) {
  v("detail", Phrase{e.detail, protocol_bounds::kPhrase}), v("kind", AtMost(e.kind, protocol_bounds::kName));
}
template <class V>
void Fields(V& v, HostDumped& e) {
  v("host", e.host), v("dump", e.dump), v("notes", AtMost(e.notes, protocol_bounds::kNotes));
}
template <class V>
void Fields(V& v, DevicesAwaited& e) {
  v("host", e.host), v("count", e.count), v("holders", Phrase{e.holders, protocol_bounds::kPhrase});
}
template <class V>
void Fields(V& v, AgentEmpty& e) {
  v("host", e.host), v("started", e.started), v("reaped", e.reaped), v("adopted", e.adopted);
  v("by", AtMost(e.by, protocol_bounds::kWords, protocol_bounds::kName)), v("descriptors", e.descriptors);
  v("memory_kib", e.memory_kib);
}
// Not an event, but journalled like one.
template <class V>
void Fields(V& v, HostActivated& e) {
  v("host", e.host), v("set", AtMost(e.set, protocol_bounds::kVariables, protocol_bounds::kEnvironment,
                                     protocol_bounds::kEnvironment));
  v("unset", AtMost(e.unset, protocol_bounds::kVariables, protocol_bounds::kEnvironment)), v("took_ms", e.took_ms),
      v("failed_step", e.failed_step);
  v("error", Phrase{e.error, protocol_bounds::kPhrase});
}

// --- determined by the head or added by the session -----------------------------------------------

template <class V>
void Fields(V& v, AgentLost& e) {
  v("host", e.host), v("why", e.why), v("killed", e.killed), v("unheard_ms", MayBeMissing(e.unheard_ms));
}
template <class V>
void Fields(V& v, ClockCompared& e) {
  v("host", e.host), v("offset_ns", e.offset_ns), v("error_ns", e.error_ns);
}
template <class V>
void Fields(V& v, StopRequested& e) {
  v("times", e.times), v("signal", e.signal), v("dump", e.dump), v("why", As<UnlessNone>(e.why));
}
template <class V>
void Fields(V& v, PlanRebound& e) {
  v("ports", e.ports), v("error", e.error);
}
template <class V>
void Fields(V& v, HostReplaced& e) {
  v("host", e.host), v("by", e.by), v("name", e.name), v("address", e.address), v("devices", e.devices);
  v("ports", e.ports), v("cores", e.cores), v("error", e.error);
}
template <class V>
void Fields(V& v, DeadlinePassed& e) {
  v("timer", e.timer);
}
template <class V>
void Fields(V& v, CheckpointSeen& e) {
  v("path", e.path), v("run", e.run), v("age_ms", MayBeMissing(e.age_ms));
}
template <class V>
void Fields(V&, DumpRequested&) {}

}  // namespace muster
