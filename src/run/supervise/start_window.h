// Limits the number of concurrent starts: of thousands that are ordered at once only a limited number is sent, and more
// as answers arrive. Heartbeats are handled in between, and starts alone do not saturate the head or a machine that
// many agents share.
//
// Pure: depends on orders, hosts and times; sends nothing itself.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "muster/event.h"
#include "run/journal/head_facts.h"

namespace muster {

class StartWindow {
 public:
  static constexpr std::size_t kAtOnce = 128;        // most starts sent in one iteration of the loop
  static constexpr std::size_t kUnanswered = 1'024;  // most starts without an answer
  // Hosts that take longer than this (a program on a slow file system) do not delay the others any further.
  static constexpr MonotonicNs kPatience = 500'000'000;

  struct Start {
    StartOrdered order;
    std::uint32_t host = 0;  // number of the machine
  };

  void Ordered(const StartOrdered& order, std::uint32_t host) { waiting_.push_back({order, host}); }
  // The starts to send now, in the order of their orders; at most kAtOnce.
  std::vector<Start> Take(MonotonicNs now);
  // All starts that have not been sent: call it before any other command is sent to a host.
  std::vector<Start> TakeAll();
  // When Take() will return starts: now or later; empty if none is waiting.
  std::optional<MonotonicNs> NextAt(MonotonicNs now) const;

  // Whether every start was sent and answered.
  bool empty() const { return waiting_.empty() && unanswered_ == 0; }

  // A start on that host succeeded or failed.
  void Answered(std::uint32_t host, MonotonicNs now);
  // No more answers are expected from that host.
  void Lost(std::uint32_t host, MonotonicNs now);

 private:
  std::deque<Start> waiting_;
  std::map<std::uint32_t, std::size_t> sent_;  // by host: starts without an answer
  std::size_t unanswered_ = 0;
  MonotonicNs moved_at_ = 0;  // when the last start was sent or answered
};

}  // namespace muster
