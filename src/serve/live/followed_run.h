// One run as its page shows it: its state, its processes, and the curves of their metrics, kept current from its
// journal and from the files of reported metrics, and published as patches.
//
// Reads the run directory only, which need not be trusted, in copies of this process, since that takes long for large
// runs; contacts no head.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "serve/live/event_hub.h"

namespace muster {

class ForkedFunction;
class MetricsWatch;
class PathWatch;
class WatchedMetrics;

class FollowedRun {
 public:
  // `paths` and `metrics` must outlive it.
  FollowedRun(boost::asio::io_context& io, std::string dir, PathWatch& paths, MetricsWatch& metrics);
  ~FollowedRun();
  FollowedRun(const FollowedRun&) = delete;
  FollowedRun& operator=(const FollowedRun&) = delete;

  // Reads what there is, and follows the rest.
  void Start();

  const std::string& dir() const { return dir_; }
  bool watched() const { return !hub_.empty(); }
  // Of the last patch.
  std::uint64_t version() const { return version_; }

  // Sends the stream what has changed since that version, and every later patch.
  void AddStream(const std::shared_ptr<EventStream>& stream, std::uint64_t version);

 private:
  void Read();
  void Take(std::string_view read);
  // What has changed since that version, as a JSON object. `whole`: curves from their beginning.
  std::string PatchSince(std::uint64_t version, bool whole) const;
  void ReadSoon();
  void FlushSoon();
  void Flush();

  boost::asio::io_context& io_;
  const std::string dir_;
  PathWatch& paths_;
  MetricsWatch& metrics_watch_;
  boost::asio::steady_timer read_timer_;
  boost::asio::steady_timer flush_timer_;
  int watch_ = 0;
  int awaited_ = 0;
  std::unique_ptr<WatchedMetrics> metrics_;
  std::map<std::string, LiveCurves> curves_;  // by process, "worker.0"
  // What the page shows besides curves: members of a patch as JSON, and the rows of processes.
  struct Part {
    std::string json;
    std::uint64_t version = 1;  // of the patch that had its last change
  };
  Part facts_;
  std::map<std::string, Part> rows_;      // by key, as JSON
  std::unique_ptr<ForkedFunction> copy_;  // while it reads
  bool again_ = false;                    // something has changed since it began
  bool reading_ = false;
  bool flushing_ = false;
  std::uint64_t read_ns_ = 0;  // how long the last reading took
  std::uint64_t version_ = 1;
  EventHub hub_;
};

}  // namespace muster
