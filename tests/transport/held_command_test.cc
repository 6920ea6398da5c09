// Tests commands that hold something until their stdin ends.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "transport/watched_command.h"

namespace muster {
namespace {

class HeldCommandTest : public ::testing::Test {
 protected:
  // Runs a shell command to its end; `printed` is called with what it has printed.
  std::shared_ptr<HeldCommand> Run(const std::string& script, const std::function<void(HeldCommand& held)>& printed) {
    std::shared_ptr<HeldCommand> held;
    auto started = HeldCommand::Start(io_, {"/bin/sh", "-c", script}, "first\n",
                                      {.printed = [&] { printed(*held); }, .heard = {}, .ended = {}});
    EXPECT_TRUE(started);
    held = *std::move(started);
    io_.run();
    return held;
  }

 private:
  boost::asio::io_context io_;  // a command uses it as long as it exists
};

TEST_F(HeldCommandTest, EndsWithItsStdin) {
  const auto held = Run("read line; echo got $line; cat; echo end >&2", [](HeldCommand& one) {
    if (one.output() == "got first\n") one.Release();
  });
  EXPECT_TRUE(held->over());
  EXPECT_EQ(held->EndText(), "exited with code 0");
  EXPECT_EQ(held->words(), "end\n");
}

TEST_F(HeldCommandTest, CanBeAskedToEndBeforeItReads) {
  const auto held = Run("echo waits; exec sleep 1000", [](HeldCommand& one) { one.AskToEnd(std::chrono::hours(1)); });
  EXPECT_TRUE(held->killed());
}

TEST_F(HeldCommandTest, IsAskedByAHangup) {
  const auto held = Run("trap '' TERM INT QUIT USR1 USR2; trap 'exit 7' HUP; echo waits; while :; do sleep 0.01; done",
                        [](HeldCommand& one) { one.AskToEnd(std::chrono::hours(1)); });
  EXPECT_EQ(held->EndText(), "exited with code 7");
}

TEST_F(HeldCommandTest, IsKilledIfItDoesNotEnd) {
  const auto held = Run("trap '' HUP; echo waits; while :; do sleep 0.01; done",
                        [](HeldCommand& one) { one.AskToEnd(std::chrono::milliseconds(50)); });
  EXPECT_TRUE(held->killed());
}

TEST_F(HeldCommandTest, ThatPrintsTooMuchIsNotListenedTo) {
  bool all = true;
  const auto held = Run("exec yes", [&](HeldCommand& one) {
    all = all && one.output().size() <= HeldCommand::kMaxOutput + 16'384;
    if (one.output().size() > HeldCommand::kMaxOutput) one.AskToEnd(std::chrono::hours(1));
  });
  EXPECT_TRUE(held->killed());
  EXPECT_TRUE(all);
}

}  // namespace
}  // namespace muster
