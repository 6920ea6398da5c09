#include "run/directory/usage_history.h"

#include <algorithm>
#include <charconv>

#include <fcntl.h>

#include "base/system/private_files.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kMaxPoints = 60'000;  // of all processes together, unless there are thousands
constexpr std::size_t kMaxOfProcess = 240;
constexpr std::size_t kMinOfProcess = 24;
constexpr std::uint64_t kMaxExact = std::uint64_t{1} << 53;  // beyond it JSON is not exact
constexpr std::size_t kMaxLine = 4U << 20;
constexpr std::string_view kLineBegin = "{\"at_ms\":";
constexpr std::size_t kNumbers = 5;  // of a process in a line; the sixth may be null

std::uint64_t Limited(std::uint64_t number) { return std::min(number, kMaxExact); }

// `later` is the newer point of the same interval. What it used of its memory in between is kept.
void Merge(UsagePoint& into, const UsagePoint& later) {
  const std::uint64_t memory = std::max(into.memory_kib, later.memory_kib);
  const std::optional<std::uint64_t> device = std::max(into.device_kib, later.device_kib);  // nothing is the least
  into = later;
  into.memory_kib = memory;
  into.device_kib = device;
}

// The processes of one time: [process, attempt, running_ms, cpu_ms, memory_kib, device_kib].
using SampleNumbers = std::vector<std::optional<std::uint64_t>>;
struct Sample {
  std::optional<std::uint64_t> at_ms;
  std::vector<SampleNumbers> usage = {};
};
template <class V>
void Fields(V& v, Sample& sample) {
  v("at_ms", sample.at_ms), v("usage", sample.usage);
}

SampleNumbers EntryOf(ProcessId process, const UsagePoint& point) {
  return {process, point.attempt, point.running_ms, point.cpu_ms, point.memory_kib, point.device_kib};
}

std::optional<std::pair<ProcessId, UsagePoint>> PointIn(const SampleNumbers& entry, std::uint64_t at_ms) {
  const auto is_missing = [](const std::optional<std::uint64_t>& number) { return !number; };
  if (entry.size() != kNumbers + 1 || std::any_of(entry.begin(), entry.end() - 1, is_missing) ||
      std::max(*entry[0], *entry[1]) > UINT32_MAX) {
    return std::nullopt;
  }
  return std::pair(static_cast<ProcessId>(*entry[0]),
                   UsagePoint{at_ms, static_cast<std::uint32_t>(*entry[1]), *entry[2], *entry[3], *entry[4], entry[5]});
}

// The time and the processor time between the previous sample of the attempt, or its start, and each point.
struct Step {
  double ms = 0;
  double cpu_ms = 0;
};
std::vector<Step> StepsOf(const std::vector<UsagePoint>& points) {
  std::vector<Step> steps;
  const UsagePoint* before = nullptr;
  for (const UsagePoint& point : points) {
    const bool same = before != nullptr && before->attempt == point.attempt && before->running_ms < point.running_ms;
    const std::uint64_t cpu = same ? before->cpu_ms : 0;
    const std::uint64_t running = same ? before->running_ms : 0;
    // Less than before: a descendant that nobody has waited for has exited.
    steps.push_back({static_cast<double>(point.running_ms - running),
                     static_cast<double>(point.cpu_ms - std::min(cpu, point.cpu_ms))});
    before = &point;
  }
  return steps;
}

}  // namespace

UsageHistory::UsageHistory(std::size_t processes)
    : count_(processes),
      most_(std::clamp(kMaxPoints / std::max<std::size_t>(processes, 1), kMinOfProcess, kMaxOfProcess)) {}

void UsageHistory::Add(ProcessId process, UsagePoint point) {
  if (process >= count_) return;
  for (std::uint64_t* number : {&point.at_ms, &point.running_ms, &point.cpu_ms, &point.memory_kib}) {
    *number = Limited(*number);
  }
  if (point.device_kib) point.device_kib = Limited(*point.device_kib);
  std::vector<UsagePoint>& points = points_[process];
  if (!points.empty() && point.at_ms < points.back().at_ms) return;
  if (!points.empty() && IntervalOf(points.back().at_ms) == IntervalOf(point.at_ms)) {
    Merge(points.back(), point);
  } else {
    points.push_back(point);
  }
  if (IntervalOf(point.at_ms) >= most_) Thin();
}

