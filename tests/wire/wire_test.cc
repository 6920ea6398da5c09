#include "wire/connection/wire.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

namespace muster {
namespace {

std::string Frame(const std::string& payload) {
  std::string frame;
  for (unsigned shift = 0; shift < 32; shift += 8) frame.push_back(static_cast<char>(payload.size() >> shift));
  return frame + payload;
}

class WireTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends = {};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    peer_.reset(ends[0]);
    auto wire = Wire::Make(io_, UniqueFd(ends[1]), UniqueFd(), FrameReader());
    ASSERT_TRUE(wire) << wire.error();
    wire_ = std::move(*wire);
  }
  void TearDown() override { wire_->Close(); }

  // Runs every handler that is ready without the peer.
  void RunReady() {
    io_.restart();
    while (io_.poll() > 0) {
    }
  }

  std::size_t PeerReads() {
    std::size_t total = 0;
    std::vector<char> buffer(1U << 20);
    for (ssize_t size = 0; (size = ::recv(peer_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0;) {
      total += static_cast<std::size_t>(size);
    }
    return total;
  }

  boost::asio::io_context io_;
  UniqueFd peer_;
  std::shared_ptr<Wire> wire_;
};

TEST_F(WireTest, StopsReadingWhileThePeerDoesNotRead) {
  constexpr std::size_t kFrames = 500;
  const std::string answer(64U << 10, 'x');
  std::size_t frames = 0;
  wire_->Start(
      [&](const std::string&) {
        ++frames;
        wire_->Send(answer);
      },
      [](const std::string&) {});
  std::string bytes;
  for (std::size_t i = 0; i < kFrames; ++i) bytes += Frame("question");
  ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));

  RunReady();
  EXPECT_LT(frames, kFrames);
  // At most the queue limit, one more frame, and what the socket buffers.
  EXPECT_LE(frames * answer.size(), Wire::kMaxQueued + 16 * answer.size());
  std::size_t received = 0;
  while (const std::size_t size = PeerReads()) {
    received += size;
    RunReady();
  }
  EXPECT_EQ(frames, kFrames);
  EXPECT_EQ(received, kFrames * answer.size());
}

TEST_F(WireTest, DeliversOneFrameInEachTurnOfTheLoop) {
  std::size_t frames = 0;
  wire_->Start([&](const std::string&) { ++frames; }, [](const std::string&) {});
  const std::string bytes = Frame("a") + Frame("b") + Frame("c");
  ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  std::size_t most = 0;
  for (std::size_t before = 0; frames < 3; before = frames) {
    ASSERT_EQ(io_.run_one(), 1U);
    most = std::max(most, frames - before);
  }
  EXPECT_EQ(most, 1U);
}

TEST_F(WireTest, ReadsOnAfterItHasEndedWriting) {
  std::vector<std::string> frames;
  std::vector<std::string> ends;
  wire_->Start(
      [&](const std::string& payload) {
        frames.push_back(payload);
        if (payload != "last") return;
        wire_->SendUrgent(Frame("dropped"));
        wire_->EndWriting();
        wire_->Send(Frame("dropped, too"));
      },
      [&](const std::string& why) { ends.push_back(why); });
  const auto peer_sends = [&](const std::string& payload) {
    const std::string bytes = Frame(payload);
    ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    RunReady();
  };
  peer_sends("last");
  char byte = 0;
  EXPECT_EQ(::recv(peer_.get(), &byte, 1, MSG_DONTWAIT), 0) << "the peer reads the end and nothing before it";
  EXPECT_TRUE(ends.empty()) << "a peer that is silent for a while is still read";
  peer_sends("really the last");
  EXPECT_EQ(frames, (std::vector<std::string>{"last", "really the last"}));
  EXPECT_TRUE(ends.empty());
  peer_.reset();
  RunReady();
  EXPECT_EQ(ends, std::vector<std::string>{""});
}

TEST_F(WireTest, WritesAnswersToFramesThatArrivedTogetherAtOnce) {
  const std::string answer = Frame("answer");
  std::size_t frames = 0;
  std::size_t early = 0;
  wire_->GatherFor(std::chrono::hours(1));
  wire_->Start(
      [&](const std::string&) {
        ++frames;
        early += PeerReads();
        wire_->Send(answer);
      },
      [](const std::string&) {});
  const std::string bytes = Frame("a") + Frame("b") + Frame("c");
  ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  RunReady();
  EXPECT_EQ(frames, 3U);
  EXPECT_EQ(early, 0U);
  EXPECT_EQ(PeerReads(), 3 * answer.size());
}

