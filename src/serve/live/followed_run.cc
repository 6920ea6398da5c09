#include "serve/live/followed_run.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>

#include "base/system/clock.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "metrics/metrics_watch.h"
#include "page/collect/make_page.h"
#include "run/directory/run_directory.h"
#include "spawn/start/limited_command.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// What arrives within this time becomes one event.
constexpr std::chrono::milliseconds kGatherPoints{40};
// Making the report may take at most this part of the time.
constexpr std::uint64_t kShare = 20;
constexpr std::uint64_t kMinPauseNs = 100'000'000;
constexpr std::size_t kMaxProcesses = 64;  // whose curves are followed

std::string Dumped(const nlohmann::json& json) { return SerializedJson(json); }

// What the page shows besides curves: a line with the facts, then two for each process, its key and its row. Nothing if
// the directory cannot be read any more.
std::string LinesOf(const std::string& dir) {
  const bool live = IsRunLive(dir);
  const auto page = MakePage({{dir, false}});
  if (!page) return {};
  std::string lines = fmt::format("\"live\": {}, \"sources\": {}, \"run\": {}\n", live,
                                  Dumped(ToJson(Value(page->sources))), Dumped(ToJson(page->run)));
  for (std::size_t row = 0; row < page->keys.size(); ++row) {
    nlohmann::json values = nlohmann::json::object();
    for (const PageColumn& column : page->columns) values[Readable(column.name)] = ToJson(column.values[row]);
    const nlohmann::json key = Readable(page->keys[row]);
    lines += fmt::format("{}\n{}\n", Dumped(key), Dumped({{"key", key}, {"values", std::move(values)}}));
  }
  return lines;
}

}  // namespace

FollowedRun::FollowedRun(boost::asio::io_context& io, std::string dir, PathWatch& paths, MetricsWatch& metrics)
    : io_(io), dir_(std::move(dir)), paths_(paths), metrics_watch_(metrics), read_timer_(io), flush_timer_(io) {}

FollowedRun::~FollowedRun() {
  paths_.Remove(watch_);
  paths_.Remove(awaited_);
}

void FollowedRun::Start() {
  watch_ = paths_.Add(dir_, IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO,
                      [this](std::string_view name, std::uint32_t) {
                        const RunEntry* const entry = RunEntryOf(name);
                        if (name.empty() || (entry != nullptr && entry->watched)) ReadSoon();
                      });
  Read();
  awaited_ = paths_.AwaitFolder(kMetricsEntry.In(dir_), [this] {
    awaited_ = 0;
    metrics_ = metrics_watch_.Watch(
        {.run_dir = dir_,
         .process_report = [this](const std::string& role, std::uint32_t index, const MetricValues& report) {
           const std::string process = fmt::format("{}.{}", role, index);
           if (curves_.size() >= kMaxProcesses && !curves_.contains(process)) return;
           curves_[process].Add(report);
           FlushSoon();
         }});
  });
}

void FollowedRun::Read() {
  if (copy_) {
    again_ = true;
    return;
  }
  const std::uint64_t began = MonotonicNowNs();
  auto copy = ForkedFunction::Start(
      io_, [this] { return LinesOf(dir_); },
      [this, began](const std::optional<std::string>& read) {
        copy_.reset();
        read_ns_ = MonotonicNowNs() - began;
        if (read) Take(*read);
        if (std::exchange(again_, false)) ReadSoon();
      });
  if (copy)
    copy_ = *std::move(copy);
  else
    ReadSoon();
}

// Changes belong to the next patch.
void FollowedRun::Take(std::string_view read) {
  bool changed = false;
  const auto set = [&](Part& part, std::string_view json) {
    if (part.json == json) return;
    part = {std::string(json), version_ + 1};
    changed = true;
  };
  const auto line = [&read] {
    const std::string_view first = read.substr(0, read.find('\n'));
    read.remove_prefix(std::min(read.size(), first.size() + 1));
    return first;
  };
  if (!read.empty()) set(facts_, line());
  while (!read.empty()) {
    const std::string_view key = line();
    set(rows_[std::string(key)], line());
  }
  if (changed) FlushSoon();
}

void FollowedRun::ReadSoon() {
  if (std::exchange(reading_, true)) return;
  read_timer_.expires_after(std::chrono::nanoseconds(std::max(kMinPauseNs, read_ns_ * kShare)));
  read_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    reading_ = false;
    Read();
  });
}

void FollowedRun::FlushSoon() {
  if (std::exchange(flushing_, true)) return;
  flush_timer_.expires_after(kGatherPoints);
  flush_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    flushing_ = false;
    Flush();
  });
}

void FollowedRun::Flush() {
  ++version_;
  std::string patch;
  if (!hub_.empty()) patch = PatchSince(version_ - 1, false);
  for (auto& [process, curves] : curves_) {
    for (auto& [metric, curve] : curves.curves()) {
      if (curve.has_news()) curve.MarkSent(version_);
    }
  }
  if (!hub_.empty()) hub_.Publish("update", patch, version_);
}

std::string FollowedRun::PatchSince(std::uint64_t version, bool whole) const {
  nlohmann::json curves = nlohmann::json::array();
  for (const auto& [process, of] : curves_) {
    for (const auto& [metric, curve] : of.curves()) {
      if (whole && curve.version > version && curve.sent > 0) {
        curves.push_back(curve.Sent("0:" + process, metric));
      } else if (!whole && curve.has_news()) {
        curves.push_back(curve.News("0:" + process, metric));
      }
    }
  }
  std::string rows;
  for (const auto& [key, row] : rows_) {
    if (row.version > version) rows += (rows.empty() ? "" : ",") + row.json;
  }
  const std::string facts = facts_.version > version ? ", " + facts_.json : "";
  return fmt::format(R"({{"curves": {}, "rows": [{}]{}}})", Dumped(curves), rows, facts);
}

void FollowedRun::AddStream(const std::shared_ptr<EventStream>& stream, std::uint64_t version) {
  stream->Send(EventHub::Bytes("update", PatchSince(version, true), version_));
  hub_.Add(stream);
}

}  // namespace muster
