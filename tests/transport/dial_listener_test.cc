// Tests the listener that agents dial back to with raw connections: nobody comes through without a proof, and nobody
// who fails disturbs the others.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "support/dialing.h"
#include "transport/dial_server.h"

namespace muster::testing {
namespace {

const std::string kSession(32, 'a');
const std::string kToken(32, 'b');

class DialListenerTest : public ::testing::Test {
 protected:
  explicit DialListenerTest(DialLimits limits = {}) {
    auto opened = DialListener::Open(
        io_, kSession, kToken,
        {.judge =
             [this](const std::string& node) {
               const auto found = verdicts_.find(node);
               return found == verdicts_.end() ? DialVerdict::kUnknownNode : found->second;
             },
         .accepted = [this](const std::string& node,
                            UniqueFd connection) { accepted_.emplace_back(node, std::move(connection)); }},
        limits);
    if (!opened) throw std::runtime_error(opened.error().front().message);
    listener_ = std::move(*opened);
  }

  UniqueFd Connect() const { return ConnectHere(listener_->port()); }

  bool Until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!done()) {
      io_.restart();
      if (io_.run_one_until(deadline) == 0) return false;
    }
    return true;
  }

  // The other side's bytes while the loop runs: as many as that, or until it closes the connection.
  std::string Hear(const UniqueFd& socket, std::size_t size) {
    std::string heard;
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (heard.size() < size && std::chrono::steady_clock::now() < deadline) {
      char byte = 0;
      const ssize_t got = ::recv(socket.get(), &byte, 1, MSG_DONTWAIT);
      if (got > 0) {
        heard += byte;
      } else if (got == 0 || errno != EAGAIN) {
        break;
      } else {
        io_.restart();
        io_.run_for(std::chrono::milliseconds(2));
      }
    }
    return heard;
  }
  bool IsClosed(const UniqueFd& socket) { return Hear(socket, 1).empty(); }

  static std::string Greeting(const std::string& node, const std::string& session = kSession) {
    return GreetingBytes({session, MakeNonce(), node});
  }

  // A whole handshake; the verdict, or 0.
  char Dial(const UniqueFd& socket, const std::string& node, const std::string& token = kToken) {
    const std::string greeting = Greeting(node);
    if (!SendAll(socket, greeting)) return 0;
    const std::string answer = Hear(socket, kHeadProofBytes);
    if (!ProvesHead(kToken, greeting, answer) || !SendAll(socket, AgentProof(token, greeting, answer))) return 0;
    const std::string verdict = Hear(socket, 1);
    return verdict.empty() ? '\0' : verdict.front();
  }

  boost::asio::io_context io_;
  std::map<std::string, DialVerdict> verdicts_ = {{"n1", DialVerdict::kAccepted}, {"n2", DialVerdict::kConnected}};
  std::vector<std::pair<std::string, UniqueFd>> accepted_;
  std::shared_ptr<DialListener> listener_;
};

TEST_F(DialListenerTest, HandsOverAProvenConnectionWithAllThatFollows) {
  const UniqueFd agent = Connect();
  const std::string greeting = Greeting("n1");
  ASSERT_TRUE(SendAll(agent, greeting));
  const std::string answer = Hear(agent, kHeadProofBytes);
  // What an agent sends right behind its proof is not the listener's.
  ASSERT_TRUE(SendAll(agent, AgentProof(kToken, greeting, answer) + "more"));
  ASSERT_TRUE(Until([&] { return accepted_.size() == 1; }));
  EXPECT_EQ(accepted_[0].first, "n1");
  EXPECT_EQ(ReadBytes(accepted_[0].second, 4), "more");
  EXPECT_EQ(Hear(agent, 1), "a");
  EXPECT_EQ(listener_->counts(), (DialCounts{.accepted = 1}));
}

TEST_F(DialListenerTest, ClosesAConnectionWithAWrongToken) {
  const UniqueFd outsider = Connect();
  EXPECT_EQ(Dial(outsider, "n1", std::string(32, 'c')), 0);
  EXPECT_TRUE(IsClosed(outsider));
  EXPECT_TRUE(accepted_.empty());
  EXPECT_EQ(listener_->counts(), (DialCounts{.unproven = 1}));
}

TEST_F(DialListenerTest, TakesNoReplayForAnAgent) {
  const UniqueFd agent = Connect();
  const std::string greeting = Greeting("n1");
  ASSERT_TRUE(SendAll(agent, greeting));
  const std::string proof = AgentProof(kToken, greeting, Hear(agent, kHeadProofBytes));
  ASSERT_TRUE(SendAll(agent, proof));
  ASSERT_EQ(Hear(agent, 1), "a");
  const UniqueFd replay = Connect();
  ASSERT_TRUE(SendAll(replay, greeting + proof));
  EXPECT_EQ(Hear(replay, kHeadProofBytes + 1).size(), kHeadProofBytes) << "no verdict";
  EXPECT_EQ(listener_->counts(), (DialCounts{.accepted = 1, .unproven = 1}));
}

