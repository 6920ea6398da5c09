// Limits the number of concurrent connection attempts, and schedules retries of refused ones: a pure state machine.
//
// Handles numbers of hosts and times; opens no connection. An sshd, or a jump host, accepts a limited number of
// unauthenticated connections (MaxStartups, 10 by default); the window stays below that if there is a jump host, and
// shrinks to it once a connection is refused.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace muster {

class ConnectWindow {
 public:
  static constexpr std::uint32_t kWide = 64;
  static constexpr std::uint32_t kNarrow = 8;
  static constexpr std::uint32_t kMostTries = 6;

  // `random` returns a number from 0 to its argument, both included.
  using Random = std::function<std::uint64_t(std::uint64_t)>;
  explicit ConnectWindow(Random random) : random_(std::move(random)) {}

  void Narrow() { width_ = kNarrow; }
  std::uint32_t width() const { return width_; }

  // Queues the connection.
  void Add(std::uint32_t connection) { waiting_.push_back(connection); }
  // The connections to open now, in order of arrival; Done() or TurnedAway() must be called for each.
  std::vector<std::uint32_t> Begin(std::uint64_t now_ns);
  // When Begin() will return more connections without any further Done(); empty if never.
  std::optional<std::uint64_t> NextAt() const;

  // Reports that the connection was established, has failed for good or is not needed any more; may be called before it
  // was begun.
  void Done(std::uint32_t connection);
  // Schedules a retry. Returns false, and counts as Done(), if the connection has been tried kMostTries times.
  bool TurnedAway(std::uint32_t connection, std::uint64_t now_ns);

 private:
  Random random_;
  std::uint32_t width_ = kWide;
  std::deque<std::uint32_t> waiting_;
  std::multimap<std::uint64_t, std::uint32_t> resting_;  // key: end of the pause
  std::map<std::uint32_t, std::uint32_t> tries_;
  std::vector<std::uint32_t> begun_;
};

}  // namespace muster
