// How many starts are on their way at once: of thousands that are ordered in the same moment a limited number is sent,
// and the others as those are answered. Heartbeats are handled between two portions, and neither the head nor a machine
// that many agents share is busy with starts alone.
//
// Pure: knows orders, hosts and times; sends nothing itself.
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
  static constexpr std::size_t kAtOnce = 128;        // that are sent in one turn of the loop
  static constexpr std::size_t kUnanswered = 1'024;  // that may wait for their answers
  // Hosts that take longer than this (a program on a slow file system) hold the others up no longer.
  static constexpr MonotonicNs kPatience = 500'000'000;

  struct Start {
    StartOrdered order;
    std::uint32_t host = 0;  // number of the machine
  };

  void Ordered(const StartOrdered& order, std::uint32_t host) { waiting_.push_back({order, host}); }
  // Those that are to be sent now, in the order of their orders; at most kAtOnce.
  std::vector<Start> Take(MonotonicNs now);
  // All that have not been sent: whatever else is said to a host comes after them.
  std::vector<Start> TakeAll();
  // When Take() returns some: now or later; nothing if none waits.
  std::optional<MonotonicNs> NextAt(MonotonicNs now) const;

  // A start on that host was carried out, or refused.
  void Answered(std::uint32_t host, MonotonicNs now);
  // Nothing that was sent to that host is waited for any more.
  void Lost(std::uint32_t host, MonotonicNs now);

 private:
  std::deque<Start> waiting_;
  std::map<std::uint32_t, std::size_t> sent_;  // by host: those without an answer
  std::size_t unanswered_ = 0;
  MonotonicNs moved_at_ = 0;  // when one was sent or answered
};

}  // namespace muster
