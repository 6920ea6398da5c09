// The fields of every entry of a sweep's journal, each described once: for the journal (docs/sweeps.md), and, for the
// entries that SweepProgress stores, for the archive (sweep_progress_archive.h).
#pragma once

#include "run/lines/json_lines.h"
#include "sweep/record/sweep_events.h"

namespace muster {

template <class V>
void Fields(V& v, SweepBegan& e) {
  std::uint64_t format = 1;
  v("format", format);
  if constexpr (V::kReading) {
    if (format != 1) return v.Fail();
  }
  v("sweep", e.sweep_id), v("name", e.name), v("trials", e.trials), v("pid", e.pid), v("start_ticks", e.start_ticks),
      v("boot", e.boot), v("muster", e.muster), v("recipe", e.recipe), v("accepted", e.accepted);
}
template <class V>
void Fields(V& v, PointsJudged& e) {
  v("first", e.first), v("count", e.count), v("impossible", e.impossible);
}
template <class V>
void Fields(V& v, PointsJudged::Reason& e) {
  v("text", e.text), v("place", e.place), v("trials", e.trials);
}
template <class V>
void Fields(V& v, ResumedFrom& e) {
  v("attempt", e.attempt), v("checkpoint", e.checkpoint);
}
template <class V>
void Fields(V& v, AttemptBegan& e) {
  v("trial", e.trial), v("attempt", e.attempt), v("id", e.id), v("point", e.point), v("plan", e.plan),
      v("run", e.run_id), v("hosts", As<UnlessNone>(e.hosts)), v("resumed", As<UnlessNone>(e.resumed)),
      v("job", As<UnlessNone>(e.job));
}
template <class V>
void Fields(V& v, StopDecision& e) {
  v("rung", e.rung), v("results", e.results), v("rank", e.rank), v("threshold", e.threshold), v("stop", e.stop);
}
template <class V>
void Fields(V& v, RungReached& e) {
  v("trial", e.trial), v("attempt", e.attempt), v("resource", e.resource), v("loss", e.loss), v("decision", e.decision);
}
template <class V>
void Fields(V& v, MedianStopped& e) {
  v("trial", e.trial), v("attempt", e.attempt), v("resource", e.resource), v("best", e.best), v("finished", e.finished),
      v("median", e.median);
}
template <class V>
void Fields(V& v, AttemptEnded& e) {
  v("trial", e.trial), v("attempt", e.attempt), v("class", WithNames(e.trial_class, kTrialClassNames)),
      v("interrupted", As<UnlessNone>(e.interrupted)), v("again", As<UnlessNone>(e.again)),
      v("counted", As<UnlessTrue>(e.counted)), v("blamed", As<UnlessNone>(e.blamed)), v("why", As<UnlessNone>(e.why)),
      v("loss", As<UnlessNone>(e.loss)), v("metrics", As<UnlessNone>(e.metrics)), v("losses", As<UnlessNone>(e.losses)),
      v("ms", e.ms);
}
template <class V>
void Fields(V& v, HostQuarantined& e) {
  v("host", e.host), v("why", e.why);
}
template <class V>
void Fields(V& v, TrialsReopened& e) {
  v("trials", e.trials);
}
template <class V>
void Fields(V& v, SweepSteered& e) {
  v("trials", As<UnlessNone>(e.trials)), v("max_trials", As<UnlessNone>(e.max_trials)),
      v("slots", As<UnlessNone>(e.slots));
}
template <class V>
void Fields(V& v, SweepEnded& e) {
  v("complete", e.complete), v("why", e.why), v("exit_code", e.exit_code);
}

}  // namespace muster
