// Tests frames between evaluator and parent: any input yields complete frames or an error.
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "evaluator/evaluator_frames.h"

namespace muster {
namespace {

class Channel : public ::testing::Test {
 protected:
  Channel() {
    int sockets[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    ours_ = UniqueFd(sockets[0]);
    theirs_ = UniqueFd(sockets[1]);
  }
  void Send(const std::string& bytes) {
    ASSERT_EQ(::send(theirs_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  ReadStatus Read() { return ReadFrame(ours_.get(), frame_, MonotonicNowNs() + 30'000'000'000); }
  static std::uint64_t Past() { return MonotonicNowNs() - 1; }

  UniqueFd ours_, theirs_;
  Frame frame_;
};

TEST_F(Channel, DeliversFramesInOrder) {
  for (const std::string& payload : {std::string("one"), std::string(), std::string("\0\xff", 2)})
    ASSERT_TRUE(WriteFrame(theirs_.get(), FrameTag::kAnswer, payload));
  for (const std::string& payload : {std::string("one"), std::string(), std::string("\0\xff", 2)}) {
    ASSERT_EQ(Read(), ReadStatus::kFrame);
    EXPECT_EQ(frame_.tag, FrameTag::kAnswer);
    EXPECT_EQ(frame_.payload, payload);
  }
}

TEST_F(Channel, DeliversLargeFramesPieceByPiece) {
  const std::string payload(20U << 20, 'x');
  std::thread writer([&] { EXPECT_TRUE(WriteFrame(theirs_.get(), FrameTag::kAnswer, payload)); });
  EXPECT_EQ(Read(), ReadStatus::kFrame);
  writer.join();
  EXPECT_EQ(frame_.payload, payload);
}

TEST_F(Channel, DistinguishesTheEndFromATruncatedFrame) {
  const std::string whole("\x05\0\0\0Ahello", 10);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    const UniqueFd reader(sockets[0]);
    UniqueFd writer(sockets[1]);
    ASSERT_EQ(::send(writer.get(), whole.data(), size, 0), static_cast<ssize_t>(size));
    writer.reset();
    EXPECT_EQ(ReadFrame(reader.get(), frame_, 0), ReadStatus::kClosed) << size;
  }
}

TEST_F(Channel, RefusesAnInvalidLength) {
  Send(
      std::string("\xff\xff\xff\xff"
                  "A",
                  5));
  EXPECT_EQ(Read(), ReadStatus::kBroken);
}

TEST_F(Channel, AllocatesForReceivedNotForClaimedBytes) {
  Send(
      std::string("\0\0\0\x0f"
                  "Ashort",
                  10));  // claims 240 MiB
  theirs_.reset();
  EXPECT_EQ(Read(), ReadStatus::kClosed);
  EXPECT_LE(frame_.payload.size(), 1U << 20);
}

TEST_F(Channel, StopsReadingAtItsDeadline) {
  EXPECT_EQ(ReadFrame(ours_.get(), frame_, Past()), ReadStatus::kTimeout);
  Send("\x05");
  EXPECT_EQ(ReadFrame(ours_.get(), frame_, MonotonicNowNs() + 1'000'000), ReadStatus::kTimeout) << "half a header";
}

TEST_F(Channel, StopsWritingAtItsDeadline) {
  const std::string payload(32U << 20, 'x');
  EXPECT_FALSE(WriteFrame(ours_.get(), FrameTag::kRequest, payload, MonotonicNowNs() + 1'000'000)) << "nobody reads";
}

TEST_F(Channel, DetectsAClosedPeer) {
  theirs_.reset();
  EXPECT_FALSE(WriteFrame(ours_.get(), FrameTag::kRequest, "x"));
  EXPECT_EQ(Read(), ReadStatus::kClosed);
}

TEST_F(Channel, SendsNoFrameThatThePeerWouldRefuse) {
  const std::string payload(kMaxEvaluationFrame + 1, 'x');
  EXPECT_FALSE(WriteFrame(ours_.get(), FrameTag::kRequest, payload));
  EXPECT_FALSE(WriteFrame(ours_.get(), FrameTag::kQuestion, payload.substr(0, kMaxQuestionFrame + 1)));
}

TEST_F(Channel, RefusesTooLongQuestions) {
  for (const bool waiting : {true, false}) {
    const std::size_t size = kMaxQuestionFrame + 1;
    std::string header(5, 'Q');
    for (unsigned i = 0; i < 4; ++i) header[i] = static_cast<char>(size >> (8 * i));
    Send(header);
    IncomingFrames incoming;
    EXPECT_EQ(waiting ? Read() : incoming.Next(ours_.get(), frame_), ReadStatus::kBroken);
  }
}

}  // namespace
}  // namespace muster
