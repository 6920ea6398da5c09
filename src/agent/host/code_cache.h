// The cache of shipped code on this host: trees named by their hash in one folder, created once and kept for later
// runs; and the folder of such a tree: which of its files it holds unchanged, and writing files to it. Never follows
// links. A file or a tree appears under its name complete, or not at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/system/unique_fd.h"
#include "base/values/fingerprint.h"
#include "wire/files/code_tree.h"
#include "wire/protocol/protocol.h"

namespace muster {

// A folder of shipped code: which files of a tree it holds unchanged, and writing files to it.
//
// Handles files below one descriptor. Never follows links: every component of a path is opened separately. A file
// appears under its name complete, or not at all.

// Modification time of every shipped file (2000-01-01), by which later changes are detected.
inline constexpr std::int64_t kCodeTime = 946'684'800;

class CodeFolder {
 public:
  CodeFolder() = default;
  explicit CodeFolder(UniqueFd folder) : root_(std::move(folder)) {}

  explicit operator bool() const { return static_cast<bool>(root_); }
  int fd() const { return root_.get(); }

  // Whether the entry exists as shipped, as far as this can be determined without reading it.
  bool Holds(const CodeEntry& entry);
  // Opens a shipped file for reading; empty if it has changed.
  UniqueFd OpenShipped(const CodeEntry& entry);

  // Creates a link. Returns an error text, empty on success.
  std::string MakeLink(const CodeEntry& entry);

  // Writes a file. Put() appends its bytes in order; Keep() gives it its name if the content matches the entry, Drop()
  // discards it. Return an error text, empty on success.
  std::string Begin(const CodeEntry& entry);
  std::string Put(std::string_view bytes);
  std::string Keep();
  void Drop();
  bool writing() const { return static_cast<bool>(file_); }
  std::uint64_t written() const { return written_; }

  // Removes a file in its current state, and the Python bytecode in its folder; then the folders that have become
  // empty, up to the root.
  void Remove(const std::string& path);

 private:
  // The folder that contains the path; -1 with errno set if it cannot be opened.
  int FolderOf(const std::string& path, bool make);

  UniqueFd root_;
  std::string last_;  // the folder opened last, and its descriptor
  UniqueFd last_fd_;

  UniqueFd file_;
  std::string temporary_;
  CodeEntry entry_;
  Sha256 hash_;
  std::uint64_t written_ = 0;
};

// Removes everything in the folder.
void RemoveBelow(int folder);

// The cache of shipped code on this host: trees named by their hash in one folder, created once and kept for later
// runs.
//
//   <hash>/                 the tree, including files that processes have added
//   <hash>.list             its entries; its modification time is that of the last use
//   <hash>.part.<random>/   a tree that is being created; renamed when complete
//
// Handles files, no processes. A tree in use is locked (flock(2), shared). Only unused trees are removed: those not
// used for kKeep, and the oldest beyond kMaxTrees. Only shipped files are removed; files that processes left there
// stay. Work is split into small parts, so that it never blocks the event loop.

// $XDG_CACHE_HOME/muster/code, or ~/.cache/muster/code; empty if neither XDG_CACHE_HOME nor HOME is set.
std::string CodeCacheFolder();

class CodeCache {
 public:
  static constexpr std::chrono::hours kKeep{14 * 24};
  static constexpr std::size_t kMaxTrees = 8;
  static constexpr std::chrono::hours kKeepParts{24};

  using Send = std::function<void(const AgentMessage&)>;
  CodeCache(boost::asio::io_context& io, std::string folder, Send send);
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;
  ~CodeCache();

  // Return the protocol error if the head sent an invalid command, else an empty text. Other errors are sent in
  // CodeReady.
  std::string Offer(OfferCode& command);
  std::string Take(const CodeBytes& bytes);

  // Stops all work and removes an incomplete tree.
  void End();

 private:
  struct Donor {
    CodeFolder folder;
    std::map<std::string, CodeEntry> by_hash;
  };

  // Calls `part` from the loop until it returns true, then calls `next`.
  void Work(std::function<bool()> part, std::function<void()> next);
  void Fail(std::string why);

  std::string Open();
  bool OpenKept();
  std::string BeginPart();
  bool LookOn();
  void FindDonors();
  bool CopyOn();
  void Ask();
  std::string BeginRequested();
  std::string KeepRequested();
  void Complete();
  void Ready();
  void FindOld();
  bool RemoveOn();

  const CodeEntry& RequestedEntry() const { return entries_[wanted_[received_]]; }

  boost::asio::io_context& io_;
  const std::string path_;
  Send send_;

  std::string hash_;
  std::vector<CodeEntry> entries_;
  bool offered_ = false;
  bool receiving_ = false;
  bool over_ = false;
  std::uint32_t tries_ = 0;

  UniqueFd cache_;    // the folder at path_
  CodeFolder tree_;   // locked
  std::string part_;  // name of the folder while it is being created; empty: the tree existed
  std::size_t looked_ = 0;
  std::vector<std::uint32_t> wanted_;
  std::deque<std::uint32_t> to_copy_;
  std::vector<Donor> donors_;
  UniqueFd source_;           // the file that is being copied
  std::size_t received_ = 0;  // number of entries of wanted_ that are complete

  // A tree that is being removed.
  struct Old {
    std::string hash;
    CodeFolder folder;
    std::vector<CodeEntry> entries;
  };
  std::deque<Old> old_;
};

}  // namespace muster
