#include "serve/live/folder_index.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_tags.h"
#include "run/journal/run_summary.h"
#include "sweep/index/sweep_index.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// Changes within this time become one line.
constexpr std::chrono::milliseconds kGatherLines{200};
// Reading may take at most this part of the time.
constexpr std::uint64_t kShareOfTime = 20;
constexpr std::size_t kMaxEntries = 100'000;
constexpr std::size_t kMaxEndedWatched = 10'000;  // of all runs that have ended

constexpr std::uint32_t kFolderChanges = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM;
constexpr std::uint32_t kEntryChanges = IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE;

bool Matters(std::string_view name) {
  const RunEntry* const entry = RunEntryOf(name);
  return name.empty() || name == kSweepDirectories.marker || (entry != nullptr && entry->watched);
}

nlohmann::json JsonOf(const RunSummary& run) {
  nlohmann::json json = {{"kind", "run"},
                         {"id", run.run},
                         {"name", Readable(run.name)},
                         {"dir", Readable(run.run_dir)},
                         {"started_at", run.started_at},
                         {"seconds", run.seconds},
                         {"state", run.outcome},
                         {"why", ReadableOrNull(run.why)},
                         {"tags", TagsOfRun(run.run_dir)},
                         {"note", ReadableOrNull(NoteOfRun(run.run_dir))}};
  if (run.outcome == "running") {
    json["phase"] = run.phase;
    json["waits"] = ReadableOrNull(run.waits);
    json["running"] = run.running;
    json["ended"] = run.ended;
    json["restarts"] = run.restarts;
  }
  return json;
}

// "2026-11-20T12:06:16Z" of a folder "20261120-120616-3f9a1c2b4d5e"; empty for other names.
std::string StartOf(const std::string& path) {
  constexpr std::size_t kStamp = 15;
  const std::string leaf = path.substr(path.rfind('/') + 1);
  if (leaf.size() <= kStamp || leaf[8] != '-' || leaf[kStamp] != '-') return {};
  const auto part = [&leaf](std::size_t at, std::size_t length) { return leaf.substr(at, length); };
  return part(0, 4) + "-" + part(4, 2) + "-" + part(6, 2) + "T" + part(9, 2) + ":" + part(11, 2) + ":" + part(13, 2) +
         "Z";
}

}  // namespace

struct FolderIndex::Known {
  Entry entry;
  bool shown = false;
  bool ended = false;  // a run that has been counted as ended
  int watch = 0;
  // Of a sweep: how far its journal was read.
  std::optional<SweepFile> file;
  SweepProgress progress;
  JournalPosition position;
  std::uint64_t ended_ns = 0;
  std::uint64_t next_ns = 0;  // not to be read again before
};

FolderIndex::FolderIndex(boost::asio::io_context& io, PathWatch& paths, ServedFolders folders)
    : io_(io), paths_(paths), folders_(std::move(folders)), due_timer_(io) {}

FolderIndex::~FolderIndex() {
  for (const int watch : watches_) paths_.Remove(watch);
  for (const auto& [path, known] : known_) paths_.Remove(known->watch);
}

void FolderIndex::Start() {
  const auto all = [this](const std::vector<std::string>& folders, bool of_sweeps) {
    for (const std::string& folder : folders) {
      const int awaited = paths_.AwaitFolder(folder, [this, folder, of_sweeps] { WatchFolder(folder, of_sweeps); });
      if (awaited != 0) watches_.push_back(awaited);
    }
  };
  all(folders_.runs, false);
  all(folders_.sweeps, true);
  for (const std::string& path : folders_.run_dirs) Add(path, false);
  for (const std::string& path : folders_.sweep_dirs) Add(path, true);
  for (const auto& [path, known] : known_) Read(*known);
  due_.clear();
}

// The folder of all runs: those of one name are in one folder below it.
void FolderIndex::WatchFolder(const std::string& folder, bool of_sweeps) {
  const auto look = [this, folder, of_sweeps](std::string_view name, std::uint32_t mask) {
    if ((mask & (IN_CREATE | IN_MOVED_TO)) != 0) return LookInto(folder + "/" + std::string(name), of_sweeps);
  };
  if (const int watch = paths_.Add(folder, IN_CREATE | IN_MOVED_TO, look); watch != 0) watches_.push_back(watch);
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    LookInto(it->path().string(), of_sweeps);
  }
}

