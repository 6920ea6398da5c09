// What live pages of runs and sweeps share: streams of events with versions, points of curves, and changes below
// folders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <fmt/format.h>
#include <nlohmann/json_fwd.hpp>

#include "metrics/curve.h"
#include "metrics/metrics_line.h"
#include "muster/result.h"
#include "serve/http/http_server.h"

namespace muster {

// The streams of all pages that show one thing. Each event has a version, by which a page that has lost its connection
// says what it has seen.
class EventHub {
 public:
  void Add(const std::shared_ptr<EventStream>& stream) {
    streams_->push_back(stream);
    stream->OnClosed([streams = std::weak_ptr(streams_), raw = stream.get()] {
      const auto kept = streams.lock();
      if (kept) std::erase_if(*kept, [raw](const auto& one) { return one.get() == raw; });
    });
  }
  bool empty() const { return streams_->empty(); }

  // One text that all streams share.
  void Publish(std::string_view event, std::string_view json, std::uint64_t version) {
    if (empty()) return;
    const auto bytes = Bytes(event, json, version);
    const std::vector<std::shared_ptr<EventStream>> streams = *streams_;  // a copy: sending may close one
    for (const auto& stream : streams) stream->Send(bytes);
  }

  static std::shared_ptr<const std::string> Bytes(std::string_view event, std::string_view json,
                                                  std::uint64_t version) {
    return std::make_shared<const std::string>(fmt::format("id: {}\nevent: {}\ndata: {}\n\n", version, event, json));
  }

 private:
  std::shared_ptr<std::vector<std::shared_ptr<EventStream>>> streams_ =
      std::make_shared<std::vector<std::shared_ptr<EventStream>>>();
};

// The points of one metric of a running process, as far as pages need them: what is new since the last event, and all
// of it for a page that has just been opened. Values only.

struct LiveCurve : Curve {
  static constexpr std::size_t kMaxPoints = 4'000;

  std::size_t sent = 0;       // of x and y
  bool replaced = true;       // pages need all points, not only those after `sent`
  std::uint64_t version = 0;  // of the event that had the last points

  bool has_news() const { return replaced || sent < x.size(); }
  void Add(double at, double value) { replaced = Curve::Add(at, value, kMaxPoints) || replaced; }
  // Its news are part of the event with that version.
  void MarkSent(std::uint64_t event);
  // The points that are news, or all that were sent, as a member of "curves" of an event. `key`: of the row.
  nlohmann::json News(const std::string& key, const std::string& metric) const;
  nlohmann::json Sent(const std::string& key, const std::string& metric) const;

 private:
  nlohmann::json Points(const std::string& key, const std::string& metric, std::size_t from, std::size_t to) const;
};

// The curves of one process, by metric.
class LiveCurves {
 public:
  // `step`: the metric that counts progress; empty: the first one of step, global_step, iteration, iter and epoch that
  // is reported, else the number of the report.
  explicit LiveCurves(std::string step = {}) : step_(std::move(step)) {}

  void Add(const MetricValues& report);
  std::map<std::string, LiveCurve>& curves() { return curves_; }
  const std::map<std::string, LiveCurve>& curves() const { return curves_; }
  const std::string& step() const { return step_; }

 private:
  std::string step_;
  std::optional<double> at_;
  std::uint64_t reports_ = 0;
  std::map<std::string, LiveCurve> curves_;
};

// Changes below many folders, from one inotify(7) descriptor on the loop.
class PathWatch {
 public:
  // `name`: of the entry of the folder that has changed; empty if the folder itself has, or if changes were lost: then
  // anything may be different.
  using Changed = std::function<void(std::string_view name, std::uint32_t mask)>;

  explicit PathWatch(boost::asio::io_context& io);
  ~PathWatch();
  PathWatch(const PathWatch&) = delete;
  PathWatch& operator=(const PathWatch&) = delete;

  // Kind "inotify": the machine allows no inotify descriptor.
  Result<void> Start();
  // Watches a folder; links are not followed. Returns a number for Remove(), or 0 if it cannot be watched. The calls
  // come from the loop, and may add and remove watches.
  int Add(const std::string& folder, std::uint32_t mask, Changed changed);
  void Remove(int number);
  // Calls `exists` once this folder exists; immediately if it does. Returns a number for Remove(), 0 if it exists. Its
  // parents need not exist; a folder whose parents cannot be watched is never reported.
  int AwaitFolder(const std::string& folder, std::function<void()> exists);

 private:
  struct Watcher {
    int number = 0;
    std::uint32_t mask = 0;
    Changed changed;
  };

  void Await();
  void Tell(int watch, std::string_view name, std::uint32_t mask);
  int AddWatcher(int number, const std::string& folder, std::uint32_t mask, Changed changed);
  void LookFor(int number, const std::string& folder, const std::shared_ptr<std::function<void()>>& exists);

  boost::asio::posix::stream_descriptor changes_;
  std::map<int, std::vector<Watcher>> watchers_;  // by watch descriptor
  std::map<int, int> watches_;                    // watch descriptor, by number
  int last_number_ = 0;
};

}  // namespace muster
