#include "serve/live/followed_sweep.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>

#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "metrics/metrics_watch.h"
#include "page/collect/sweep_page.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_metrics.h"
#include "run/directory/run_tags.h"
#include "sweep/record/sweep_journal.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// What arrives within this time becomes one event.
constexpr std::chrono::milliseconds kGather{40};
constexpr std::size_t kMaxEndedKept = 256;
constexpr std::size_t kMaxTagWatches = 10'000;

// Of the trial's row in the page.
std::string KeyOf(TrialNumber trial) { return "0:" + std::to_string(trial); }

}  // namespace

struct FollowedSweep::Attempt {
  std::uint32_t number = 0;
  std::string run_id;
  std::vector<std::string> hosts;
  std::string began;
  std::optional<AttemptEnded> ended;

  AttemptOutcome Outcome() const { return ended ? OutcomeOf(*ended) : AttemptOutcome{}; }
};

struct FollowedSweep::Trial {
  Attempt latest;
  std::optional<Attempt> kept;  // of the earlier ones (sweep/record/sweep_progress.h)
  std::string id;
  Point point;
  std::uint64_t version = 1;  // of the patch that had its last change
  LiveCurves curves;
  std::unique_ptr<WatchedMetrics> metrics;  // while it runs
  int awaited = 0;                          // its folder, until that exists
  int tags_watch = 0;                       // its folder
  std::optional<Value::Map> tags;           // if they have changed since; a null is a tag that was removed
  bool running() const { return !latest.ended; }
  // The attempt that the trial keeps.
  const Attempt& shown() const { return kept && !IsKeptInstead(latest.Outcome(), kept->Outcome()) ? *kept : latest; }
};

FollowedSweep::FollowedSweep(boost::asio::io_context& io, std::string dir, PathWatch& paths, MetricsWatch& metrics)
    : io_(io), dir_(std::move(dir)), paths_(paths), metrics_(metrics), flush_(io) {}

FollowedSweep::~FollowedSweep() {
  if (watch_ != 0) paths_.Remove(watch_);
  for (const auto& [number, trial] : trials_) {
    if (trial.awaited != 0) paths_.Remove(trial.awaited);
    if (trial.tags_watch != 0) paths_.Remove(trial.tags_watch);
  }
}

