// What a page shows, as plain data: columns, curves and tags of its rows, and small facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/curve.h"
#include "metrics/metric_history.h"
#include "muster/value.h"

namespace muster {

// What a page shows, as plain data: columns and curves of its rows, and small facts. The rows of a page are the trials
// of sweeps, the runs that are compared, or the processes of one run.

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
  Curve points;
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
  Value run = {};     // of one run, a map
  Value ledger = {};  // of device time (page/collect/work_ledger.h); null: not shown
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

// Reads the curves of a page's rows from the metrics of their run directories, thinned out.

inline constexpr std::size_t kMaxPagePoints = 170'000;  // of all curves: about 1.8 MB in the page
inline constexpr std::size_t kMaxCurvePoints = 2'000;
inline constexpr std::size_t kMinCurvePoints = 24;
inline constexpr std::size_t kMaxPageMetrics = 24;

// Points of each curve, for that many rows.
std::size_t CurvePoints(std::uint64_t rows);

class CurveReader {
 public:
  // `points` of each curve; `resource`: the preferred metric for x, may be empty; `objective`: the first metric, may be
  // empty.
  CurveReader(PageContent& page, std::size_t points, std::string resource, const std::string& objective);

  // Those of the processes that count in reports, as the curves of that row. If several have a metric, the first one
  // counts.
  void AddRoles(std::size_t row, std::vector<ProcessHistory> histories);
  void Add(std::size_t row, const ProcessHistory& process);

 private:
  std::uint32_t MetricOf(const std::string& name);

  PageContent* page_;
  std::size_t points_;
  std::string resource_;
};

// Makes the curves of the page small enough as a whole: the first metric keeps up to half of all points; metrics with
// the fewest curves are dropped if there are too many.
void LimitCurves(PageContent& page);

// The metric that counts the progress of trials, according to the description of a sweep; empty if it has none.
std::string ResourceOf(const Value& description);

// The tags of a run as columns of a page: all of them as one text, and one column for each name.

inline constexpr std::size_t kMaxTagColumns = 64;

// Sets those of the last row. Names beyond the most columns are only in the text.
void PutTags(const std::string& run_dir, PageContent& page);

}  // namespace muster
