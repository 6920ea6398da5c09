// The fields of every entry of a sweep's journal by name, once for both directions. Part of sweep_journal_line.cc.
//
// a(name, field) is always there; a.Unless(name, field) is left out where the field is what it is in a new entry.
#pragma once

#include "sweep/record/sweep_events.h"

namespace muster {

template <class A>
void JournalFields(A& a, SweepBegan& e) {
  a.Constant("format", 1);
  a("sweep", e.sweep_id), a("name", e.name), a("trials", e.trials), a("pid", e.pid), a("start_ticks", e.start_ticks),
      a("boot", e.boot), a("muster", e.muster), a("recipe", e.recipe), a("accepted", e.accepted);
}
template <class A>
void JournalFields(A& a, PointsJudged& e) {
  a("first", e.first), a("count", e.count), a("impossible", e.impossible);
}
template <class A>
void JournalFields(A& a, PointsJudged::Reason& e) {
  a("text", e.text), a("place", e.place), a("trials", e.trials);
}
template <class A>
void JournalFields(A& a, ResumedFrom& e) {
  a("attempt", e.attempt), a("checkpoint", e.checkpoint);
}
template <class A>
void JournalFields(A& a, AttemptBegan& e) {
  a("trial", e.trial), a("attempt", e.attempt), a("id", e.id), a("point", e.point), a("plan", e.plan),
      a("run", e.run_id), a.Unless("hosts", e.hosts), a.Unless("resumed", e.resumed);
}
template <class A>
void JournalFields(A& a, StopDecision& e) {
  a("rung", e.rung), a("results", e.results), a("rank", e.rank), a("threshold", e.threshold), a("stop", e.stop);
}
template <class A>
void JournalFields(A& a, RungReached& e) {
  a("trial", e.trial), a("attempt", e.attempt), a("resource", e.resource), a("loss", e.loss), a("decision", e.decision);
}
template <class A>
void JournalFields(A& a, MedianStopped& e) {
  a("trial", e.trial), a("attempt", e.attempt), a("resource", e.resource), a("best", e.best), a("finished", e.finished),
      a("median", e.median);
}
template <class A>
void JournalFields(A& a, AttemptEnded& e) {
  a("trial", e.trial), a("attempt", e.attempt), a("class", e.trial_class), a.Unless("interrupted", e.interrupted),
      a.Unless("again", e.again), a.Unless("counted", e.counted, true), a.Unless("blamed", e.blamed),
      a.Unless("why", e.why), a.Unless("loss", e.loss), a.Unless("metrics", e.metrics), a.Unless("losses", e.losses),
      a("ms", e.ms);
}
template <class A>
void JournalFields(A& a, HostQuarantined& e) {
  a("host", e.host), a("why", e.why);
}
template <class A>
void JournalFields(A& a, TrialsReopened& e) {
  a("trials", e.trials);
}
template <class A>
void JournalFields(A& a, SweepEnded& e) {
  a("complete", e.complete), a("why", e.why), a("exit_code", e.exit_code);
}

}  // namespace muster
