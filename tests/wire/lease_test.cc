#include "wire/connection/lease.h"

#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(Lease, RunsForTheAgentFromTheSendTimeOfTheAnsweredHeartbeat) {
  AgentLease lease(10'000, 5 * kSecond);
  EXPECT_EQ(lease.EndsAt(), 5 * kSecond + 7'500'000'000);
  EXPECT_EQ(lease.NextNumber(6 * kSecond), 1U);
  EXPECT_EQ(lease.NextNumber(7 * kSecond), 2U);
  EXPECT_EQ(lease.EndsAt(), 5 * kSecond + 7'500'000'000) << "to send is not to be heard";
  lease.Answered(1);
  EXPECT_EQ(lease.EndsAt(), 6 * kSecond + 7'500'000'000) << "however late the answer comes";
  lease.Answered(2);
  EXPECT_EQ(lease.EndsAt(), 7 * kSecond + 7'500'000'000);
}

TEST(Lease, IsNotRenewedByAnUnexpectedAnswer) {
  AgentLease lease(10'000, 0);
  lease.NextNumber(1 * kSecond);
  lease.NextNumber(2 * kSecond);
  lease.Answered(2);
  const std::uint64_t ends = lease.EndsAt();
  lease.Answered(1);  // out of order
  lease.Answered(0);
  lease.Answered(7);  // never sent
  EXPECT_EQ(lease.EndsAt(), ends);
}

TEST(Lease, RunsForTheHeadFromTheLastReceivedHeartbeat) {
  HostLease lease(3'000, 10 * kSecond);
  EXPECT_EQ(lease.LostAt(), 13 * kSecond);
  lease.Heard(12 * kSecond);
  EXPECT_EQ(lease.LostAt(), 15 * kSecond);
}

TEST(Lease, OfAHostDoesNotExpireWhileTheHeadIsSuspended) {
  HostLease lease(3'000, 10 * kSecond);
  lease.Slept(20 * kSecond);
  EXPECT_EQ(lease.LostAt(), 33 * kSecond);
  lease.Heard(31 * kSecond);
  EXPECT_EQ(lease.LostAt(), 34 * kSecond) << "of the sleep before nothing is left";
}

TEST(Lease, BeginsAgainAfterAPauseOfTheSideItself) {
  AgentLease agent(10'000, 0);
  agent.NextNumber(1 * kSecond);
  agent.Resumed(41 * kSecond);
  EXPECT_EQ(agent.EndsAt(), 48'500'000'000U);
  agent.Answered(1);
  EXPECT_EQ(agent.EndsAt(), 48'500'000'000U) << "an answer to what was sent before the pause does not end it earlier";
  HostLease host(10'000, 0);
  host.Resumed(41 * kSecond);
  EXPECT_EQ(host.LostAt(), 51 * kSecond);
  EXPECT_GE(PauseNs(2'000), 2 * kSecond) << "load is no pause";
  EXPECT_LT(PauseNs(10'000), 10 * kSecond);
}

TEST(Lease, ToleratesTwoLateHeartbeats) {
  for (const std::uint64_t lease_ms : {100U, 1'000U, 3'999U, 4'000U, 10'000U, 60'000U}) {
    EXPECT_LE(3 * HeartbeatMs(lease_ms), lease_ms * 3 / 4);
    EXPECT_LE(HeartbeatMs(lease_ms), 1'000U);
  }
}

// Simulates HeartbeatSender and its answers over a connection that loses and delays messages at random, independently
// in each direction: the agent must have stopped everything before the head gives the host up, a tenth of the lease
// earlier.
TEST(Lease, ExpiresOnTheAgentBeforeTheHeadGivesUp) {
  constexpr std::uint64_t kLeaseMs = 10'000;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&random](unsigned percent) { return random() % 100 < percent; };
    const auto loss_there = static_cast<unsigned>(random() % 101);
    const auto loss_back = static_cast<unsigned>(random() % 101);
    const std::uint64_t longest_way = 1 + random() % 4'000;
    struct Flying {
      std::uint64_t at;
      std::uint32_t number;
    };
    std::vector<Flying> heartbeats;
    std::vector<Flying> answers;
    AgentLease agent(kLeaseMs, 0);
    HostLease head(kLeaseMs, random() % longest_way * 1'000'000);  // delay of the greeting
    std::optional<std::uint64_t> agent_ended;
    for (std::uint64_t ms = 1; ms < 120'000; ++ms) {
      const std::uint64_t now = ms * 1'000'000;
      if (!agent_ended && now >= agent.EndsAt()) agent_ended = now;
      if (!agent_ended && ms % HeartbeatMs(kLeaseMs) == 0) {
        const std::uint32_t number = agent.NextNumber(now);
        if (!chance(loss_there)) heartbeats.push_back({ms + random() % longest_way, number});
      }
      for (const Flying& heartbeat : heartbeats) {
        if (heartbeat.at != ms || now >= head.LostAt()) continue;
        head.Heard(now);
        if (!chance(loss_back)) answers.push_back({ms + 1 + random() % longest_way, heartbeat.number});
      }
      for (const Flying& answer : answers) {
        if (answer.at == ms && !agent_ended) agent.Answered(answer.number);
      }
      if (now < head.LostAt()) continue;
      ASSERT_TRUE(agent_ended) << "seed " << seed << ": lost at " << ms << " ms, and the agent goes on";
      ASSERT_LE(*agent_ended + kLeaseMs * 100'000, head.LostAt()) << "seed " << seed;
      break;
    }
  }
}

}  // namespace
}  // namespace muster
