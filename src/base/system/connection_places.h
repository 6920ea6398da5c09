// Decides which connections a server keeps before it knows who asks: no other user and no other machine can use up the
// places of the server's own user, nor those of another machine. Pure: the caller accepts and closes, and has the time.
//
// A connection is unproven until its first message has shown that it may ask (a token, a proof). Unproven connections
// of other users of this machine have an eighth of the places, and each further one takes the place of the oldest of
// them. If all places are taken, a newcomer takes the place of the oldest unproven connection of the peer that has
// most, or of one that has had its moment. A proven connection loses its place to nobody.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "base/system/peer_user.h"

namespace muster {

class ConnectionPlaces {
 public:
  using Clock = std::chrono::steady_clock;
  using Id = std::uint64_t;

  struct Admission {
    std::optional<Id> id;      // none: there is no place, and nobody who has to give up one
    std::optional<Id> closes;  // whose connection is to be closed now; it has no place any more
  };

  // `moment`: how long an unproven connection keeps its place from newcomers of those who have as many.
  ConnectionPlaces(std::size_t most, Clock::duration moment) : most_(most), moment_(moment) {}

  Admission Admit(const Peer& peer, Clock::time_point now);
  // A place beyond all others, for a caller that lets the newcomer wait instead of closing its connection.
  Id Enter(const Peer& peer, Clock::time_point now);
  void Prove(Id id);
  void Remove(Id id);

  std::size_t size() const { return places_.size(); }
  // Of unproven connections.
  std::size_t CountOf(const Peer& peer) const;

 private:
  struct Place {
    Id id = 0;
    Peer peer;
    Clock::time_point since;
    bool proven = false;
  };
  using Places = std::list<Place>;  // in the order of arrival

  Places::iterator OldestOf(const Peer& peer);
  Admission Replace(Places::iterator oldest, const Peer& peer, Clock::time_point now);

  std::size_t most_;
  Clock::duration moment_;
  Places places_;
  Id next_ = 1;
};

}  // namespace muster
