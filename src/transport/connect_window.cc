#include "transport/connect_window.h"

#include <algorithm>

namespace muster {
namespace {

// The first pause is half to one and a half of this; each further one is twice as long.
constexpr std::uint64_t kRestNs = 200'000'000;

}  // namespace

std::vector<std::uint32_t> ConnectWindow::Begin(std::uint64_t now_ns) {
  while (!resting_.empty() && resting_.begin()->first <= now_ns) {
    waiting_.push_front(resting_.begin()->second);  // it has waited longest
    resting_.erase(resting_.begin());
  }
  std::vector<std::uint32_t> now;
  while (!waiting_.empty() && begun_.size() < width_) {
    now.push_back(waiting_.front());
    begun_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  return now;
}

std::optional<std::uint64_t> ConnectWindow::NextAt() const {
  if (resting_.empty() || begun_.size() >= width_) return std::nullopt;
  return resting_.begin()->first;
}

void ConnectWindow::Done(std::uint32_t connection) {
  std::erase(begun_, connection);
  std::erase(waiting_, connection);
  std::erase_if(resting_, [connection](const auto& resting) { return resting.second == connection; });
  tries_.erase(connection);
}

bool ConnectWindow::TurnedAway(std::uint32_t connection, std::uint64_t now_ns) {
  Narrow();
  const std::uint32_t tries = ++tries_[connection];
  if (tries >= kMostTries) {
    Done(connection);
    return false;
  }
  std::erase(begun_, connection);
  const std::uint64_t rest = kRestNs << (tries - 1);
  resting_.emplace(now_ns + rest / 2 + random_(rest), connection);
  return true;
}

}  // namespace muster
