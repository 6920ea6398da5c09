#include "page/collect/page_content.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "run/directory/run_tags.h"

namespace muster {

PageColumn& ColumnOf(PageContent& page, const std::string& name, const std::string& role, const std::string& label) {
  const auto found = std::find_if(page.columns.begin(), page.columns.end(),
                                  [&](const PageColumn& column) { return column.name == name; });
  if (found != page.columns.end()) return *found;
  PageColumn column{.name = name, .label = label.empty() ? name : label, .role = role};
  column.values.resize(page.keys.size());
  return page.columns.emplace_back(std::move(column));
}

std::size_t AddRow(PageContent& page, std::string key) {
  page.keys.push_back(std::move(key));
  for (PageColumn& column : page.columns) column.values.emplace_back();
  return page.keys.size() - 1;
}

void Put(PageContent& page, const std::string& name, const std::string& role, Value value, const std::string& label) {
  ColumnOf(page, name, role, label).values.back() = std::move(value);
}

Value TextValue(const std::string& text) { return Value(Readable(text)); }

Value CountValue(std::uint64_t count) { return Value(static_cast<std::int64_t>(count)); }

std::string PlainText(const Value& value) { return value.AsString() != nullptr ? *value.AsString() : ToText(value); }

Value CellValue(const Value& value) {
  const bool nested = value.AsList() != nullptr || value.AsMap() != nullptr;
  return nested || value.AsString() != nullptr ? TextValue(PlainText(value)) : value;
}

namespace {

std::size_t PointsOf(const std::vector<PageCurve>& curves, bool of_first) {
  std::size_t points = 0;
  for (const PageCurve& curve : curves) points += (curve.metric == 0) == of_first ? curve.points.x.size() : 0;
  return points;
}

// Thins the curves of the first metric, or those of all others, to `room` points together.
void Fit(std::vector<PageCurve>& curves, bool first, std::size_t room) {
  const auto count = static_cast<std::size_t>(std::count_if(
      curves.begin(), curves.end(), [&](const PageCurve& curve) { return (curve.metric == 0) == first; }));
  if (count == 0 || PointsOf(curves, first) <= room) return;
  for (PageCurve& curve : curves) {
    if ((curve.metric == 0) == first) curve.points.Thin(std::max<std::size_t>(room / count, 8));
  }
}

// Keeps the first metric, and of the others those with the most curves.
void DropMetrics(PageContent& page, std::size_t most) {
  if (page.metrics.size() <= most) return;
  std::vector<std::size_t> counts(page.metrics.size(), 0);
  for (const PageCurve& curve : page.curves) ++counts[curve.metric];
  std::vector<std::uint32_t> order(page.metrics.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin() + 1, order.end(), [&](auto a, auto b) { return counts[a] > counts[b]; });
  order.resize(std::max<std::size_t>(most, 1));
  std::vector<std::string> kept;
  std::vector<std::uint32_t> place(page.metrics.size(), static_cast<std::uint32_t>(page.metrics.size()));
  for (const std::uint32_t metric : order) {
    place[metric] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(page.metrics[metric]);
  }
  std::erase_if(page.curves, [&](const PageCurve& curve) { return place[curve.metric] >= page.metrics.size(); });
  for (PageCurve& curve : page.curves) curve.metric = place[curve.metric];
  page.metrics_left_out += page.metrics.size() - kept.size();
  page.metrics = std::move(kept);
}

}  // namespace

std::size_t CurvePoints(std::uint64_t rows) {
  const std::size_t share = kMaxPagePoints / static_cast<std::size_t>(std::max<std::uint64_t>(rows, 1));
  return std::clamp(share, kMinCurvePoints, kMaxCurvePoints);
}

std::string ResourceOf(const Value& description) {
  const Value* stop = FieldOf(description, "early_stop");
  return stop == nullptr ? std::string() : TextField(*stop, "resource");
}

CurveReader::CurveReader(PageContent& page, std::size_t points, std::string resource, const std::string& objective)
    : page_(&page), points_(points), resource_(std::move(resource)) {
  if (!objective.empty()) MetricOf(objective);
}

std::uint32_t CurveReader::MetricOf(const std::string& name) {
  const std::string shown = Readable(name);
  const auto found = std::find(page_->metrics.begin(), page_->metrics.end(), shown);
  if (found == page_->metrics.end()) page_->metrics.push_back(shown);
  return static_cast<std::uint32_t>(std::find(page_->metrics.begin(), page_->metrics.end(), shown) -
                                    page_->metrics.begin());
}

void CurveReader::AddRoles(std::size_t row, std::vector<ProcessHistory> histories) {
  std::set<std::string> known;
  for (ProcessHistory& process : histories) {
    std::vector<std::string> names;
    for (const auto& [name, column] : process.history.columns) names.push_back(name);
    // The steps of each role belong to its own metrics.
    const std::string steps = StepMetric(process.history.columns, resource_);
    for (const std::string& name : names) {
      if (name != steps && !known.insert(name).second) process.history.columns.erase(name);
    }
    Add(row, process);
  }
}

void CurveReader::Add(std::size_t row, const ProcessHistory& process) {
  const std::string steps = StepMetric(process.history.columns, resource_);
  if (page_->steps.empty()) page_->steps = steps;
  for (const auto& [name, column] : process.history.columns) {
    if (name == steps) continue;
    const MetricSeries series = SeriesOf(process.history, name, steps);
    PageCurve curve{
        .row = static_cast<std::uint32_t>(row), .metric = 0, .points = CurveOf(series.x, series.y, points_)};
    if (curve.points.x.empty() && curve.points.not_finite.empty()) continue;
    curve.metric = MetricOf(name);
    // An attempt begins with the first report after those of the previous one.
    for (const std::uint32_t start : process.attempt_starts) {
      const auto report = std::lower_bound(column.reports.begin(), column.reports.end(), start);
      const auto at =
          static_cast<std::size_t>(report - column.reports.begin()) - (column.values.size() - series.x.size());
      if (start > 0 && report != column.reports.end() && at < series.x.size()) curve.starts.push_back(series.x[at]);
    }
    page_->curves.push_back(std::move(curve));
  }
}

void LimitCurves(PageContent& page) {
  std::erase_if(page.curves,
                [](const PageCurve& curve) { return curve.points.x.empty() && curve.points.not_finite.empty(); });
  const std::size_t rows = std::max<std::size_t>(page.keys.size(), 1);
  DropMetrics(page, std::clamp<std::size_t>(1 + kMaxPagePoints / 2 / (rows * 8), 1, kMaxPageMetrics));
  const std::size_t others = PointsOf(page.curves, false);
  Fit(page.curves, true, kMaxPagePoints - std::min(others, kMaxPagePoints / 2));
  Fit(page.curves, false, kMaxPagePoints - std::min(PointsOf(page.curves, true), kMaxPagePoints / 2));
}

void PutTags(const std::string& run_dir, PageContent& page) {
  const Value::Map tags = TagValues(TagsOfRun(run_dir));
  if (tags.empty()) return;
  Put(page, "tags", "fact", TextValue(TagsText(tags)));
  ColumnOf(page, "tags", "fact").list = true;
  auto known = static_cast<std::size_t>(std::count_if(page.columns.begin(), page.columns.end(),
                                                      [](const PageColumn& column) { return column.role == "tag"; }));
  for (const auto& [name, value] : tags) {
    const std::string column = "tag." + name;
    const bool is_new = std::none_of(page.columns.begin(), page.columns.end(),
                                     [&](const PageColumn& one) { return one.name == column; });
    if (is_new && known++ >= kMaxTagColumns) return;
    Put(page, column, "tag", CellValue(value), name);
  }
}

}  // namespace muster
