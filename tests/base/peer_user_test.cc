// Tests whose program is found at the other end of connections within this machine.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/sockets.h"
#include "base/system/unique_fd.h"
#include "support/dialing.h"

namespace muster::testing {
namespace {

class PeerUser : public ::testing::Test {
 protected:
  PeerUser() : listening_(ListenAt(port_, PortUse::kAlone).value()) {}

  UniqueFd Accept() const {
    EXPECT_TRUE(AwaitReadable(listening_.get()));
    return UniqueFd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  std::uint16_t port_ = 0;
  UniqueFd listening_;  // IPv6, so that the peers' addresses are mapped ones
};

TEST_F(PeerUser, IsThisOne) {
  const UniqueFd client = ConnectHere(port_);
  const UniqueFd server = Accept();
  EXPECT_EQ(UserOfPeer(server.get()), ::geteuid());
  EXPECT_EQ(UserOfPeer(server.get(), true), ::geteuid());
  EXPECT_EQ(PeerOf(server.get()).kind, Peer::Kind::kOwn);
  EXPECT_EQ(PeerOf(client.get()).kind, Peer::Kind::kOwn) << "seen from the other side";
}

TEST_F(PeerUser, IsAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const UniqueFd client = ConnectHereAs(port_, kAnotherUser);
  const UniqueFd server = Accept();
  EXPECT_EQ(UserOfPeer(server.get()), kAnotherUser);
  EXPECT_EQ(UserOfPeer(server.get(), true), kAnotherUser);
  EXPECT_EQ(PeerOf(server.get()).kind, Peer::Kind::kOtherUser);
}

TEST_F(PeerUser, OfIpv6IsFound) {
  const UniqueFd client(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port_);
  address.sin6_addr = in6addr_loopback;
  if (!client || ::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    GTEST_SKIP() << "no IPv6";
  }
  const UniqueFd server = Accept();
  EXPECT_EQ(UserOfPeer(server.get()), ::geteuid());
  EXPECT_EQ(UserOfPeer(server.get(), true), ::geteuid());
}

// The kernel ascribes sockets that no process holds any more to root.
TEST_F(PeerUser, OfAClosedSocketIsNobody) {
  UniqueFd client = ConnectHere(port_);
  const UniqueFd server = Accept();
  client.reset();
  EXPECT_EQ(UserOfPeer(server.get()), std::nullopt);
  EXPECT_EQ(UserOfPeer(server.get(), true), std::nullopt);
  EXPECT_EQ(PeerOf(server.get()).kind, Peer::Kind::kOtherUser);
}

TEST(PeerUserOf, NoConnectionIsAnotherUsers) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(PeerOf(socket.get()).kind, Peer::Kind::kOtherUser);
}

}  // namespace
}  // namespace muster::testing