TEST_F(WireTest, WritesAnswersNoLaterThanTheTimeToGatherThem) {
  const std::string answer = Frame("answer");
  std::vector<std::size_t> read;
  wire_->GatherFor(std::chrono::milliseconds(1));
  wire_->Start(
      [&](const std::string&) {
        read.push_back(PeerReads());
        wire_->Send(answer);
        // The answer's time is over when the next frame is delivered.
        const auto over = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
        while (std::chrono::steady_clock::now() < over) {
        }
      },
      [](const std::string&) {});
  const std::string bytes = Frame("a") + Frame("b") + Frame("c");
  ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  RunReady();
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[2], 2 * answer.size()) << "the first is written after the second frame, with its answer";
  EXPECT_EQ(PeerReads(), answer.size());
}

TEST_F(WireTest, GathersNoAnswersBehindUrgentData) {
  std::vector<std::size_t> read;
  wire_->GatherFor(std::chrono::hours(1));
  wire_->Start(
      [&](const std::string&) {
        read.push_back(PeerReads());
        wire_->Send(Frame("answer"));
        if (read.size() == 1) wire_->SendUrgent(Frame("beat"));
      },
      [](const std::string&) {});
  const std::string bytes = Frame("a") + Frame("b") + Frame("c");
  ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  RunReady();
  ASSERT_EQ(read.size(), 3U);
  EXPECT_GT(read[2], 0U);
}

bool IsHeartbeat(std::string_view payload) { return payload == "beat"; }

TEST_F(WireTest, DeliversHeartbeatsBeforeTheBacklogReceivedWithThem) {
  std::vector<std::string> frames;
  wire_->Start([&](const std::string& payload) { frames.push_back(payload); }, [](const std::string&) {}, IsHeartbeat);
  const std::string bytes = Frame("a") + Frame("b") + Frame("c") + Frame("beat");
  ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  RunReady();
  EXPECT_EQ(frames, (std::vector<std::string>{"beat", "a", "b", "c"}));
}