Result<void> FollowedSweep::Start() {
  auto file = ReadSweepFile(dir_);
  if (!file) return Fail(std::move(file.error()));
  file_ = *std::move(file);
  auto patterns = LogPatterns::Of(file_.metrics.patterns, file_.metrics.place);
  if (patterns && !patterns->empty()) patterns_ = *std::move(patterns);
  note_ = NoteOfRun(dir_);
  for (const std::string& name : file_.names) ColumnOf(names_, OwnName(names_, name, "param"), "param");
  folder_ = UniqueFd(::open(dir_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) return Fail(SystemError("sweep", "cannot open " + Quoted(dir_), errno));
  watch_ = paths_.Add(dir_, IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO,
                      [this](std::string_view name, std::uint32_t) {
                        if (name == kNoteEntry.name) {
                          note_ = NoteOfRun(dir_);
                          state_changed_ = true;
                          return FlushSoon();
                        }
                        if (name.empty() || name == kJournalEntry.name || name == kLockEntry.name) Read();
                      });
  Read();
  changed_.clear();  // a page is made after this
  state_changed_ = false;
  return {};
}

void FollowedSweep::Read() {
  const bool live = IsRunLive(dir_);  // first: a head that begins in between is seen with its next entry
  if (std::exchange(live_, live) != live) {
    state_changed_ = true;
    for (const auto& [number, trial] : trials_) {
      if (trial.running()) Changed(number);
    }
  }
  std::string stopped;
  position_ = ReadSweepJournal(
      folder_.get(), position_, [this](const SweepRecord& record) { Take(record); }, stopped);
  if (!live_) {  // nothing is written any more
    for (auto& [number, trial] : trials_) {
      if (trial.metrics) trial.metrics->Finish();
      trial.metrics.reset();
    }
  } else {
    for (auto& [number, trial] : trials_) {
      if (trial.running() && !trial.metrics && trial.awaited == 0) Follow(number, trial);
    }
  }
  if (!changed_.empty() || state_changed_) FlushSoon();
}

// The tags of a trial, which may change at any time, also after its end.
void FollowedSweep::FollowTags(TrialNumber number, Trial& trial) {
  if (trial.tags_watch != 0 || tags_watches_ >= kMaxTagWatches) return;
  trial.tags_watch = paths_.Add(dir_ + "/" + TrialFolder(trial.id, trial.latest.number), IN_MOVED_TO | IN_CLOSE_WRITE,
                                [this, number](std::string_view name, std::uint32_t) {
                                  if (name == kTagsEntry.name || name.empty()) ReadTagsOf(number);
                                });
  if (trial.tags_watch != 0) ++tags_watches_;
}

void FollowedSweep::ForgetTags(Trial& trial) {
  trial.tags.reset();
  if (trial.tags_watch == 0) return;
  paths_.Remove(std::exchange(trial.tags_watch, 0));
  --tags_watches_;
}

void FollowedSweep::ReadTagsOf(TrialNumber number) {
  Trial& trial = trials_.at(number);
  Value::Map tags = TagValues(TagsOfRun(dir_ + "/" + TrialFolder(trial.id, trial.latest.number)));
  if (trial.tags) {
    for (const auto& [name, old] : *trial.tags) tags.emplace(name, Value());
  }
  if (trial.tags && *trial.tags == tags) return;
  trial.tags = std::move(tags);
  Changed(number);
  FlushSoon();
}

void FollowedSweep::Take(const SweepRecord& record) {
  if (const auto* began = std::get_if<AttemptBegan>(&record.entry)) {
    Trial& trial = trials_[began->trial];
    if (trial.awaited != 0) paths_.Remove(std::exchange(trial.awaited, 0));
    ForgetTags(trial);
    if (began->resumed.checkpoint.empty()) trial.curves = LiveCurves(file_.resource);
    trial.metrics.reset();
    if (trial.latest.ended) trial.kept = trial.shown();
    trial.latest = {began->attempt, began->run_id, began->hosts, record.wall, {}};
    trial.id = began->id;
    trial.point = began->point;
    Changed(began->trial);
  } else if (const auto* ended = std::get_if<AttemptEnded>(&record.entry)) {
    const auto trial = trials_.find(ended->trial);
    if (trial != trials_.end() && trial->second.latest.number == ended->attempt) {
      if (trial->second.metrics) trial->second.metrics->Finish();
      trial->second.metrics.reset();
      if (trial->second.awaited != 0) paths_.Remove(std::exchange(trial->second.awaited, 0));
      trial->second.latest.ended = *ended;
      FollowTags(ended->trial, trial->second);
      Changed(ended->trial);
    }
  }
  progress_.Take(record.entry);
  state_changed_ = true;
}

// Its folders are created after the entry of its beginning was written, that of its logs as the last one.
void FollowedSweep::Follow(TrialNumber number, Trial& of) {
  const std::string run_dir = dir_ + "/" + TrialFolder(of.id, of.latest.number);
  const int awaited = paths_.AwaitFolder((patterns_ ? kLogsEntry : kMetricsEntry).In(run_dir), [this, number, run_dir] {
    Trial& trial = trials_.at(number);
    trial.awaited = 0;
    FollowTags(number, trial);
    const std::string logging = patterns_ ? LoggingProcessOf(run_dir, file_.metrics) : std::string();
    trial.metrics = metrics_.Watch({.run_dir = run_dir,
                                    .patterns = logging.empty() ? nullptr : &*patterns_,
                                    .log_of = logging,
                                    .resource = file_.resource,
                                    .report =
                                        [this, number](const MetricValues& report) {
                                          trials_.at(number).curves.Add(report);
                                          Changed(number);
                                          FlushSoon();
                                        },
                                    .at_once = true});
  });
  trials_.at(number).awaited = awaited;
}

void FollowedSweep::Changed(TrialNumber trial) { changed_.insert(trial); }

void FollowedSweep::FlushSoon() {
  if (std::exchange(flushing_, true)) return;
  flush_.expires_after(kGather);
  flush_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    flushing_ = false;
    Flush();
  });
}

std::optional<std::string> FollowedSweep::RunDirOf(TrialNumber trial) const {
  const auto found = trials_.find(trial);
  if (found == trials_.end()) return std::nullopt;
  return dir_ + "/" + TrialFolder(found->second.id, found->second.latest.number);
}

nlohmann::json FollowedSweep::State() const {
  const TrialCounts of = CountsOf(progress_, live_);
  nlohmann::json counts = {{"trials", progress_.trials()}, {"possible", of.possible}, {"over", of.over},
                           {"failed", of.failed},          {"running", of.running},   {"waiting", of.waiting},
                           {"impossible", of.impossible}};
  nlohmann::json classes = nlohmann::json::object();
  for (const auto& [name, count] : StatesOfOver(progress_)) classes[name] = count;
  const bool left = progress_.ended() && !progress_.ended()->complete && !live_;
  nlohmann::json state = {{"id", progress_.sweep_id()},
                          {"name", Readable(file_.name)},
                          {"state", SweepState(progress_, live_)},
                          {"why", left ? Readable(progress_.ended()->why) : ""},
                          {"counts", std::move(counts)},
                          {"classes", std::move(classes)},
                          {"slots", nullptr},
                          {"best", nullptr},
                          {"points", ToJson(PagePoints(progress_, file_.objective))},
                          {"note", ReadableOrNull(note_)}};
  const std::uint64_t slots = progress_.steered().slots.value_or(static_cast<std::uint32_t>(file_.slots));
  if (slots > 0) state["slots"] = slots;
  if (const auto& best = progress_.best()) {
    state["best"] = {{"trial", best->trial}, {"value", ObjectiveValue(file_.objective, best->loss)}};
  }
  return state;
}

