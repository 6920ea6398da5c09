// Writes a page as data for its scripts (web/model.js reads it): small things as JSON, points as floats in Base64
// (RFC 4648).
#pragma once

#include <string>
#include <string_view>

#include "page/collect/page_content.h"

namespace muster {

// Base64 (RFC 4648, section 4), with padding.
std::string Base64(std::string_view bytes);

// Writes a page as data for its scripts (web/model.js reads it): small things as JSON, the points of curves as bytes in
// base64.
//
//   format 1; kind "sweep" | "run" | "compare"; title; made (UTC); muster (version); live; now (seconds)
//   sources     facts about each run and sweep: kind, label, name, id, dir, state, …; of sweeps objective, counts,
//               classes, best, points (of repeated ones), rungs, reasons, causes, quarantined, importance,
//               distinction, setup
//   keys        of the rows: "SOURCE:TRIAL", "SOURCE:ROLE.INDEX" (a process), "SOURCE:" (a run)
//   columns     [{name, label, role, scale, list, unit, domain, choices, values}]; values by row, null: none
//   attempts    [{row, attempt, from, to, class, host, devices}] of trials; `to` null: running
//   curves      {x, metrics, metrics_left_out, series: [[row, metric, offset, length, total, even, starts]], bad:
//   {series: [x]},
//               bad_points: {series: count}}: `length` points from byte `offset` on, of `total` before thinning out.
//               First y, as 32-bit floats, little endian; then x in the same way, unless `even` is [first, step]: then
//               x is `first` + `step` times the number of points before it. If points were left out: for each point how
//               many before it (LEB128), then, where there are any, their mean minus y: the upper three bytes of a
//               32-bit float. `bad_points`: how many x there are, where `bad` has only the first ones
//   differences [{name, values by source, differ}]
//   run         of one run: outcome, lanes, phases, marks, startup, failure, usage, plan, logs, …
//
// A change of an open page is muster.update(patch) with {sources, attempts, made, live, run}, each replacing the old
// one and each optional; rows: [{key, values: {column: value}}], new or changed; curves: [{key, metric, x: [], y: [],
// left_out: [], mean: [], bad: [], total, replace}], points to append, or instead of the old ones; `left_out` and
// `mean` are optional.

struct PageData {
  std::string json;    // one line; safe within <script>: no "<"
  std::string floats;  // the points of curves, base64
};

PageData PageDataOf(const PageContent& page);

// The text with every "<" as \u003c: JSON that cannot end the element that it is in.
std::string SafeInScript(std::string json);

}  // namespace muster
