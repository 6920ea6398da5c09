#include "run/supervise/start_window.h"

#include <algorithm>
#include <utility>

namespace muster {

std::vector<StartWindow::Start> StartWindow::Take(MonotonicNs now) {
  const std::optional<MonotonicNs> at = NextAt(now);
  if (!at || *at > now) return {};
  const std::size_t room = unanswered_ < kUnanswered ? kUnanswered - unanswered_ : kAtOnce;
  std::vector<Start> starts;
  while (!waiting_.empty() && starts.size() < std::min(room, kAtOnce)) {
    starts.push_back(waiting_.front());
    waiting_.pop_front();
    ++sent_[starts.back().host];
  }
  unanswered_ += starts.size();
  moved_at_ = now;
  return starts;
}

std::vector<StartWindow::Start> StartWindow::TakeAll() {
  std::vector<Start> starts(waiting_.begin(), waiting_.end());
  waiting_.clear();
  for (const Start& start : starts) ++sent_[start.host];
  unanswered_ += starts.size();
  return starts;
}

std::optional<MonotonicNs> StartWindow::NextAt(MonotonicNs now) const {
  if (waiting_.empty()) return std::nullopt;
  return unanswered_ < kUnanswered ? now : std::max(now, moved_at_ + kPatience);
}

void StartWindow::Answered(std::uint32_t host, MonotonicNs now) {
  const auto sent = sent_.find(host);
  if (sent == sent_.end()) return;
  moved_at_ = now;
  --unanswered_;
  if (--sent->second == 0) sent_.erase(sent);
}

void StartWindow::Lost(std::uint32_t host, MonotonicNs now) {
  const auto sent = sent_.find(host);
  if (sent == sent_.end()) return;
  moved_at_ = now;
  unanswered_ -= sent->second;
  sent_.erase(sent);
}

}  // namespace muster
