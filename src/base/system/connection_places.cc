#include "base/system/connection_places.h"

#include <algorithm>
#include <map>

namespace muster {
namespace {

constexpr std::size_t kShareOfOthers = 8;  // one place of so many

}  // namespace

ConnectionPlaces::Admission ConnectionPlaces::Admit(const Peer& peer, Clock::time_point now) {
  const bool other = peer.kind == Peer::Kind::kOtherUser;
  if (other && CountOf(peer) >= std::max<std::size_t>(1, most_ / kShareOfOthers)) {
    return Replace(OldestOf(peer), peer, now);
  }
  if (places_.size() < most_) return {Enter(peer, now), std::nullopt};
  std::map<Peer, std::size_t> counts;
  for (const Place& place : places_) {
    if (!place.proven) ++counts[place.peer];
  }
  // Other users give way to everybody else, then the peer that has most.
  const auto weight = [](const auto& count) {
    return std::pair(count.first.kind == Peer::Kind::kOtherUser, count.second);
  };
  const auto largest = std::max_element(counts.begin(), counts.end(),
                                        [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  if (largest == counts.end()) return {};
  // Another user takes no place of anybody else's.
  if (other && largest->first.kind != Peer::Kind::kOtherUser) return {};
  const bool others_give_way = largest->first.kind == Peer::Kind::kOtherUser && !other;
  if (others_give_way || (largest->first != peer && largest->second > CountOf(peer) + 1)) {
    return Replace(OldestOf(largest->first), peer, now);
  }
  const auto oldest = std::find_if(places_.begin(), places_.end(), [](const Place& place) { return !place.proven; });
  if (oldest != places_.end() && now - oldest->since >= moment_) return Replace(oldest, peer, now);
  return {};
}

ConnectionPlaces::Admission ConnectionPlaces::Replace(Places::iterator oldest, const Peer& peer,
                                                      Clock::time_point now) {
  const Id closes = oldest->id;
  places_.erase(oldest);
  return {Enter(peer, now), closes};
}

ConnectionPlaces::Id ConnectionPlaces::Enter(const Peer& peer, Clock::time_point now) {
  places_.push_back({next_, peer, now, false});
  return next_++;
}

void ConnectionPlaces::Prove(Id id) {
  for (Place& place : places_) {
    if (place.id == id) place.proven = true;
  }
}

void ConnectionPlaces::Remove(Id id) {
  places_.remove_if([id](const Place& place) { return place.id == id; });
}

std::size_t ConnectionPlaces::CountOf(const Peer& peer) const {
  return static_cast<std::size_t>(std::count_if(
      places_.begin(), places_.end(), [&](const Place& place) { return !place.proven && place.peer == peer; }));
}

ConnectionPlaces::Places::iterator ConnectionPlaces::OldestOf(const Peer& peer) {
  return std::find_if(places_.begin(), places_.end(),
                      [&](const Place& place) { return !place.proven && place.peer == peer; });
}

}  // namespace muster
