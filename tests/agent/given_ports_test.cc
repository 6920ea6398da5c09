#include "agent/processes/given_ports.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace muster {
namespace {

UniqueFd Listen(std::uint16_t number) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(number);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return ::listen(socket.get(), 1) == 0 ? std::move(socket) : UniqueFd();
}

// Two ports of process 0. The process has this test's pid, so sockets that the test opens count as its own.
class Given : public ::testing::Test {
 protected:
  void SetUp() override {
    const PortsHeld held = ports_.Hold({{{"mine", 0}, {"shared", 0}}});
    ASSERT_EQ(held.error, "");
    mine_ = held.ports.at(0).number;
    shared_ = held.ports.at(1).number;
  }
  void Start(std::uint32_t attempt) {
    StartProcess start;
    start.attempt = attempt;
    start.release_ports = {"mine", "shared"};
    start.own_ports = {"mine"};
    ports_.Release(start);
    ports_.Started({0, attempt, ::getpid(), 1, 1});
  }
  std::vector<PortTaken> End(std::uint32_t attempt, int code) {
    ProcessExited exited;
    exited.attempt = attempt;
    exited.code = code;
    return ports_.Ended(exited, "/nonexistent");
  }

  GivenPorts ports_;
  std::uint16_t mine_ = 0;
  std::uint16_t shared_ = 0;
};

TEST_F(Given, AreHeldUntilTheStartAndOwnOnesAgainAfterTheExit) {
  EXPECT_EQ(ports_.held(), 2U);
  EXPECT_FALSE(Listen(mine_));
  Start(0);
  EXPECT_EQ(ports_.held(), 0U);
  EXPECT_TRUE(Listen(mine_));
  EXPECT_TRUE(End(0, 1).empty());
  EXPECT_EQ(ports_.held(), 1U);
  EXPECT_FALSE(Listen(mine_));
  EXPECT_TRUE(Listen(shared_)) << "somebody else of the job may be about to listen there";
  Start(1);
  EXPECT_TRUE(Listen(mine_));
}

TEST_F(Given, BelongToTheJobIfOneOfItsProcessesListens) {
  Start(0);
  std::optional<PortTaken> taken;
  const UniqueFd socket = Listen(mine_);
  ASSERT_TRUE(socket);
  EXPECT_TRUE(ports_.IsOurs({0, 0}, mine_, taken));
  EXPECT_FALSE(taken);
  EXPECT_TRUE(End(0, 1).empty());
  EXPECT_EQ(ports_.held(), 0U) << "a process that is left has it";
}

TEST_F(Given, ExcludePortsThatWereNotHeld) {
  Start(0);
  std::optional<PortTaken> taken;
  EXPECT_TRUE(ports_.IsOurs({0, 0}, 1, taken)) << "a port that the recipe waits for, whoever has it";
  EXPECT_FALSE(taken);
}

TEST_F(Given, AreReplacedByOthers) {
  Start(0);
  const PortsHeld other = ports_.Hold({{{"mine", 0}}});
  ASSERT_EQ(other.error, "");
  EXPECT_NE(other.ports[0].number, mine_);
  EXPECT_TRUE(End(0, 1).empty());
  EXPECT_EQ(ports_.held(), 1U);
  EXPECT_TRUE(Listen(mine_)) << "the old one is given up";
  EXPECT_FALSE(Listen(other.ports[0].number));
}

TEST_F(Given, AreHeldAllOrNone) {
  const PortsHeld held = ports_.Hold({{{"more", 0}, {"mine", mine_}}});
  EXPECT_TRUE(held.ports.empty());
  EXPECT_EQ(held.error, "mine: port " + std::to_string(mine_) + " is in use");
  EXPECT_EQ(ports_.held(), 2U);
}

}  // namespace
}  // namespace muster
