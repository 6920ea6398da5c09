// Tests who gets a place at a server, and who has to give it up.
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/system/sockets.h"

namespace muster {
namespace {

using std::chrono::seconds;
using Kind = Peer::Kind;

const Peer kOwn{Kind::kOwn, {}};
const Peer kOther{Kind::kOtherUser, {}};
const Peer kHost{Kind::kElsewhere, "10.0.0.1"};
const Peer kFlood{Kind::kElsewhere, "10.0.0.9"};

class Places : public ::testing::Test {
 protected:
  ConnectionPlaces::Admission Admit(const Peer& peer) { return places_.Admit(peer, now_); }

  ConnectionPlaces places_{16, seconds(1)};
  ConnectionPlaces::Clock::time_point now_{};
};

TEST_F(Places, OfOtherUsersAreAnEighth) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(Admit(kOther).id);
  EXPECT_EQ(places_.size(), 2U);
  for (int i = 0; i < 14; ++i) EXPECT_FALSE(Admit(kOwn).closes) << i;
}

TEST_F(Places, OfOtherUsersGoFirst) {
  const auto other = Admit(kOther).id;
  while (places_.size() < 16) Admit(kOwn);
  const auto own = Admit(kOwn);
  EXPECT_TRUE(own.id);
  EXPECT_EQ(own.closes, other);
  EXPECT_FALSE(Admit(kOwn).id) << "all are the user's own, and new";
  EXPECT_FALSE(Admit(kOther).id) << "no place of the user's own for others";
}

TEST_F(Places, AreGivenUpAfterAMoment) {
  const auto oldest = Admit(kOwn).id;
  while (places_.size() < 16) Admit(kOwn);
  EXPECT_FALSE(Admit(kOwn).id);
  now_ += seconds(2);
  const auto own = Admit(kOwn);
  EXPECT_TRUE(own.id);
  EXPECT_EQ(own.closes, oldest);
}

TEST_F(Places, OfAMachineThatHasMostGoToTheOthers) {
  const auto oldest = Admit(kFlood).id;
  while (places_.size() < 16) Admit(kFlood);
  EXPECT_FALSE(Admit(kFlood).id);
  const auto host = Admit(kHost);
  EXPECT_TRUE(host.id);
  EXPECT_EQ(host.closes, oldest);
  EXPECT_EQ(places_.CountOf(kFlood), 15U);
}

TEST_F(Places, OfProvenConnectionsAreKept) {
  std::set<ConnectionPlaces::Id> proven;
  for (int i = 0; i < 16; ++i) {
    const auto other = Admit(kOther).id;
    ASSERT_TRUE(other);
    places_.Prove(*other);
    proven.insert(*other);
  }
  now_ += seconds(100);
  EXPECT_FALSE(Admit(kOwn).id);
  places_.Remove(*proven.begin());
  EXPECT_TRUE(Admit(kOwn).id);
}

}  // namespace
}  // namespace muster
