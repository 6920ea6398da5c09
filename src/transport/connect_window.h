// How many connections are begun at once, and when one that was turned away is tried again: a pure state machine.
//
// Knows numbers of hosts and times; begins nothing itself. An sshd, or a jump host, takes a limited number of
// connections that have not said who they are (MaxStartups, 10 by default); the window keeps below that where it is
// told of a jump host, and shrinks to it once anybody is turned away.
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

  // `random` returns a number from 0 to the one it is given, both included.
  using Random = std::function<std::uint64_t(std::uint64_t)>;
  explicit ConnectWindow(Random random) : random_(std::move(random)) {}

  void Narrow() { width_ = kNarrow; }
  std::uint32_t width() const { return width_; }

  // The connection wants to begin.
  void Add(std::uint32_t connection) { waiting_.push_back(connection); }
  // Who begins now, in the order in which they came; each has to be said Done() or TurnedAway().
  std::vector<std::uint32_t> Begin(std::uint64_t now_ns);
  // When Begin() will have somebody although nobody is Done(); nothing if never.
  std::optional<std::uint64_t> NextAt() const;

  // It is connected, or failed for good, or is not wanted any more: also before it began.
  void Done(std::uint32_t connection);
  // It begins again later; false if it has been tried often enough: it is done then.
  bool TurnedAway(std::uint32_t connection, std::uint64_t now_ns);

 private:
  Random random_;
  std::uint32_t width_ = kWide;
  std::deque<std::uint32_t> waiting_;
  std::multimap<std::uint64_t, std::uint32_t> resting_;  // until when
  std::map<std::uint32_t, std::uint32_t> tries_;
  std::vector<std::uint32_t> begun_;
};

}  // namespace muster
