#include <array>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawn/start/tcp_ports.h"

namespace muster {
namespace {

// A typical server: SO_REUSEADDR, bound to loopback, listening.
UniqueFd Listen(std::uint16_t number, bool reuse = true) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int one = reuse ? 1 : 0;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(number);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), 1) != 0) {
    socket.reset();
  }
  return socket;
}

TEST(HeldPort, IsChosenOutsideReservedRanges) {
  std::set<std::uint16_t> taken;
  for (int i = 0; i < 50; ++i) {
    const auto held = HoldAnyPort(taken);
    ASSERT_TRUE(held) << held.error();
    EXPECT_GE(held->number, 1024);
    EXPECT_TRUE(held->number < kAvoidedFirst || held->number > kAvoidedLast) << held->number;
    EXPECT_TRUE(held->number < FirstEphemeralPort() || FirstEphemeralPort() < 2048) << held->number;
    EXPECT_TRUE(taken.insert(held->number).second) << held->number << " twice";
  }
}

TEST(HeldPort, CannotBeBoundUntilReleased) {
  auto held = HoldAnyPort({});
  ASSERT_TRUE(held) << held.error();
  EXPECT_FALSE(Listen(held->number, false));
  const auto again = HoldPort(held->number);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error(), "port " + std::to_string(held->number) + " is in use");
  held->socket.reset();
  EXPECT_TRUE(Listen(held->number, false));
}

TEST(HeldPort, CanBeUsedByAServerWithReuseAddress) {
  const auto held = HoldAnyPort({});
  ASSERT_TRUE(held);
  EXPECT_TRUE(Listen(held->number));
}

TEST(HeldPort, IsRefusedIfAnotherSocketListens) {
  std::uint16_t number = 0;
  {
    const auto free = HoldAnyPort({});
    ASSERT_TRUE(free);
    number = free->number;
  }
  const UniqueFd server = Listen(number);
  ASSERT_TRUE(server);
  const auto held = HoldPort(number);
  ASSERT_FALSE(held);
  const std::string holder = "by process " + std::to_string(::getpid()) + " (";
  EXPECT_TRUE(held.error().starts_with("port " + std::to_string(number) + " is in use " + holder)) << held.error();
  EXPECT_FALSE(TryHoldPort(number));
}

TEST(HeldPort, IsNotRefusedForClosedConnections) {
  std::uint16_t number = 0;
  {
    const auto free = HoldAnyPort({});
    ASSERT_TRUE(free);
    number = free->number;
  }
  {
    const UniqueFd server = Listen(number);
    ASSERT_TRUE(server);
    const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(number);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    UniqueFd accepted(::accept(server.get(), nullptr, nullptr));
    // The side that closes first keeps the connection in TIME_WAIT.
    accepted.reset();
    std::array<char, 1> byte = {};
    ASSERT_EQ(::read(client.get(), byte.data(), byte.size()), 0);
  }
  ASSERT_FALSE(Listen(number, false)) << "no connection is in TIME_WAIT";
  const auto held = HoldPort(number);
  EXPECT_TRUE(held) << held.error();
}

}  // namespace
}  // namespace muster
