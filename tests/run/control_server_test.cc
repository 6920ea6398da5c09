// Tests which clients the control socket accepts; control_protocol_test.cc and whole runs test the messages.
#include "run/control/control_server.h"

#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/control/control_protocol.h"
#include "run/scratch_folder.h"

namespace muster {
namespace {

constexpr uid_t kForeign = 65'534;

// A connected pair, created as `user` if this process may change its user; restores the effective user afterwards.
struct Pair {
  explicit Pair(uid_t user) {
    const uid_t own = ::geteuid();
    EXPECT_EQ(::seteuid(user), 0);
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    EXPECT_EQ(::seteuid(own), 0);
    here = UniqueFd(ends[0]);
    there = UniqueFd(ends[1]);
  }
  UniqueFd here;
  UniqueFd there;
};

TEST(ControlServer, AcceptsOnlyTheOwnerAndRoot) {
  const uid_t own = ::geteuid();
  const uid_t someone = own == 0 ? kForeign : own;
  const Pair pair(someone);
  EXPECT_TRUE(MayControl(pair.here.get(), someone));
  EXPECT_FALSE(MayControl(pair.here.get(), someone + 1));
  EXPECT_FALSE(MayControl(pair.here.get(), 0)) << "root's runs are root's alone";
  if (own == 0) {
    EXPECT_TRUE(MayControl(Pair(0).here.get(), kForeign));
  }
  EXPECT_FALSE(MayControl(-1, someone));
  const UniqueFd no_socket(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(MayControl(no_socket.get(), someone));
}

// Opens the file modes on purpose, so that only the server's own check of the caller remains.
TEST(ControlServer, ClosesConnectionsOfOtherUsersSilently) {
  const ScratchFolder scratch;
  const UniqueFd folder(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  boost::asio::io_context io;
  int asked = 0;
  const auto server = ControlServer::Listen(io, folder.get(),
                                            {.status =
                                                 [&asked] {
                                                   ++asked;
                                                   return RunStatus{};
                                                 },
                                             .stop = [](bool, bool) { return false; },
                                             .dump = []() -> tl::expected<std::uint32_t, std::string> { return 1; },
                                             .dumping = [] { return 0U; },
                                             .processes = [] { return ProcessStatuses{}; }});
  ASSERT_TRUE(server);
  ASSERT_EQ(::fchmod(folder.get(), 0755), 0);
  ASSERT_EQ(::chmod((scratch / "control").c_str(), 0666), 0);
  const auto ask_as = [&](uid_t user) {
    const UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = ControlAddress(folder.get());
    const uid_t own = ::geteuid();
    EXPECT_EQ(::seteuid(user), 0);
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::seteuid(own), 0);
    const std::string line = ControlRequestLine({ControlRequest::Ask::kStatus, false});
    EXPECT_EQ(::send(client.get(), line.data(), line.size(), MSG_NOSIGNAL), static_cast<ssize_t>(line.size()));
    while (io.poll() > 0) {
    }
    char byte = 0;
    return ::recv(client.get(), &byte, 1, MSG_DONTWAIT) == 1;
  };
  EXPECT_TRUE(ask_as(::geteuid()));
  EXPECT_EQ(asked, 1);
  // Only root can connect as another user; otherwise the test above must suffice.
  if (::geteuid() == 0) {
    EXPECT_FALSE(ask_as(kForeign));
  }
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace muster
