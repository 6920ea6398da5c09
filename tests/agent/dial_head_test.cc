// Tests the agent's side of dialling back: which dial files it reads, and to which heads it shows a proof.
#include "agent/program/dial_head.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/system/host_name.h"
#include "base/system/sockets.h"
#include "support/dialing.h"
#include "support/temp_dir.h"
#include "wire/connection/dial.h"

namespace muster::testing {
namespace {

using std::chrono::milliseconds;

// Never reached: the agent finishes before.
constexpr std::chrono::seconds kLong{30};

// A head on its own thread, which handles connections one after the other.
class FakeHead {
 public:
  explicit FakeHead(std::function<void(const UniqueFd& connection)> handle) : handle_(std::move(handle)) {
    socket_ = std::move(*ListenAt(port_, PortUse::kAlone));
    thread_ = std::thread([this] {
      while (AwaitReadable(socket_.get())) {
        const UniqueFd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (over_) return;
        handle_(connection);
      }
    });
  }
  ~FakeHead() {
    over_ = true;
    const UniqueFd last = ConnectHere(port_);
    thread_.join();
  }
  FakeHead(const FakeHead&) = delete;
  FakeHead& operator=(const FakeHead&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  std::function<void(const UniqueFd&)> handle_;
  std::uint16_t port_ = 0;
  UniqueFd socket_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

const std::string kToken(32, 'b');

// Acts as a head that knows the token; returns the node's name, or nothing if the agent's proof is invalid.
std::optional<std::string> Answer(const UniqueFd& connection, const std::string& verdict,
                                  const std::string& token = kToken) {
  const std::string greeting = ReadBytes(connection, kGreetingBytes);
  const auto parsed = ParseGreeting(greeting);
  if (!parsed) return std::nullopt;
  const std::string answer = HeadProof(token, greeting, MakeNonce());
  SendAll(connection, answer);
  if (!ProvesAgent(token, greeting, answer, ReadBytes(connection, kAgentProofBytes))) return std::nullopt;
  SendAll(connection, verdict);
  return parsed->node;
}

class DialHeadTest : public ::testing::Test {
 protected:
  std::string Write(const DialFile& file, mode_t mode = 0600) const {
    std::ofstream(path()) << DialFileText(file);
    ::chmod(path().c_str(), mode);
    return path();
  }
  static DialFile FileOf(std::initializer_list<std::uint16_t> ports) {
    DialFile file{std::string(32, 'a'), kToken, {}, {}};
    for (const std::uint16_t port : ports) file.addresses.push_back({"127.0.0.1", port});
    return file;
  }
  std::string path() const { return folder_ / "head.dial"; }

  // Returns the error without the path.
  std::string ErrorOf(const std::string& file, milliseconds patience = kLong) const {
    const auto dialed = DialHead(file, patience);
    if (dialed) return "none";
    const std::string begin = "the dial file " + file + ": ";
    return dialed.error().starts_with(begin) ? dialed.error().substr(begin.size()) : dialed.error();
  }

  TempDir folder_;
};

TEST_F(DialHeadTest, ReadsOnlyAPrivateFile) {
  const DialFile file = FileOf({1});
  EXPECT_EQ(ErrorOf(Write(file, 0640)), "others may read it: its mode must be 0600");
  EXPECT_EQ(ErrorOf(Write(file, 0604)), "others may read it: its mode must be 0600");
  Write(file);
  std::filesystem::create_symlink(path(), folder_ / "link");
  EXPECT_EQ(ErrorOf(folder_ / "link"), "it is a symbolic link");
  EXPECT_EQ(ErrorOf(folder_.path()), "it is no regular file");
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(ErrorOf(folder_ / "fifo"), "it is no regular file");
  std::ofstream(path()) << "muster-dial 1\nsession x\n";
  EXPECT_EQ(ErrorOf(path()), "line 2: session is not of 32 hex digits");
  std::ofstream(path()) << std::string(100'000, 'x');
  EXPECT_EQ(ErrorOf(path()), "more than 4096 bytes");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  Write(file);
  ASSERT_EQ(::chown(path().c_str(), 65534, 65534), 0);
  EXPECT_EQ(ErrorOf(path()), "it belongs to another user");
}

TEST_F(DialHeadTest, WaitsForAMissingFile) {
  EXPECT_EQ(ErrorOf(path(), milliseconds(1)),
            "no head answers within 1.0 ms: the dial file " + path() + ": No such file or directory");
}

TEST_F(DialHeadTest, RequiresTheVariableWithItsName) {
  DialFile file = FileOf({1});
  file.node_variable = "MUSTER_TEST_NO_SUCH_NODE";
  EXPECT_EQ(ErrorOf(Write(file)),
            "the environment variable MUSTER_TEST_NO_SUCH_NODE, which is to hold the node's name, is not set");
}

TEST_F(DialHeadTest, ConnectsUnderItsHostName) {
  std::optional<std::string> node;
  std::optional<DialedHead> dialed;
  {
    FakeHead head([&](const UniqueFd& connection) {
      node = Answer(connection, "a");
      SendAll(connection, "more");
    });
    auto result = DialHead(Write(FileOf({head.port()})), kLong);
    ASSERT_TRUE(result) << result.error();
    dialed = std::move(*result);
  }
  EXPECT_EQ(node, OwnHostName());
  EXPECT_EQ(dialed->address, "") << "loopback";
  EXPECT_EQ(ReadBytes(dialed->connection, 5), "more") << "it has read no more than the verdict";
}

// Otherwise a program at one of the addresses could use the proof at the real head.
TEST_F(DialHeadTest, SendsNoProofIfTheHeadsProofIsInvalid) {
  std::string shown = "?";
  std::optional<FakeHead> impostor;
  impostor.emplace([&](const UniqueFd& connection) {
    const std::string greeting = ReadBytes(connection, kGreetingBytes);
    SendAll(connection, HeadProof(std::string(32, '0'), greeting, MakeNonce()));
    shown = ReadBytes(connection, kAgentProofBytes);
  });
  FakeHead head([](const UniqueFd& connection) { Answer(connection, "a"); });
  EXPECT_TRUE(DialHead(Write(FileOf({impostor->port(), head.port()})), kLong));
  impostor.reset();  // it has finished with the connection
  EXPECT_EQ(shown, "");
}

TEST_F(DialHeadTest, ReportsTheErrorAtEachAddress) {
  std::uint16_t closed = 0;
  { const auto socket = ListenAt(closed, PortUse::kAlone); }
  FakeHead impostor([](const UniqueFd& connection) {
    ReadBytes(connection, kGreetingBytes);
    SendAll(connection, std::string(kHeadProofBytes, '0'));
    ReadBytes(connection, 1);
  });
  const std::string error = ErrorOf(Write(FileOf({closed, impostor.port()})), milliseconds(600));
  EXPECT_NE(error.find("127.0.0.1:" + std::to_string(closed) + ": connection refused"), std::string::npos) << error;
  EXPECT_NE(error.find("127.0.0.1:" + std::to_string(impostor.port()) + ": another program listens there"),
            std::string::npos)
      << error;
}

TEST_F(DialHeadTest, DoesNotRetryAHeadThatRefusesIt) {
  for (const auto& [verdict, words] : {std::pair("c", "the head has an agent of this node already"),
                                       std::pair("u", "the head awaits no agent of this node")}) {
    int calls = 0;
    std::optional<FakeHead> head;
    head.emplace([&, verdict = verdict](const UniqueFd& connection) {
      Answer(connection, verdict);
      ++calls;
    });
    const std::string error = ErrorOf(Write(FileOf({head->port()})));
    EXPECT_EQ(error, "as node " + OwnHostName() + ": 127.0.0.1:" + std::to_string(head->port()) + ": " + words);
    head.reset();
    EXPECT_EQ(calls, 1);
  }
}

TEST_F(DialHeadTest, RetriesAHeadThatClosesTheConnection) {
  int calls = 0;
  std::optional<FakeHead> head;
  head.emplace([&](const UniqueFd& connection) {
    if (++calls == 3) Answer(connection, "a");
  });
  EXPECT_TRUE(DialHead(Write(FileOf({head->port()})), kLong));
  head.reset();
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace muster::testing