TEST_F(DialListenerTest, ClosesWhatCannotBecomeAGreetingAtOnce) {
  const UniqueFd browser = Connect();
  ASSERT_TRUE(SendAll(browser, "GET / HTTP/1.1\r\n"));
  EXPECT_TRUE(IsClosed(browser));
  const UniqueFd other_session = Connect();
  ASSERT_TRUE(SendAll(other_session, Greeting("n1", std::string(32, 'd'))));
  EXPECT_TRUE(IsClosed(other_session));
  const UniqueFd no_name = Connect();
  std::string greeting = Greeting("n1");
  greeting[kGreetingBytes - kMaxNode] = '\n';
  ASSERT_TRUE(SendAll(no_name, greeting));
  EXPECT_TRUE(IsClosed(no_name));
  EXPECT_EQ(listener_->counts(), (DialCounts{.unproven = 3}));
}

TEST_F(DialListenerTest, ReportsToAProvenAgentWhyItIsRefused) {
  EXPECT_EQ(Dial(Connect(), "n9"), 'u');
  EXPECT_EQ(Dial(Connect(), "n2"), 'c');
  EXPECT_TRUE(accepted_.empty());
  EXPECT_EQ(listener_->counts(), (DialCounts{.unknown = 1, .twice = 1}));
}

TEST_F(DialListenerTest, IsNotDisturbedByThoseWhoLeave) {
  { const UniqueFd gone = Connect(); }
  {
    const UniqueFd gone = Connect();
    ASSERT_TRUE(SendAll(gone, Greeting("n1")));
    ASSERT_EQ(Hear(gone, kHeadProofBytes).size(), kHeadProofBytes);
  }
  EXPECT_EQ(Dial(Connect(), "n1"), 'a');
  ASSERT_TRUE(Until([&] { return listener_->counts().left == 2; }));
}

TEST_F(DialListenerTest, ClosesEverythingThatIsUnprovenWithItself) {
  const UniqueFd silent = Connect();
  const UniqueFd half = Connect();
  ASSERT_TRUE(SendAll(half, Greeting("n1")));
  ASSERT_EQ(Hear(half, kHeadProofBytes).size(), kHeadProofBytes);
  const std::uint16_t port = listener_->port();
  listener_->Close();
  EXPECT_TRUE(IsClosed(silent));
  EXPECT_TRUE(IsClosed(half));
  EXPECT_FALSE(ConnectHere(port));
}

class CrowdedListener : public DialListenerTest {
 protected:
  CrowdedListener()
      : DialListenerTest(
            {.handshake_time = std::chrono::hours(1), .most = 4, .crowded_time = std::chrono::milliseconds(20)}) {}
};

// Slow loris: more silent connections than there may be at a time.
TEST_F(CrowdedListener, MakesRoomForAnAgentAmongConnectionsThatSayNothing) {
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 40; ++i) {
    silent.push_back(Connect());
    ASSERT_TRUE(silent.back());
    if (i % 2 == 0) {
      ASSERT_TRUE(SendAll(silent.back(), std::string(kDialMagic)));
    }
  }
  EXPECT_EQ(Dial(Connect(), "n1"), 'a');
  EXPECT_GE(listener_->counts().slow, 37U);
  EXPECT_TRUE(IsClosed(silent.front()));
}

// Neither held open nor opened again do they take a place from the agents of this user.
TEST_F(CrowdedListener, ClosesSilentConnectionsOfAnotherUserForEachOther) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 40; ++i) {
    silent.push_back(ConnectHereAs(listener_->port(), kAnotherUser));
    ASSERT_TRUE(silent.back());
  }
  ASSERT_TRUE(Until([&] { return listener_->counts().slow == 39; })) << "an eighth of the places, and at least one";
  EXPECT_EQ(Dial(Connect(), "n1"), 'a');
  EXPECT_EQ(listener_->counts(), (DialCounts{.accepted = 1, .slow = 39}));
}

class HastyListener : public DialListenerTest {
 protected:
  HastyListener() : DialListenerTest({.handshake_time = std::chrono::milliseconds(30)}) {}
};

TEST_F(HastyListener, ClosesAConnectionThatDripsItsBytes) {
  const UniqueFd slow = Connect();
  const std::string greeting = Greeting("n1");
  ASSERT_TRUE(SendAll(slow, greeting.substr(0, 100)));
  EXPECT_TRUE(IsClosed(slow));
  EXPECT_EQ(listener_->counts(), (DialCounts{.slow = 1}));
}

}  // namespace
}  // namespace muster::testing
