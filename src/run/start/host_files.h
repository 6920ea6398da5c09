// Files between the head and its hosts: a tree of code sent to one host, only what it lacks and at most as many bytes
// at a time as it has acknowledged, and files that hosts send, written into the run directory part by part.
// Independent of the connection.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/system/unique_fd.h"
#include "code/tree.h"
#include "muster/result.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Sends a tree of code to one host: only files that the host lacks, and at most as many bytes at a time as it has
// acknowledged.
//
// Depends on the tree, its files and the protocol; not on the connection. Files are read while they are sent.
class CodeShipment {
 public:
  static constexpr std::size_t kPart = 128U << 10;
  static constexpr std::size_t kEntriesInPart = 4'096;

  using Send = std::function<void(const AgentCommand&)>;
  CodeShipment(std::shared_ptr<const CodeTree> tree, Send send) : tree_(std::move(tree)), send_(std::move(send)) {}

  void Offer();
  // Messages of the host. They return why the shipment cannot continue; empty if it can.
  std::string Wanted(const CodeMissing& wanted);
  std::string Taken(const CodeReceived& taken);

  std::uint64_t sent() const { return sent_; }      // bytes
  std::uint64_t wanted() const { return wanted_; }  // bytes to be sent altogether
  bool complete() const { return queue_.empty() && on_the_way_ == 0; }

 private:
  std::string SendOn();

  std::shared_ptr<const CodeTree> tree_;
  Send send_;
  std::deque<std::uint32_t> queue_;
  UniqueFd folder_;  // of the tree
  UniqueFd file_;    // the first file of the queue
  std::uint64_t offset_ = 0;
  std::uint64_t on_the_way_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t wanted_ = 0;
};

// Writes files that other hosts send into the run directory, part by part. The head has already checked which files a
// host may send (transport/checked_channel.h).

// Writes the part to its place below the folder; with FileBytes::last the file ends after it. A part that begins beyond
// the end of the file is the end of the log of an exited process: it is appended after a line that states how many
// bytes are missing, and later parts overwrite it. So no file is ever much longer than the received bytes. Kind "path"
// or "file".
Result<void> KeepFileBytes(int folder, const FileBytes& bytes);

}  // namespace muster
