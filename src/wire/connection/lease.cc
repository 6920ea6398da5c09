#include "wire/connection/lease.h"

namespace muster {

std::uint32_t AgentLease::NextNumber(std::uint64_t now_ns) {
  unanswered_.emplace_back(++last_, now_ns);
  return last_;
}

void AgentLease::Answered(std::uint32_t heartbeat) {
  while (!unanswered_.empty() && unanswered_.front().first <= heartbeat && heartbeat <= last_) {
    renewed_at_ = std::max(renewed_at_, unanswered_.front().second);
    unanswered_.pop_front();
  }
}

void AgentLease::Resumed(std::uint64_t now_ns) { renewed_at_ = std::max(renewed_at_, now_ns); }

}  // namespace muster
