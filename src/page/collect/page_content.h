// What a page shows, as plain data: columns and curves of its rows, and small facts. The rows of a page are the trials
// of sweeps, the runs that are compared, or the processes of one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/value.h"
#include "page/compute/down_sample.h"

namespace muster {

struct PageColumn {
  std::string name;                                      // unique
  std::string label;                                     // for people
  std::string role = "fact";                             // "param", "metric", "tag"
  bool log = false;                                      // logarithmic axis
  bool list = false;                                     // a text with several values, joined by ','
  bool seconds = false;                                  // a duration
  std::optional<std::pair<double, double>> domain = {};  // ends of its axis, by the sweep's space
  std::vector<std::string> choices = {};                 // in the order of the sweep's space
  std::vector<Value> values = {};                        // by row; null: none
};

// The points of one metric of one row.
struct PageCurve {
  std::uint32_t row = 0;
  std::uint32_t metric = 0;  // index into PageContent::metrics
  ThinCurve points;
  std::vector<double> starts = {};  // where further attempts begin
};

struct PageContent {
  std::string kind;  // "sweep", "run", "compare"
  std::string title;
  std::string made;  // UTC
  bool live = false;
  double now = 0;                      // seconds since the beginning of the first sweep: the end of what is running
  Value::List sources = {};            // facts about each run and sweep, as maps
  std::vector<std::string> keys = {};  // of the rows: "SOURCE:TRIAL", "SOURCE:ROLE.INDEX", "SOURCE:"
  std::vector<PageColumn> columns = {};
  Value::List attempts = {};              // of trials: what occupied which devices when
  Value::List differences = {};           // of several runs or sweeps: parameters, those that differ first
  std::string steps = {};                 // the metric of the curves' x; empty: the number of the report
  std::vector<std::string> metrics = {};  // the objective first
  std::size_t metrics_left_out = 0;       // for which there was no room
  std::vector<PageCurve> curves = {};
  Value run = {};  // of one run, a map
};

// The column of that name; added, with a null for each row so far, if there is none.
PageColumn& ColumnOf(PageContent& page, const std::string& name, const std::string& role,
                     const std::string& label = {});
// A further row: each column gets a null for it.
std::size_t AddRow(PageContent& page, std::string key);
// Sets a value of the last row.
void Put(PageContent& page, const std::string& name, const std::string& role, Value value,
         const std::string& label = {});

// A text for the page: valid UTF-8.
Value TextValue(const std::string& text);
Value CountValue(std::uint64_t count);
// A text as it is, other values in recipe syntax.
std::string PlainText(const Value& value);
// A value for a column: numbers, booleans and texts as they are, everything else as PlainText.
Value CellValue(const Value& value);

}  // namespace muster
