// Tests connection checks between hosts, over loopback.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "agent/parts/host_preparation.h"
#include "spawn/start/tcp_ports.h"

namespace muster {
namespace {

std::vector<std::string> Tried(const std::vector<PathTarget>& targets, std::uint32_t within_ms = 10'000) {
  boost::asio::io_context io;
  PathProbe trial(io);
  std::vector<std::string> errors;
  trial.Try({targets, within_ms}, [&](const PathsProbed& reported) { errors = reported.errors; });
  EXPECT_TRUE(trial.trying());
  io.run();
  EXPECT_FALSE(trial.trying());
  return errors;
}

using Errors = std::vector<std::string>;

TEST(PathProbe, ReachesHeldPortsAndOneMoreUntilTheyAreClosed) {
  const auto held = HoldAnyPort({});
  ASSERT_TRUE(held);
  boost::asio::io_context io;
  PathProbe listening(io);
  const PathsOpen open = listening.Open({{held->number}});
  ASSERT_EQ(open.error, "");
  ASSERT_NE(open.port, 0);
  const std::vector<PathTarget> targets = {{"127.0.0.1", held->number}, {"127.0.0.1", open.port}};
  EXPECT_EQ(Tried(targets), (Errors{"", ""}));
  listening.Close();
  EXPECT_EQ(Tried(targets), (Errors{"connection refused", "connection refused"}));
  // The port is free again for its process.
  const UniqueFd server(::socket(AF_INET, SOCK_STREAM, 0));
  const int on = 1;
  ::setsockopt(server.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  any.sin_port = htons(held->number);
  EXPECT_EQ(::bind(server.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
  EXPECT_EQ(::listen(server.get(), 1), 0);
}

TEST(PathProbe, ReportsEveryTargetInOrder) {
  boost::asio::io_context io;
  PathProbe listening(io);
  const PathsOpen open = listening.Open({});
  EXPECT_EQ(Tried({{"no address", 1}, {"127.0.0.1", open.port}, {"127.0.0.1", 1}}),
            (Errors{"Invalid argument", "", "connection refused"}));
  EXPECT_EQ(Tried({}), Errors{});
}

TEST(PathProbe, ObservesItsTimeout) {
  // A full backlog drops connection attempts, as a firewall does.
  const UniqueFd full(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in own = {};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof own;
  ASSERT_EQ(::bind(full.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  ASSERT_EQ(::listen(full.get(), 0), 0);
  ASSERT_EQ(::getsockname(full.get(), reinterpret_cast<sockaddr*>(&own), &size), 0);
  std::vector<UniqueFd> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    ::connect(waiting.back().get(), reinterpret_cast<const sockaddr*>(&own), sizeof own);
  }
  EXPECT_EQ(Tried({{"127.0.0.1", ntohs(own.sin_port)}}, 50), Errors{"no answer"});
}

TEST(PathProbe, ReportsNothingOnceClosed) {
  boost::asio::io_context io;
  PathProbe trial(io);
  bool reported = false;
  trial.Try({{{"127.0.0.1", 1}}, 10'000}, [&](const PathsProbed&) { reported = true; });
  trial.Close();
  io.run();
  EXPECT_FALSE(reported);
}

}  // namespace
}  // namespace muster