void FolderIndex::LookInto(const std::string& folder, bool of_sweeps) {
  std::error_code error;
  if (fs::is_symlink(folder, error) || !fs::is_directory(folder, error)) return;
  const auto changed = [this, folder, of_sweeps](std::string_view name, std::uint32_t mask) {
    const std::string path = folder + "/" + std::string(name);
    if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0) return Drop(path);
    if (!name.empty()) Add(path, of_sweeps);
  };
  if (const int watch = paths_.Add(folder, kFolderChanges, changed); watch != 0) watches_.push_back(watch);
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    Add(it->path().string(), of_sweeps);
  }
}

void FolderIndex::Add(const std::string& path, bool is_sweep) {
  std::error_code error;
  if (known_.contains(path) || known_.size() >= kMaxEntries) return;
  if (fs::is_symlink(path, error) || !fs::is_directory(path, error)) return;  // "latest" is a link
  auto known = std::make_unique<Known>();
  known->entry.path = path;
  known->entry.is_sweep = is_sweep;
  known_.emplace(path, std::move(known));
  ReadSoon(path);
}

void FolderIndex::Drop(const std::string& path) {
  const auto found = known_.find(path);
  if (found == known_.end()) return;
  Known& known = *found->second;
  paths_.Remove(known.watch);
  auto& shown = known.entry.is_sweep ? sweeps_ : runs_;
  const auto by_id = shown.find(known.entry.id);
  if (by_id != shown.end() && by_id->second == &known) {
    shown.erase(by_id);
    const nlohmann::json gone = {{"kind", known.entry.is_sweep ? "sweep" : "run"}, {"id", known.entry.id}};
    hub_.Publish("gone", SerializedJson(gone), ++version_);
  }
  due_.erase(path);
  known_.erase(found);
}

void FolderIndex::ReadSoon(const std::string& path) {
  due_.insert(path);
  if (std::exchange(waiting_, true)) return;
  due_timer_.expires_after(kGatherLines);
  due_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    waiting_ = false;
    ReadDue();
  });
}

void FolderIndex::ReadDue() {
  const std::set<std::string> due = std::exchange(due_, {});
  const std::uint64_t now = MonotonicNowNs();
  std::vector<Known*> changed;
  for (const std::string& path : due) {
    const auto found = known_.find(path);
    if (found == known_.end()) continue;
    if (found->second->next_ns > now) {
      ReadSoon(path);
    } else if (Read(*found->second)) {
      changed.push_back(found->second.get());
    }
  }
  if (changed.empty()) return;
  ++version_;
  std::string lines = "[";
  for (Known* known : changed) {
    known->entry.version = version_;
    lines += (lines.size() > 1 ? "," : "") + known->entry.summary;
  }
  hub_.Publish("lines", lines + "]", version_);
}

// Returns whether its line has changed.
bool FolderIndex::Read(Known& known) {
  Entry& entry = known.entry;
  const std::string before = entry.summary;
  const std::uint64_t began = MonotonicNowNs();
  if (known.watch == 0) {
    known.watch =
        paths_.Add(entry.path, kEntryChanges, [this, path = entry.path](std::string_view name, std::uint32_t) {
          if (Matters(name)) ReadSoon(path);
        });
  }
  if (entry.is_sweep) {
    ReadSweep(known);
  } else if (const auto run = SummarizeRun(entry.path, IsRunLive(entry.path))) {
    entry.id = run->run;
    entry.name = run->name;
    entry.started_at = run->started_at;
    entry.live = run->outcome == "running";
    entry.summary = SerializedJson(JsonOf(*run));
    known.shown = true;
  }
  const std::uint64_t now = MonotonicNowNs();
  known.next_ns = now + (now - began) * kShareOfTime;
  if (!known.shown) return false;
  (entry.is_sweep ? sweeps_ : runs_)[entry.id] = &known;
  // Of a run that has ended only tags and note change. A sweep may be resumed.
  if (!entry.is_sweep && !entry.live && !std::exchange(known.ended, true) && ended_runs_++ >= kMaxEndedWatched &&
      known.watch > 0) {
    paths_.Remove(known.watch);
    known.watch = -1;
  }
  return entry.summary != before;
}

