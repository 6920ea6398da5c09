#include "sweep/scheduler/trial_queue.h"

#include <algorithm>
#include <set>
#include <utility>

namespace muster {
namespace {

// All devices, then all processes.
std::pair<std::uint32_t, std::uint32_t> SizeOf(const TrialNeeds& needs) {
  std::pair<std::uint32_t, std::uint32_t> size{0, 0};
  for (const HostShare& share : needs) {
    size.first += share.devices;
    size.second += share.processes;
  }
  return size;
}

}  // namespace

void TrialQueue::Add(TrialNumber trial, TrialNeeds needs, std::set<std::uint32_t> avoid) {
  const auto behind = std::find_if(waiting_.begin(), waiting_.end(),
                                   [&](const Waiting& other) { return SizeOf(other.needs) < SizeOf(needs); });
  waiting_.insert(behind, {trial, std::move(needs), std::move(avoid), 0});
}

std::vector<TrialNumber> TrialQueue::trials() const {
  std::vector<TrialNumber> numbers;
  for (const Waiting& waiting : waiting_) numbers.push_back(waiting.trial);
  return numbers;
}

std::optional<TrialQueue::Start> TrialQueue::Next(HostPool& pool) {
  std::set<std::uint32_t> kept;  // reserved for trials that were overtaken too often
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    std::set<std::uint32_t> avoided = waiting_[i].avoid;
    avoided.insert(kept.begin(), kept.end());
    auto hosts = pool.Place(waiting_[i].needs, avoided);
    if (!hosts && !waiting_[i].avoid.empty()) hosts = pool.Place(waiting_[i].needs, kept);
    if (!hosts) {
      if (waiting_[i].overtaken < kMostOvertaken) continue;
      if (const auto later = pool.PlaceWhenEmpty(waiting_[i].needs)) kept.insert(later->begin(), later->end());
      continue;
    }
    Start start{waiting_[i].trial, std::move(waiting_[i].needs), *std::move(hosts)};
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t passed = 0; passed < i; ++passed) ++waiting_[passed].overtaken;
    pool.Take(start.needs, start.hosts);
    return start;
  }
  return std::nullopt;
}

std::vector<std::pair<TrialNumber, std::string>> TrialQueue::TakeHopeless(const HostPool& pool) {
  std::vector<std::pair<TrialNumber, std::string>> hopeless;
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    std::string why = pool.WhyNever(waiting.needs);
    if (why.empty()) return false;
    hopeless.emplace_back(waiting.trial, std::move(why));
    return true;
  });
  return hopeless;
}

}  // namespace muster
