// All runs and sweeps below some folders, newest first, kept current: new ones appear, and the lines of live ones
// change as they run.
//
// Reads summaries of their journals; contacts no head. Names and ids of entries are looked up in its table, and never
// become part of a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <nlohmann/json_fwd.hpp>

#include "muster/result.h"
#include "run/lines/journal_file.h"
#include "serve/live/event_hub.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

class PathWatch;

// What is served: folders of runs and of sweeps, or single directories of them.
struct ServedFolders {
  std::vector<std::string> runs;
  std::vector<std::string> sweeps;
  std::vector<std::string> run_dirs;
  std::vector<std::string> sweep_dirs;
};

class FolderIndex {
 public:
  struct Entry {
    bool is_sweep = false;
    std::string id;
    std::string name;
    std::string path;
    std::string started_at;
    bool live = false;
    std::uint64_t version = 1;
    std::string summary;  // a JSON object
  };

  // `paths` must outlive it.
  FolderIndex(boost::asio::io_context& io, PathWatch& paths, ServedFolders folders);
  ~FolderIndex();
  FolderIndex(const FolderIndex&) = delete;
  FolderIndex& operator=(const FolderIndex&) = delete;

  // Reads what there is, and follows the rest.
  void Start();

  // By its kind and id; null if there is none.
  const Entry* Find(bool is_sweep, const std::string& id) const;
  std::vector<const Entry*> NewestFirst() const;
  // The same as a JSON array.
  std::string Json() const;
  std::uint64_t version() const { return version_; }
  // Reads the entry again, because the caller has changed one of its files.
  void Refresh(bool is_sweep, const std::string& id);

  void AddStream(const std::shared_ptr<EventStream>& stream, std::uint64_t version);

 private:
  struct Known;

  void WatchFolder(const std::string& folder, bool of_sweeps);
  void LookInto(const std::string& folder, bool of_sweeps);
  void Add(const std::string& path, bool is_sweep);
  void ReadSoon(const std::string& path);
  void ReadDue();
  bool Read(Known& known);
  void ReadSweep(Known& known);
  void Drop(const std::string& path);

  boost::asio::io_context& io_;
  PathWatch& paths_;
  const ServedFolders folders_;
  boost::asio::steady_timer due_timer_;
  std::map<std::string, std::unique_ptr<Known>> known_;  // by path
  std::map<std::string, Known*> runs_, sweeps_;          // those that can be shown, by id
  std::vector<int> watches_;
  std::set<std::string> due_;
  bool waiting_ = false;
  std::size_t ended_runs_ = 0;
  std::uint64_t version_ = 1;
  EventHub hub_;
};

}  // namespace muster