TEST_F(WireTest, ReadsHeartbeatsWhileProcessingABacklog) {
  std::vector<std::string> frames;
  wire_->Start(
      [&](const std::string& payload) {
        frames.push_back(payload);
        if (payload != "a") return;
        const std::string heartbeat = Frame("beat");
        ASSERT_EQ(::send(peer_.get(), heartbeat.data(), heartbeat.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(heartbeat.size()));
      },
      [](const std::string&) {}, IsHeartbeat);
  std::string bytes = Frame("a");
  for (int i = 0; i < 100; ++i) bytes += Frame("b");
  ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  RunReady();
  ASSERT_EQ(frames.size(), 102U);
  EXPECT_LT(std::find(frames.begin(), frames.end(), "beat") - frames.begin(), 10);
}

TEST_F(WireTest, LimitsReadAhead) {
  wire_->Start([&](const std::string&) { wire_->Send(std::string(Wire::kMaxQueued + 1, 'x')); },
               [](const std::string&) {}, IsHeartbeat);
  const std::string frame = Frame(std::string(1U << 20, 'y'));
  std::size_t sent = 0;
  for (ssize_t size = 1; size > 0 && sent < 64 * frame.size();) {
    const std::size_t at = sent % frame.size();
    size = ::send(peer_.get(), frame.data() + at, frame.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size > 0) sent += static_cast<std::size_t>(size);
    RunReady();
  }
  EXPECT_LT(sent, Wire::kMaxAhead + 4 * frame.size());
}

TEST_F(WireTest, WritesHeartbeatsBeforeQueuedFramesWithoutSplittingOne) {
  wire_->Start([](const std::string&) {}, [](const std::string&) {});
  wire_->Send("greeting");
  constexpr int kBulk = 40;
  for (int i = 0; i < kBulk; ++i) wire_->Send(Frame(std::string(100U << 10, 'x')));
  wire_->SendUrgent(Frame("beat"));
  RunReady();  // until the socket buffer is full, in the middle of a frame
  wire_->SendUrgent(Frame("beat"));
  std::string received;
  std::vector<char> buffer(1U << 20);
  for (int quiet = 0; quiet < 2; ++quiet) {
    RunReady();
    for (ssize_t size = 0; (size = ::recv(peer_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0; RunReady()) {
      received.append(buffer.data(), static_cast<std::size_t>(size));
      quiet = 0;
    }
  }
  FrameReader reader("greeting");
  reader.Feed(received);
  std::vector<int> heartbeats;
  int frames = 0;
  while (auto frame = reader.Next()) {
    if (*frame == "beat") heartbeats.push_back(frames);
    frames += static_cast<int>(*frame != "beat");
  }
  EXPECT_EQ(reader.error(), "");
  EXPECT_EQ(frames, kBulk);
  ASSERT_EQ(heartbeats.size(), 2U);
  EXPECT_LE(heartbeats[0], 1);
  EXPECT_LT(heartbeats[1], kBulk / 2);
}

TEST_F(WireTest, DeliversWhatThePeerSentBeforeItClosed) {
  std::vector<std::string> frames;
  std::vector<std::string> ends;
  wire_->Start([&](const std::string& payload) { frames.push_back(payload); },
               [&](const std::string& why) { ends.push_back(why); });
  const std::string bytes = Frame("last words");
  ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  peer_.reset();
  wire_->Send(Frame("nobody hears this"));
  RunReady();
  EXPECT_EQ(frames, (std::vector<std::string>{"last words"}));
  EXPECT_EQ(ends, (std::vector<std::string>{""}));
}

TEST_F(WireTest, ReportsABrokenStreamOnce) {
  std::vector<std::string> ends;
  wire_->Start([](const std::string&) {},
               [&](const std::string& why) {
                 ends.push_back(why);
                 wire_->Send("still heard");
               });
  const std::string bytes(1000, '\xff');
  ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  RunReady();
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_NE(ends[0].find("a frame of 4294967295 bytes"), std::string::npos);
  EXPECT_EQ(PeerReads(), std::string("still heard").size());
}

TEST_F(WireTest, MayBeClosedFromWithinItsOwnCallback) {
  std::size_t frames = 0;
  wire_->Start(
      [&](const std::string&) {
        ++frames;
        wire_->Close();
      },
      [](const std::string&) { FAIL(); });
  const std::string bytes = Frame("a") + Frame("b");
  ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  RunReady();
  EXPECT_EQ(frames, 1U);
}

TEST_F(WireTest, CallsBackOnceEverythingIsWrittenOrHasFailed) {
  bool written = false;
  wire_->Start([](const std::string&) {}, [](const std::string&) {});
  wire_->Send(std::string(8U << 20, 'x'));
  wire_->WhenWritten([&] { written = true; });
  RunReady();
  EXPECT_FALSE(written);
  peer_.reset();
  RunReady();
  EXPECT_TRUE(written);
}

TEST(WirePipes, ConnectOverAPairOfPipes) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> to = {};
  std::array<int, 2> from = {};
  ASSERT_EQ(::pipe2(to.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(from.data(), O_CLOEXEC), 0);
  UniqueFd peer_out(to[1]);
  UniqueFd peer_in(from[0]);
  boost::asio::io_context io;
  auto wire = Wire::Make(io, UniqueFd(to[0]), UniqueFd(from[1]), FrameReader("magic\n"));
  ASSERT_TRUE(wire);
  std::vector<std::string> frames;
  bool ended = false;
  (*wire)->Start([&](const std::string& payload) { frames.push_back(payload); },
                 [&](const std::string&) { ended = true; });
  (*wire)->Send("hello");
  const std::string bytes = "noise magic\n" + Frame("a");
  ASSERT_EQ(::write(peer_out.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  while (io.poll() > 0) {
  }
  EXPECT_EQ(frames, (std::vector<std::string>{"a"}));
  std::array<char, 16> heard = {};
  EXPECT_EQ(::read(peer_in.get(), heard.data(), heard.size()), 5);
  // Closing only the peer's reading end also counts as the end.
  peer_in.reset();
  (*wire)->Send("nobody");
  io.restart();
  while (io.poll() > 0) {
  }
  EXPECT_TRUE(ended);
  (*wire)->Close();
  std::signal(SIGPIPE, SIG_DFL);
}

}  // namespace
}  // namespace muster
