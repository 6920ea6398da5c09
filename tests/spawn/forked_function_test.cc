// Tests functions that run in a copy of the process while its loop goes on.
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "spawn/start/limited_command.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

class ForkedFunctionTest : public ::testing::Test {
 protected:
  // Its text, once the loop has nothing more to do; nothing if it has not delivered one.
  std::optional<std::string> TextOf(const std::function<std::string()>& compute) {
    std::optional<std::string> text;
    auto copy = ForkedFunction::Start(io_, compute, [&](std::optional<std::string> got) {
      ++ends_;
      text = std::move(got);
    });
    EXPECT_TRUE(copy);
    io_.restart();
    io_.run();
    return text;
  }

  boost::asio::io_context io_{1};
  TempDir folder_;
  int ends_ = 0;
};

TEST_F(ForkedFunctionTest, DeliversTheWholeText) {
  std::string text(5'000'000, 'x');
  text += std::to_string(::getpid());
  const auto got = TextOf([&] { return text; });
  EXPECT_EQ(got, text);
  EXPECT_EQ(ends_, 1);
}

TEST_F(ForkedFunctionTest, LeavesTheLoopFreeMeanwhile) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // The copy waits for what only the loop can do.
  boost::asio::post(io_, [&] { std::ofstream(pipe) << "from the loop"; });
  const auto got = TextOf([&] {
    std::string line;
    std::ifstream file(pipe);
    std::getline(file, line);
    return line;
  });
  EXPECT_EQ(got, "from the loop");
}

TEST_F(ForkedFunctionTest, DeliversNothingIfTheCopyIsKilledOnItsWay) {
  EXPECT_EQ(TextOf([]() -> std::string {
              ::raise(SIGKILL);
              return "not reached";
            }),
            std::nullopt);
  EXPECT_EQ(TextOf([]() -> std::string { ::_exit(3); }), std::nullopt);
  EXPECT_EQ(ends_, 2);
}

TEST_F(ForkedFunctionTest, HasNoneOfTheDescriptors) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd high(::fcntl(null.get(), F_DUPFD_CLOEXEC, 50));
  const auto got = TextOf([&] { return ::fcntl(high.get(), F_GETFD) < 0 && errno == EBADF ? "closed" : "open"; });
  EXPECT_EQ(got, "closed");
}

TEST_F(ForkedFunctionTest, KillsTheCopyWhenItIsDestroyed) {
  auto copy = ForkedFunction::Start(
      io_,
      []() -> std::string {
        for (;;) ::pause();
      },
      [&](const std::optional<std::string>&) { ++ends_; });
  ASSERT_TRUE(copy);
  copy->reset();
  EXPECT_TRUE(::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) << "a child is left";
  io_.run();
  EXPECT_EQ(ends_, 0);
}

}  // namespace
}  // namespace muster::testing
