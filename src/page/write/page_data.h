// Writes a page as data for its scripts (web/model.js reads it): small things as JSON, the points of curves as 32-bit
// floats, little endian, in base64.
//
//   format 1; kind "sweep" | "run" | "compare"; title; made (UTC); muster (version); live; now (seconds)
//   sources     facts about each run and sweep: kind, label, name, id, dir, state, …; of sweeps objective, counts,
//               classes, best, rungs, reasons, causes, quarantined, importance, distinction, setup
//   keys        of the rows: "SOURCE:TRIAL", "SOURCE:ROLE.INDEX" (a process), "SOURCE:" (a run)
//   columns     [{name, label, role, scale, list, unit, domain, choices, values}]; values by row, null: none
//   attempts    [{row, attempt, from, to, class, host, devices}] of trials; `to` null: running
//   curves      {x, metrics, series: [[row, metric, offset, length, total, starts]], bad: {series: [x]}}: `length`
//               floats of x from `offset` on, then as many of y; `total` points before down-sampling
//   differences [{name, values by source, differ}]
//   run         of one run: outcome, lanes, phases, marks, startup, failure, usage, plan, logs, …
//
// A change of an open page is muster.update(patch) with {sources, attempts, made, live, run}, each replacing the old
// one and each optional; rows: [{key, values: {column: value}}], new or changed; curves: [{key, metric, x: [], y: [],
// bad: [], total, replace}], points to append, or instead of the old ones.
#pragma once

#include <string>

#include "page/collect/page_content.h"

namespace muster {

struct PageData {
  std::string json;    // one line; safe within <script>: no "<"
  std::string floats;  // base64
};

PageData PageDataOf(const PageContent& page);

// The text with every "<" as \u003c: JSON that cannot end the element that it is in.
std::string SafeInScript(std::string json);

}  // namespace muster
