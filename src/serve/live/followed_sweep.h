// One sweep as its pages show it: its state, its trials, and the curves of running ones, kept current from its journal
// and from the files of reported metrics, and published as patches.
//
// Reads the sweep's directory only, which need not be trusted; contacts no head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <nlohmann/json_fwd.hpp>

#include "base/system/unique_fd.h"
#include "metrics/log_patterns.h"
#include "muster/result.h"
#include "page/collect/page_content.h"
#include "run/lines/journal_file.h"
#include "serve/live/event_hub.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

class MetricsWatch;
class PathWatch;
class WatchedMetrics;
struct SweepRecord;

class FollowedSweep {
 public:
  // `paths` and `metrics` must outlive it.
  FollowedSweep(boost::asio::io_context& io, std::string dir, PathWatch& paths, MetricsWatch& metrics);
  ~FollowedSweep();
  FollowedSweep(const FollowedSweep&) = delete;
  FollowedSweep& operator=(const FollowedSweep&) = delete;

  // Reads what there is, and follows the rest. Kind "sweep".
  Result<void> Start();

  const std::string& dir() const { return dir_; }
  const SweepFile& file() const { return file_; }
  const SweepProgress& progress() const { return progress_; }
  bool live() const { return live_; }
  bool watched() const { return !hub_.empty(); }
  // Of the last patch. A page that was made from the directory now has seen all patches up to this one.
  std::uint64_t version() const { return version_; }
  // The run directory of the trial's last attempt; nothing if it has not begun.
  std::optional<std::string> RunDirOf(TrialNumber trial) const;
  // Facts about it: {"state": …, "counts": {…}, "classes": {…}, "best": …, …}
  nlohmann::json State() const;

  // Sends the stream what has changed since that version, and every later patch.
  void AddStream(const std::shared_ptr<EventStream>& stream, std::uint64_t version);

 private:
  struct Attempt;
  struct Trial;

  void Read();
  void Take(const SweepRecord& record);
  void Follow(TrialNumber trial, Trial& of);
  void FollowTags(TrialNumber number, Trial& trial);
  void ForgetTags(Trial& trial);
  void ReadTagsOf(TrialNumber number);
  void Changed(TrialNumber trial);
  void FlushSoon();
  void Flush();
  void Forget();
  std::string StateOf(TrialNumber number, const Trial& trial) const;
  nlohmann::json RowOf(TrialNumber number, const Trial& trial) const;

  boost::asio::io_context& io_;
  const std::string dir_;
  PathWatch& paths_;
  MetricsWatch& metrics_;
  boost::asio::steady_timer flush_;
  int watch_ = 0;
  UniqueFd folder_;
  SweepFile file_;
  std::optional<LogPatterns> patterns_;  // if metrics are read from logs
  SweepProgress progress_;
  JournalPosition position_;
  std::string sent_points_;  // of the last patch
  bool live_ = false;
  std::string note_;
  PageContent names_;  // columns of parameters, for the names of others
  std::map<TrialNumber, Trial> trials_;
  std::set<TrialNumber> changed_;
  bool state_changed_ = false;
  bool flushing_ = false;
  std::size_t tags_watches_ = 0;
  std::uint64_t version_ = 1;
  // Ended trials whose curves are kept for pages that have lost their connection, and the version of the last one that
  // is not kept any more.
  std::deque<TrialNumber> ended_;
  std::uint64_t forgotten_ = 0;
  EventHub hub_;
};

}  // namespace muster
