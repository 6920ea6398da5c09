// Sending a tree of code to one host: what it lacks, and no more at a time than it has taken.
//
// Knows the tree, its files and the protocol; not how bytes get there. Files are read as they are sent.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/system/unique_fd.h"
#include "code/tree.h"
#include "wire/protocol/protocol.h"

namespace muster {

class CodeShipment {
 public:
  static constexpr std::size_t kPart = 128U << 10;
  static constexpr std::size_t kEntriesInPart = 4'096;

  using Send = std::function<void(const AgentCommand&)>;
  CodeShipment(std::shared_ptr<const CodeTree> tree, Send send) : tree_(std::move(tree)), send_(std::move(send)) {}

  void Offer();
  // What the host says. The phrase says why the shipment cannot go on; empty: it can.
  std::string Wanted(const CodeMissing& wanted);
  std::string Taken(const CodeReceived& taken);

  std::uint64_t sent() const { return sent_; }      // bytes
  std::uint64_t wanted() const { return wanted_; }  // of them, all there will be
  bool complete() const { return queue_.empty() && on_the_way_ == 0; }

 private:
  std::string SendOn();

  std::shared_ptr<const CodeTree> tree_;
  Send send_;
  std::deque<std::uint32_t> queue_;
  UniqueFd folder_;  // of the tree
  UniqueFd file_;    // of the first of the queue
  std::uint64_t offset_ = 0;
  std::uint64_t on_the_way_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t wanted_ = 0;
};

}  // namespace muster
