// Analyses the trials of a sweep's page: scales of parameters, their importance, what distinguishes the best trials,
// and causes of failures.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "muster/value.h"
#include "page/collect/page_content.h"
#include "page/collect/space_axes.h"

namespace muster {

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

}  // namespace muster
