// Describes the fields of the records that the head adds to the events of a run, once for all uses in the journal
// (docs/journal.md). Fields of events: wire/protocol/event_fields.h.
//
// Lines have the fields in this order; members of nested objects are in the order of their names.
#pragma once

#include "run/journal/head_facts.h"
#include "wire/archive/field_forms.h"

namespace muster {

template <class V>
void Fields(V& v, RunBegan& e) {
  v("format", e.format), v("run", e.run_id), v("plan", e.plan_id), v("name", e.name), v("pid", e.pid),
      v("pass_exit_code", e.pass_exit_code), v("plan_ns", e.plan_ns), v("evaluate_ns", e.evaluate_ns),
      v("start_ticks", e.start_ticks), v("boot", e.boot), v("lockdown", e.lockdown), v("parent", e.parent),
      v("tags", e.tags), v("descriptors", e.descriptors), v("memory_kib", e.memory_kib), v("rehearsal", e.rehearsal);
}
template <class V>
void Fields(V& v, AgentConnected& e) {
  v("host", e.host), v("pid", e.pid), v("start_ticks", e.start_ticks), v("host_name", e.host_name),
      v("mechanisms", e.mechanisms), v("cgroup", e.cgroup), v("descriptors", e.descriptors),
      v("memory_kib", e.memory_kib);
}
template <class V>
void Fields(V& v, PlanBound& e) {
  v("run_dir", e.run_dir), v("hosts", e.hosts), v("ports", e.ports), v("cores", e.cores);
}
template <class V>
void Fields(V& v, HostBinding& e) {
  v("address", e.address), v("devices", e.devices), v("name", e.name);
}
template <class V>
void Fields(V& v, PreparationFailed& e) {
  v("why", e.why);
}
template <class V>
void Fields(V& v, StartOrdered& e) {
  v("process", e.process), v("attempt", e.attempt);
}
template <class V>
void Fields(V& v, StopOrdered& e) {
  v("processes", e.processes), v("signal", e.signal), v("grace_ms", e.grace_ms);
}
template <class V>
void Fields(V& v, PhaseChanged& e) {
  v("from", WithNames(e.from, kPhaseNames)), v("to", WithNames(e.to, kPhaseNames));
}
template <class V>
void Fields(V& v, FirstFailure& e) {
  v("process", e.process), v("attempt", e.attempt);
}
template <class V>
void Fields(V& v, FailureTraced& e) {
  v("process", e.process), v("attempt", e.attempt);
}
template <class V>
void Fields(V& v, RestartPlanned& e) {
  v("process", e.process), v("attempt", e.attempt), v("scope", e.scope), v("processes", e.processes),
      v("count", e.count), v("max", e.max), v("delay_ms", e.delay_ms), v("why", e.why);
}
template <class V>
void Fields(V& v, LimitPassed& e) {
  v("process", e.process), v("attempt", e.attempt), v("limit", e.limit), v("ms", e.ms);
}
template <class V>
void Fields(V&, RebindOrdered&) {}
template <class V>
void Fields(V& v, EndedEarly& e) {
  v("process", e.process), v("attempt", e.attempt);
}
template <class V>
void Fields(V& v, StrayEvent& e) {
  v("what", e.what);
}
template <class V>
void Fields(V& v, HostStray& e) {
  v("host", e.host), v("what", e.what);
}
template <class V>
void Fields(V& v, EngineAnswered& e) {
  v("host", e.host), v("what", e.what);
}
template <class V>
void Fields(V&, FinishOrdered&) {}
template <class V>
void Fields(V& v, RunEnded& e) {
  v("cause", WithNames(e.cause, kCauseNames)), v("exit_code", e.exit_code), v("why", e.why),
      v("descriptors", e.descriptors), v("memory_kib", e.memory_kib);
}
template <class V>
void Fields(V& v, HostReached& e) {
  v("host", e.host), v("name", e.name), v("address", e.address), v("shares_run_dir", e.shares_run_dir);
}
template <class V>
void Fields(V& v, HostFault& e) {
  v("hint", e.hint), v("hosts", e.hosts), v("kind", e.kind), v("text", e.text);
}
template <class V>
void Fields(V& v, HostVariant& e) {
  v("hosts", e.hosts), v("value", e.value);
}
template <class V>
void Fields(V& v, HostDifference& e) {
  v("subject", e.subject), v("variants", e.variants);
}
template <class V>
void Fields(V& v, HostsCompared& e) {
  v("faults", e.faults), v("differences", e.differences);
}
template <class V>
void Fields(V& v, PathFailure& e) {
  v("from", e.from), v("number", e.number), v("port", e.port), v("to", e.to), v("why", e.why);
}
template <class V>
void Fields(V& v, PathsCompared& e) {
  v("tried", e.tried), v("faults", e.faults);
}
template <class V>
void Fields(V& v, CodeShipped& e) {
  v("host", e.host), v("hash", e.hash), v("from", e.from), v("folder", e.folder), v("files", e.files),
      v("bytes", e.bytes), v("sent", e.sent);
}
template <class V>
void Fields(V& v, CodeSeen& e) {
  v("folder", e.folder), v("commit", e.commit), v("branch", e.branch), v("changed", e.changed),
      v("untracked", e.untracked), v("names", e.names);
}
template <class V>
void Fields(V& v, DumpOrdered& e) {
  v("dump", e.dump), v("why", e.why);
}
template <class V>
void Fields(V& v, DumpEnded& e) {
  v("dump", e.dump), v("complete", e.complete);
}
template <class V>
void Fields(V& v, ReplaceOrdered& e) {
  v("host", e.host), v("by", e.by);
}

}  // namespace muster
