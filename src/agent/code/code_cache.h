// The cache of shipped code on this host: trees by their hash below one folder, made once and kept for the next run.
//
//   <hash>/                 the tree, with what processes have added to it
//   <hash>.list             its entries; its time of change is that of the last use
//   <hash>.part.<random>/   one that is being made: it gets its name when it is whole
//
// Knows files, no process. A tree that is in use is locked (flock(2), shared), and only what is not in use is taken
// away: what has not been used for kKeep, and the oldest beyond kMostTrees. Taken away is what was shipped; files that
// processes left there stay. Work is cut into small parts, so that it never holds up the loop.
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

// $XDG_CACHE_HOME/muster/code, or ~/.cache/muster/code; empty if neither variable says where that is.
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

  // Empty, or why the command is none that a head sends. What goes wrong here is told by CodeReady.
  std::string Offer(OfferCode& command);
  std::string Take(const CodeBytes& bytes);

  // Does nothing more; what is not whole is taken away.
  void End();

 private:
  struct Donor {
    CodeFolder folder;
    std::map<std::string, CodeEntry> by_hash;
  };

  // Calls `part` from the loop, again and again, until it is done, and then `next`.
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
  std::string part_;  // name of the folder while it is being made; empty: the tree was there
  std::size_t looked_ = 0;
  std::vector<std::uint32_t> wanted_;
  std::deque<std::uint32_t> to_copy_;
  std::vector<Donor> donors_;
  UniqueFd source_;           // of the file that is being copied
  std::size_t received_ = 0;  // of wanted_

  // A tree that goes.
  struct Old {
    std::string hash;
    CodeFolder folder;
    std::vector<CodeEntry> entries;
  };
  std::deque<Old> old_;
};

}  // namespace muster