void UsageHistory::Thin() {
  std::uint64_t last = 0;
  for (const auto& [process, points] : points_) last = std::max(last, points.back().at_ms);
  while (IntervalOf(last) >= most_) interval_ms_ *= 2;
  for (auto& [process, points] : points_) {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (IntervalOf(points[i].at_ms) == IntervalOf(points[kept].at_ms)) {
        Merge(points[kept], points[i]);
      } else {
        points[++kept] = points[i];
      }
    }
    points.resize(kept + 1);
  }
}

void UsageHistory::Take(std::string_view text) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view written = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (written.size() > kMaxLine) continue;
    const auto line = ValueFromJsonText(written);
    if (!line) continue;
    Sample sample;
    JsonReader(JsonReading::kLenient, kMaxExact).Get(*line, sample);
    if (!sample.at_ms) continue;
    for (const SampleNumbers& entry : sample.usage) {
      if (const auto point = PointIn(entry, *sample.at_ms)) Add(point->first, point->second);
    }
  }
}

std::string UsageHistory::Lines() const {
  std::map<std::uint64_t, Sample> samples;
  for (const auto& [process, points] : points_) {
    for (const UsagePoint& point : points) {
      samples.try_emplace(point.at_ms, Sample{point.at_ms}).first->second.usage.push_back(EntryOf(process, point));
    }
  }
  std::string lines;
  for (const auto& [at_ms, sample] : samples) lines += JsonOf(sample) + '\n';
  return lines;
}

std::string UsageSchema() { return SchemaOf(Sample()); }

std::string UsageLine(std::uint64_t at_ms, const std::vector<std::pair<ProcessId, UsagePoint>>& points) {
  Sample sample{at_ms};
  for (const auto& [process, point] : points) sample.usage.push_back(EntryOf(process, point));
  return JsonOf(sample) + '\n';
}

std::vector<double> CoresOf(const std::vector<UsagePoint>& points) {
  std::vector<double> cores;
  for (const Step& step : StepsOf(points)) cores.push_back(step.ms > 0 ? step.cpu_ms / step.ms : 0);
  return cores;
}

std::optional<UsageSummary> SummaryOf(const std::vector<UsagePoint>& points) {
  if (points.empty()) return std::nullopt;
  UsageSummary summary;
  summary.samples = points.size();
  const std::vector<Step> steps = StepsOf(points);
  const std::vector<double> cores = CoresOf(points);
  double ms = 0, cpu_ms = 0, memory = 0, device = 0, device_ms = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const UsagePoint& point = points[i];
    const double weight = std::max(steps[i].ms, 1.0);
    ms += weight;
    cpu_ms += steps[i].cpu_ms;
    memory += weight * static_cast<double>(point.memory_kib);
    summary.peak_cores = std::max(summary.peak_cores, cores[i]);
    summary.peak_memory_kib = std::max(summary.peak_memory_kib, point.memory_kib);
    summary.peak_device_kib = std::max(summary.peak_device_kib, point.device_kib);
    if (!point.device_kib) continue;
    device += weight * static_cast<double>(*point.device_kib);
    device_ms += weight;
  }
  summary.mean_cores = cpu_ms / ms;
  summary.mean_memory_kib = static_cast<std::uint64_t>(memory / ms);
  if (device_ms > 0) summary.mean_device_kib = static_cast<std::uint64_t>(device / device_ms);
  return summary;
}

UsageHistory ReadUsage(int run_folder, std::size_t processes) {
  UsageHistory history(processes);
  if (const auto text = ReadFileAt(run_folder, kUsageEntry.name, kUsageEntry.most, O_NOFOLLOW)) history.Take(*text);
  return history;
}

std::uint64_t LastSampleMs(int run_folder) {
  const Result<FileTail> tail = ReadTail(run_folder, kUsageEntry.name, kMaxLine, O_NOFOLLOW);
  std::string_view text = tail ? std::string_view(tail->bytes) : std::string_view();
  text = text.substr(0, text.rfind('\n') + 1);  // the last line may be cut
  const std::size_t at = text.rfind(kLineBegin);
  std::uint64_t ms = 0;
  if (at != std::string_view::npos)
    std::from_chars(text.data() + at + kLineBegin.size(), text.data() + text.size(), ms);
  return Limited(ms);
}

}  // namespace muster
