#include "page/collect/run_usage.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "page/collect/page_content.h"
#include "page/compute/usage_bands.h"
#include "run/directory/usage_history.h"

namespace muster {
namespace {

constexpr std::size_t kMostLines = 16;
constexpr std::size_t kMostIntervals = 120;

constexpr const char* kKinds[] = {"cores", "memory", "device"};

Value NumbersValue(const std::vector<double>& numbers) {
  Value::List list;
  for (const double number : numbers) list.emplace_back(std::round(number * 1e3) / 1e3);
  return Value(std::move(list));
}

// One of kKinds of a process over time, in cores or MiB; points without a value are omitted.
TimedValues SeriesOf(const std::vector<UsagePoint>& points, std::size_t kind) {
  TimedValues series;
  const std::vector<double> cores = kind == 0 ? CoresOf(points) : std::vector<double>();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const UsagePoint& point = points[i];
    if (kind == 2 && !point.device_kib) continue;
    const double kib = static_cast<double>(kind == 2 ? *point.device_kib : point.memory_kib);
    series.at.push_back(static_cast<double>(point.at_ms) / 1000);
    series.values.push_back(kind == 0 ? cores[i] : kib / 1024);
  }
  return series;
}

Value LineValue(const TimedValues& series) {
  return Value(Value::Map{{"at", NumbersValue(series.at)}, {"values", NumbersValue(series.values)}});
}

Value BandValue(const UsageHistory& usage, std::size_t kind) {
  std::vector<TimedValues> all;
  for (const auto& [process, points] : usage.processes()) all.push_back(SeriesOf(points, kind));
  const ValueBand band = BandOf(all, kMostIntervals);
  return Value(Value::Map{{"at", NumbersValue(band.at)},
                          {"low", NumbersValue(band.low)},
                          {"median", NumbersValue(band.median)},
                          {"high", NumbersValue(band.high)}});
}

}  // namespace

Value UsageValue(const Plan& plan, int run_folder) {
  const UsageHistory usage = ReadUsage(run_folder, plan.processes.size());
  if (usage.processes().empty()) return {};
  Value::Map value = {{"processes", CountValue(usage.processes().size())}};
  Value::List lines;
  if (usage.processes().size() <= kMostLines) {
    for (const auto& [id, points] : usage.processes()) {
      const Process& process = plan.processes[id];
      const std::string name = fmt::format("{}.{}", plan.roles[process.role].name, process.index);
      Value::Map line = {{"key", TextValue("0:" + name)}, {"name", TextValue(name)}};
      for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) {
        line[kKinds[kind]] = LineValue(SeriesOf(points, kind));
      }
      lines.emplace_back(std::move(line));
    }
    value["lines"] = Value(std::move(lines));
    return Value(std::move(value));
  }
  Value::Map bands;
  for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) bands[kKinds[kind]] = BandValue(usage, kind);
  value["bands"] = Value(std::move(bands));
  return Value(std::move(value));
}

}  // namespace muster