void FolderIndex::ReadSweep(Known& known) {
  Entry& entry = known.entry;
  const bool live = IsRunLive(entry.path);
  if (!known.file) {
    const auto file = ReadSweepFile(entry.path);
    if (!file) return;  // not yet
    known.file = *file;
    LoadedSweep loaded = LoadSweepProgress(entry.path);
    known.progress = std::move(loaded.progress);
    known.position = loaded.position;
  }
  const UniqueFd folder(::open(entry.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::string stopped;
  if (folder) {
    known.position = ReadSweepJournal(
        folder.get(), known.position, [&known](const SweepRecord& record) { known.progress.Take(record.entry); },
        stopped);
  }
  const SweepProgress& progress = known.progress;
  if (progress.sweep_id().empty()) return;
  entry.id = progress.sweep_id();
  entry.name = progress.name();
  entry.live = live;
  entry.started_at = StartOf(entry.path);
  const auto running = static_cast<std::uint64_t>(std::count_if(progress.open().begin(), progress.open().end(),
                                                                [](const auto& one) { return one.second.running; }));
  nlohmann::json json = {{"kind", "sweep"},
                         {"id", entry.id},
                         {"name", Readable(entry.name)},
                         {"dir", Readable(entry.path)},
                         {"started_at", entry.started_at},
                         {"state", SweepState(progress, live)},
                         {"why", progress.ended() && !live ? ReadableOrNull(progress.ended()->why) : nlohmann::json()},
                         {"trials", progress.trials() - std::min(progress.trials(), progress.impossible().size())},
                         {"over", progress.over().size()},
                         {"failed", progress.failed()},
                         {"running", live ? running : 0},
                         {"best", nullptr},
                         {"tags", TagsOfRun(entry.path)},
                         {"note", ReadableOrNull(NoteOfRun(entry.path))}};
  if (const auto& best = progress.best()) {
    json["best"] = {{"trial", best->trial},
                    {"metric", known.file->objective ? Readable(known.file->objective->metric) : "loss"},
                    {"value", ObjectiveValue(known.file->objective, best->loss)}};
  }
  entry.summary = SerializedJson(json);
  known.shown = true;
}

const FolderIndex::Entry* FolderIndex::Find(bool is_sweep, const std::string& id) const {
  const auto& shown = is_sweep ? sweeps_ : runs_;
  const auto found = shown.find(id);
  return found == shown.end() ? nullptr : &found->second->entry;
}

std::vector<const FolderIndex::Entry*> FolderIndex::NewestFirst() const {
  std::vector<const Entry*> entries;
  for (const auto* shown : {&runs_, &sweeps_}) {
    for (const auto& [id, known] : *shown) entries.push_back(&known->entry);
  }
  // The folder's name begins with the time at which it was made.
  const auto leaf = [](const Entry* entry) { return std::string_view(entry->path).substr(entry->path.rfind('/') + 1); };
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry* a, const Entry* b) { return leaf(a) > leaf(b); });
  return entries;
}

std::string FolderIndex::Json() const {
  std::string json = "[";
  for (const Entry* entry : NewestFirst()) json += (json.size() > 1 ? ",\n" : "") + entry->summary;
  return json + "]";
}

void FolderIndex::Refresh(bool is_sweep, const std::string& id) {
  if (const Entry* entry = Find(is_sweep, id)) ReadSoon(entry->path);
}

void FolderIndex::AddStream(const std::shared_ptr<EventStream>& stream, std::uint64_t version) {
  std::string lines = "[";
  for (const Entry* entry : NewestFirst()) {
    if (entry->version > version) lines += (lines.size() > 1 ? "," : "") + entry->summary;
  }
  stream->Send(EventHub::Bytes("lines", lines + "]", version_));
  hub_.Add(stream);
}

}  // namespace muster