std::string FollowedSweep::StateOf(TrialNumber number, const Trial& trial) const {
  const auto& kept = trial.shown().ended;
  return TrialStanding{progress_.over().Has(number), !trial.running(), trial.latest.Outcome().interrupted,
                       kept ? kept->trial_class : TrialClass::kOk, progress_.IsPaused(number)}
      .State(live_);
}

// The columns of the page of a sweep (page/collect/sweep_page.cc).
nlohmann::json FollowedSweep::RowOf(TrialNumber number, const Trial& trial) const {
  const std::string objective = file_.objective && !file_.objective->metric.empty() ? file_.objective->metric : "loss";
  const Attempt& shown = trial.shown();
  nlohmann::json values = {{"trial", number},     {"id", trial.id},         {"attempt", shown.number + 1},
                           {"run", shown.run_id}, {"started", shown.began}, {"value", nullptr},
                           {"took", nullptr},     {"why", nullptr},         {"blamed", nullptr}};
  const auto metric = [&](const std::string& name, nlohmann::json value) {
    values[name == objective ? "value" : Readable(OwnName(names_, name, "metric"))] = std::move(value);
  };
  if (!shown.ended) {
    for (const auto& [name, curve] : trial.curves.curves()) {
      if (!curve.y.empty()) metric(name, curve.y.back());
    }
  } else {
    const AttemptEnded& ended = *shown.ended;
    for (const auto& [name, value] : ended.metrics) metric(name, ToJson(CellValue(value)));
    const std::optional<double> result = ResultOf(OutcomeOf(ended));
    values["value"] = result ? nlohmann::json(ObjectiveValue(file_.objective, *result)) : nlohmann::json();
    values["took"] = static_cast<double>(ended.ms) / 1000;
    values["why"] = ReadableOrNull(ended.why);
    values["blamed"] = ReadableOrNull(ended.blamed);
  }
  values["state"] = StateOf(number, trial);
  std::string hosts;
  for (const std::string& host : shown.hosts) hosts += (hosts.empty() ? "" : ",") + host;
  values["hosts"] = ReadableOrNull(hosts);
  if (trial.tags) {
    Value::Map set = *trial.tags;
    std::erase_if(set, [](const auto& tag) { return tag.second.IsNull(); });
    values["tags"] = ReadableOrNull(TagsText(set));
    for (const auto& [name, value] : *trial.tags) values["tag." + Readable(name)] = ToJson(CellValue(value));
  }
  for (const auto& [name, value] : trial.point)
    values[Readable(OwnName(names_, name, "param"))] = ToJson(CellValue(value));
  return {{"key", KeyOf(number)}, {"values", std::move(values)}};
}

void FollowedSweep::Flush() {
  if (changed_.empty() && !state_changed_) return;
  ++version_;
  nlohmann::json patch = {
      {"state", State()}, {"live", live_}, {"rows", nlohmann::json::array()}, {"curves", nlohmann::json::array()}};
  for (const TrialNumber number : changed_) {
    const auto found = trials_.find(number);
    if (found == trials_.end()) continue;
    Trial& trial = found->second;
    trial.version = version_;
    if (!hub_.empty()) patch["rows"].push_back(RowOf(number, trial));
    for (auto& [metric, curve] : trial.curves.curves()) {
      if (!curve.has_news()) continue;
      if (!hub_.empty()) patch["curves"].push_back(curve.News(KeyOf(number), metric));
      curve.MarkSent(version_);
    }
    if (!trial.running()) ended_.push_back(number);
  }
  std::string points = SerializedJson(patch["state"]["points"]);
  if (points == sent_points_) patch["state"].erase("points");
  sent_points_ = std::move(points);
  changed_.clear();
  state_changed_ = false;
  Forget();
  if (!hub_.empty()) hub_.Publish("update", SerializedJson(patch), version_);
}

// Frees the curves of trials that ended long ago; a page made later has them from the files.
void FollowedSweep::Forget() {
  while (ended_.size() > kMaxEndedKept) {
    const auto found = trials_.find(ended_.front());
    ended_.pop_front();
    if (found == trials_.end() || found->second.running()) continue;
    forgotten_ = std::max(forgotten_, found->second.version);
    found->second.curves = LiveCurves(file_.resource);
  }
}

void FollowedSweep::AddStream(const std::shared_ptr<EventStream>& stream, std::uint64_t version) {
  if (version < forgotten_ || version > version_) {
    stream->Send(EventHub::Bytes("reload", "{}", version_));
    return hub_.Add(stream);
  }
  nlohmann::json patch = {
      {"state", State()}, {"live", live_}, {"rows", nlohmann::json::array()}, {"curves", nlohmann::json::array()}};
  for (const auto& [number, trial] : trials_) {
    const bool news = trial.version > version;
    if (news) patch["rows"].push_back(RowOf(number, trial));
    if (!news && !trial.running()) continue;
    for (const auto& [metric, curve] : trial.curves.curves()) {
      if (curve.sent > 0) patch["curves"].push_back(curve.Sent(KeyOf(number), metric));
    }
  }
  stream->Send(EventHub::Bytes("update", SerializedJson(patch), version_));
  hub_.Add(stream);
}

}  // namespace muster
