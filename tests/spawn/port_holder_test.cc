#include <string>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawn/start/tcp_ports.h"

namespace muster {
namespace {

using Kind = PortHolder::Kind;
using State = TcpSocket::State;

constexpr std::string_view kHeading =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

std::string Line(const std::string& local, const std::string& state, const std::string& inode) {
  return "   0: " + local + " 00000000:0000 " + state + " 00000000:00000000 00:00000000 00000000  1000        0 " +
         inode + " 1 0000000000000000 100 0 0 10 0\n";
}

TEST(TcpTable, IsParsed) {
  const std::string six = "00000000000000000000000001000000";
  EXPECT_EQ(
      ParseTcpTable(std::string(kHeading) + Line("0100007F:1F90", "0A", "424242") + Line("0100007F:FFFF", "01", "7") +
                    Line(six + ":0400", "06", "0")),
      (std::vector<TcpSocket>{
          {8080, State::kListening, 1000, 424242}, {65535, State::kOther, 1000, 7}, {1024, State::kPast, 1000, 0}}));
}

TEST(TcpTable, SkipsMalformedLines) {
  const std::string good = Line("0100007F:1F90", "0A", "424242");
  for (const std::string& bad :
       {std::string("\n"), std::string("0"), std::string("   0: 0100007F:1F90 00000000:0000"), std::string(5000, ':'),
        Line("0100007F", "0A", "1"), Line("0100007F:", "0A", "1"), Line("0100007F:12345", "0A", "1"),
        Line("0100007F:-1", "0A", "1"), Line("0100007F:1F90", "1AA", "1"), Line("0100007F:1F90", "", "1"),
        Line("0100007F:1F90", "0A", "99999999999999999999"), Line("0100007F:1F90", "0A", "x"),
        std::string("\0\xff: \x1b[2J", 8)}) {
    EXPECT_EQ(ParseTcpTable(bad + '\n' + good).size(), 1U) << bad;
  }
  EXPECT_EQ(ParseTcpTable(good.substr(0, good.find("424242"))), std::vector<TcpSocket>{}) << "cut";
  EXPECT_EQ(ParseTcpTable(""), std::vector<TcpSocket>{});
}

class AServer : public ::testing::Test {
 protected:
  void SetUp() override {
    auto held = HoldAnyPort({});
    ASSERT_TRUE(held) << held.error();
    held_ = std::move(*held);
  }
  PortHolder Find(pid_t ours) const { return FindPortHolders({held_.number}, ours).at(held_.number); }

  HeldPort held_;
};

TEST_F(AServer, IsFoundWhenItListens) {
  EXPECT_EQ(Find(0).kind, Kind::kNone) << "bound only: no table knows";
  EXPECT_FALSE(Listeners().contains(held_.number));
  ASSERT_EQ(::listen(held_.socket.get(), 1), 0);
  const PortHolder outsider = Find(0);
  EXPECT_EQ(outsider.kind, Kind::kForeign);
  EXPECT_TRUE(outsider.listening);
  EXPECT_EQ(outsider.pid, ::getpid());
  EXPECT_NE(outsider.command.find("spawn_test"), std::string::npos) << outsider.command;
  EXPECT_TRUE(HasSocket(::getpid(), Listeners().at(held_.number)));
  EXPECT_FALSE(HasSocket(1, Listeners().at(held_.number)));
}

TEST_F(AServer, IsOwnIfItDescendsFromTheGivenProcess) {
  ASSERT_EQ(::listen(held_.socket.get(), 1), 0);
  EXPECT_EQ(Find(::getpid()).kind, Kind::kOurs);
  EXPECT_EQ(Find(::getppid()).kind, Kind::kOurs);
}

TEST(PortHolderText, IsSafeForATerminal) {
  EXPECT_EQ(PortHolderText({}), "");
  EXPECT_EQ(PortHolderText({Kind::kForeign, true, 0, 1000, ""}), "a process of user 1000");
  EXPECT_EQ(PortHolderText({Kind::kForeign, true, 7, 0, ""}), "process 7");
  EXPECT_EQ(PortHolderText({Kind::kForeign, true, 7, 0, "nc \x1b[2J"}), "process 7 (nc \\x1b[2J)");
}

}  // namespace
}  // namespace muster
