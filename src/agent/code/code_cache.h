// The cache of shipped code on this host: trees named by their hash in one folder, created once and kept for later
// runs.
//
//   <hash>/                 the tree, including files that processes have added
//   <hash>.list             its entries; its modification time is that of the last use
//   <hash>.part.<random>/   a tree that is being created; renamed when complete
//
// Handles files, no processes. A tree in use is locked (flock(2), shared). Only unused trees are removed: those not
// used for kKeep, and the oldest beyond kMostTrees. Only shipped files are removed; files that processes left there
// stay. Work is split into small parts, so that it never blocks the event loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "agent/code/code_folder.h"
#include "base/system/unique_fd.h"
#include "wire/protocol/protocol.h"

namespace muster {

// $XDG_CACHE_HOME/muster/code, or ~/.cache/muster/code; empty if neither XDG_CACHE_HOME nor HOME is set.
std::string CodeCacheFolder();

class CodeCache {
 public:
  static constexpr std::chrono::hours kKeep{14 * 24};
  static constexpr std::size_t kMostTrees = 8;
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
