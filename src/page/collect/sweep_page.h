// Collects the page of a sweep: its set-up, its trials with parameters, results and curves, what distinguishes the
// best ones, and what ran where.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "page/collect/page_content.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

// Reads the axes of a sweep's space from the description in sweep.json, for the scales of plots.

struct SpaceAxis {
  bool log = false;
  bool whole = false;
  std::optional<std::pair<double, double>> domain;
  std::vector<Value> choices;  // of axes that list their values
};

// By name. `space`: the member "space" of the description; whatever it is, other axes and unknown members are omitted.
std::map<std::string, SpaceAxis> SpaceAxes(const Value& space);

// The points of a sweep that repeats its points, with what their repetitions say together (PointGroupsOf): {seed,
// count, median, total, points: [{point, trials, results, value, deviation, ranked}]}, of these the best
// kMaxPageGroups; null if it does not.
inline constexpr std::size_t kMaxPageGroups = 200;
Value PagePoints(const SweepProgress& progress, const std::optional<Objective>& objective);

// Analyses the trials of a sweep's page: scales of parameters, their importance, what distinguishes the best trials,
// and causes of failures.

// The name of a column for a parameter or metric of that name: with the role in front if the name belongs to a fact, or
// to a column of another role ("metric.state").
std::string OwnName(const PageContent& page, const std::string& name, const std::string& role);

// Scales and choices of parameters, by the sweep's space.
void ScaleColumns(const std::map<std::string, SpaceAxis>& axes, PageContent& page);

// Adds "importance", "distinction" and "causes" of the rows from `first` on to the facts about their sweep.
void AddAnalysis(const PageContent& page, std::size_t first, const std::map<std::string, SpaceAxis>& axes,
                 bool maximize, Value::Map& source);

// Records a parameter of a source, for the comparison of several: missing ones are null.
void AddDifference(PageContent& page, std::size_t source, const std::string& name, Value value);
// The parameters that differ first, each with the mark "differ"; all with a value for each source.
void FinishDifferences(PageContent& page);

// Collects the page of a sweep: its trials with parameters, results and curves, what ran where, failures, rungs and the
// importance of parameters. Reads the directory of the sweep and those of its trials; writes nothing.

// Adds the sweep as a further source of the page. Fails as SweepView::Open and ReadSweepFile do.
Result<void> AddSweep(const std::string& sweep_dir, PageContent& page);

}  // namespace muster
