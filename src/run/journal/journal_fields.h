// The fields of every journal entry by name, once for both directions: JournalFields(archive, entry) is called
// with a writer or a reader (journal.cc). Part of journal.cc.
#pragma once

#include "run/journal/head_facts.h"
#include "run/journal/journal.h"
#include "wire/protocol/activation_messages.h"

namespace muster {

template <class A>
void JournalFields(A& a, RunBegan& e) {
  a("format", e.format), a("run", e.run_id), a("plan", e.plan_id), a("name", e.name), a("pid", e.pid),
      a("pass_exit_code", e.pass_exit_code), a("plan_ns", e.plan_ns), a("evaluate_ns", e.evaluate_ns),
      a("start_ticks", e.start_ticks), a("boot", e.boot), a("lockdown", e.lockdown), a("parent", e.parent),
      a("tags", e.tags), a("descriptors", e.descriptors), a("memory_kib", e.memory_kib), a("rehearsal", e.rehearsal);
}
template <class A>
void JournalFields(A& a, AgentConnected& e) {
  a("host", e.host), a("pid", e.pid), a("start_ticks", e.start_ticks), a("host_name", e.host_name),
      a("mechanisms", e.mechanisms), a("cgroup", e.cgroup), a("descriptors", e.descriptors),
      a("memory_kib", e.memory_kib);
}
template <class A>
void JournalFields(A& a, HostActivated& e) {
  a("host", e.host), a("set", e.set), a("unset", e.unset), a("took_ms", e.took_ms), a("failed_step", e.failed_step),
      a("error", e.error);
}
template <class A>
void JournalFields(A& a, PlanBound& e) {
  a("run_dir", e.run_dir), a("hosts", e.hosts), a("ports", e.ports), a("cores", e.cores);
}
template <class A>
void JournalFields(A& a, HostBinding& e) {
  a("name", e.name), a("address", e.address), a("devices", e.devices);
}
template <class A>
void JournalFields(A& a, PreparationFailed& e) {
  a("why", e.why);
}
template <class A>
void JournalFields(A& a, StartOrdered& e) {
  a("process", e.process), a("attempt", e.attempt);
}
template <class A>
void JournalFields(A& a, StopOrdered& e) {
  a("processes", e.processes), a("signal", e.signal), a("grace_ms", e.grace_ms);
}
template <class A>
void JournalFields(A& a, PhaseChanged& e) {
  a("from", e.from), a("to", e.to);
}
template <class A>
void JournalFields(A& a, FirstFailure& e) {
  a("process", e.process), a("attempt", e.attempt);
}
template <class A>
void JournalFields(A& a, FailureTraced& e) {
  a("process", e.process), a("attempt", e.attempt);
}
template <class A>
void JournalFields(A& a, RestartPlanned& e) {
  a("process", e.process), a("attempt", e.attempt), a("scope", e.scope), a("processes", e.processes),
      a("count", e.count), a("max", e.max), a("delay_ms", e.delay_ms), a("why", e.why);
}
template <class A>
void JournalFields(A& a, LimitPassed& e) {
  a("process", e.process), a("attempt", e.attempt), a("limit", e.limit), a("ms", e.ms);
}
template <class A>
void JournalFields(A& a, ProcessReady& e) {
  a("process", e.process), a("attempt", e.attempt), a("on", e.at);
}
template <class A>
void JournalFields(A& a, OutputSeen& e) {
  a("host", e.host), a("processes", e.processes), a("bytes", e.bytes);
}
template <class A>
void JournalFields(A& a, FirstOutput& e) {
  a("process", e.process), a("attempt", e.attempt), a("on", e.at);
}
template <class A>
void JournalFields(A& a, EndEvidence& e) {
  a("process", e.process), a("attempt", e.attempt), a("kind", e.kind), a("detail", e.detail), a("on", e.at);
}
template <class A>
void JournalFields(A& a, PortTaken& e) {
  a("process", e.process), a("attempt", e.attempt), a("port", e.port), a("number", e.number), a("holder", e.holder),
      a("running", e.running), a("on", e.at);
}
template <class A>
void JournalFields(A&, RebindOrdered&) {}
template <class A>
void JournalFields(A& a, PlanRebound& e) {
  a("ports", e.ports), a("error", e.error);
}
template <class A>
void JournalFields(A& a, EndedEarly& e) {
  a("process", e.process), a("attempt", e.attempt);
}
template <class A>
void JournalFields(A& a, StrayEvent& e) {
  a("what", e.what);
}
template <class A>
void JournalFields(A& a, HostStray& e) {
  a("host", e.host), a("what", e.what);
}
template <class A>
void JournalFields(A&, FinishOrdered&) {}
template <class A>
void JournalFields(A& a, CheckpointSeen& e) {
  a("path", e.path), a("run", e.run);
}
template <class A>
void JournalFields(A& a, DevicesAwaited& e) {
  a("host", e.host), a("count", e.count), a("holders", e.holders);
}
template <class A>
void JournalFields(A&, DumpRequested&) {}
template <class A>
void JournalFields(A& a, RunEnded& e) {
  a("cause", e.cause), a("exit_code", e.exit_code), a("why", e.why), a("descriptors", e.descriptors),
      a("memory_kib", e.memory_kib);
}
template <class A>
void JournalFields(A& a, ProcessStarted& e) {
  a("process", e.process), a("attempt", e.attempt), a("pid", e.pid), a("start_ticks", e.start_ticks), a("on", e.at);
}
template <class A>
void JournalFields(A& a, SpawnFailed& e) {
  a("process", e.process), a("attempt", e.attempt), a("stage", e.stage), a("error", e.error), a("detail", e.detail),
      a("on", e.at);
}
template <class A>
void JournalFields(A& a, ProcessExited& e) {
  a("process", e.process), a("attempt", e.attempt), a("signalled", e.signalled), a("code", e.code),
      a("core_dumped", e.core_dumped), a("user_us", e.user_us), a("system_us", e.system_us),
      a("max_rss_kib", e.max_rss_kib), a("on", e.at);
}
template <class A>
void JournalFields(A& a, SignalSent& e) {
  a("process", e.process), a("attempt", e.attempt), a("signal", e.signal), a("error", e.error), a("on", e.at);
}
template <class A>
void JournalFields(A& a, PtyOpened& e) {
  a("process", e.process), a("attempt", e.attempt), a("on", e.at);
}
template <class A>
void JournalFields(A& a, PtyClosed& e) {
  a("process", e.process), a("attempt", e.attempt), a("bytes", e.bytes), a("unlogged", e.unlogged), a("on", e.at);
}
template <class A>
void JournalFields(A& a, AgentEmpty& e) {
  a("host", e.host), a("started", e.started), a("reaped", e.reaped), a("adopted", e.adopted), a("by", e.by),
      a("descriptors", e.descriptors), a("memory_kib", e.memory_kib);
}
template <class A>
void JournalFields(A& a, HostReached& e) {
  a("host", e.host), a("name", e.name), a("address", e.address), a("shares_run_dir", e.shares_run_dir);
}
template <class A>
void JournalFields(A& a, HostFault& e) {
  a("kind", e.kind), a("text", e.text), a("hint", e.hint), a("hosts", e.hosts);
}
template <class A>
void JournalFields(A& a, HostVariant& e) {
  a("value", e.value), a("hosts", e.hosts);
}
template <class A>
void JournalFields(A& a, HostDifference& e) {
  a("subject", e.subject), a("variants", e.variants);
}
template <class A>
void JournalFields(A& a, HostsCompared& e) {
  a("faults", e.faults), a("differences", e.differences);
}
template <class A>
void JournalFields(A& a, PathFault& e) {
  a("from", e.from), a("to", e.to), a("port", e.port), a("number", e.number), a("why", e.why);
}
template <class A>
void JournalFields(A& a, PathsCompared& e) {
  a("tried", e.tried), a("faults", e.faults);
}
template <class A>
void JournalFields(A& a, CodeShipped& e) {
  a("host", e.host), a("hash", e.hash), a("from", e.from), a("folder", e.folder), a("files", e.files),
      a("bytes", e.bytes), a("sent", e.sent);
}
template <class A>
void JournalFields(A& a, CodeSeen& e) {
  a("folder", e.folder), a("commit", e.commit), a("branch", e.branch), a("changed", e.changed),
      a("untracked", e.untracked), a("names", e.names);
}
template <class A>
void JournalFields(A& a, ClockCompared& e) {
  a("host", e.host), a("offset_ns", e.offset_ns), a("error_ns", e.error_ns);
}
template <class A>
void JournalFields(A& a, AgentLost& e) {
  a("host", e.host), a("why", e.why), a("killed", e.killed);
}
template <class A>
void JournalFields(A& a, StopRequested& e) {
  a("times", e.times), a("signal", e.signal), a("dump", e.dump);
}
template <class A>
void JournalFields(A& a, StackFrame& e) {
  a("function", e.function), a("file", e.file), a("line", e.line);
}
template <class A>
void JournalFields(A& a, ThreadState& e) {
  a("tid", e.tid), a("alike", e.alike), a("name", e.name), a("state", e.state), a("wait", e.wait), a("call", e.call),
      a("target", e.target), a("frames", e.frames);
}
template <class A>
void JournalFields(A& a, SystemProcessState& e) {
  a("pid", e.pid), a("parent", e.parent), a("program", e.program), a("cpu_ns", e.cpu_ns),
      a("threads_seen", e.threads_seen), a("by", e.by), a("threads", e.threads);
}
template <class A>
void JournalFields(A& a, ProcessDumped& e) {
  a("dump", e.dump), a("process", e.process), a("attempt", e.attempt), a("log_bytes", e.log_bytes),
      a("silent_ms", e.silent_ms), a("window_ns", e.window_ns), a("states", e.states), a("on", e.at);
}
template <class A>
void JournalFields(A& a, DumpNote& e) {
  a("kind", e.kind), a("detail", e.detail);
}
template <class A>
void JournalFields(A& a, HostDumped& e) {
  a("host", e.host), a("dump", e.dump), a("notes", e.notes);
}
template <class A>
void JournalFields(A& a, DumpOrdered& e) {
  a("dump", e.dump), a("why", e.why);
}
template <class A>
void JournalFields(A& a, DumpEnded& e) {
  a("dump", e.dump), a("complete", e.complete);
}
template <class A>
void JournalFields(A& a, ReplaceOrdered& e) {
  a("host", e.host), a("by", e.by);
}
template <class A>
void JournalFields(A& a, HostReplaced& e) {
  a("host", e.host), a("by", e.by), a("name", e.name), a("address", e.address), a("devices", e.devices),
      a("ports", e.ports), a("cores", e.cores), a("error", e.error);
}
template <class A>
void JournalFields(A& a, DeadlinePassed& e) {
  a("timer", e.timer);
}

}  // namespace muster
