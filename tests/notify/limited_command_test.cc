// Tests commands with a time limit: their input, their end, what they leave, and floods of output.
#include "spawn/start/limited_command.h"

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/await.h"
#include "support/file_content.h"
#include "support/places.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

using std::chrono::milliseconds;

struct Called {
  boost::asio::io_context io;
  Launcher launcher;
  std::optional<LimitedCommand::End> end;
  TempDir folder;

  // What was killed may not have exited yet.
  void ExpectNothingLeft() const {
    for (const pid_t left : ProcessesWith("OF=" + folder.path())) EXPECT_TRUE(AwaitEnd(left)) << left;
  }
  std::shared_ptr<LimitedCommand> Start(const std::vector<std::string>& words, const std::string& input = {},
                                        milliseconds within = milliseconds(60'000)) {
    SpawnSpec spec;
    spec.argv = words;
    const std::string of = "OF=" + folder.path();
    spec.env = {"PATH=/usr/bin:/bin", of.c_str()};
    auto command = LimitedCommand::Start(io, launcher, std::move(spec), input, within,
                                         [this](LimitedCommand::End ended) { end = std::move(ended); });
    EXPECT_TRUE(command) << command.error();
    return command ? *command : nullptr;
  }
};

TEST(LimitedCommand, GetsItsInputAndTellsItsEnd) {
  Called called;
  const auto command =
      called.Start({"sh", "-c", "cat > " + (called.folder / "in") + "; echo why >&2; exit 7"}, "{\"a\":1}\n");
  called.io.run();
  ASSERT_TRUE(called.end);
  EXPECT_EQ(ContentOf(called.folder / "in"), "{\"a\":1}\n");
  EXPECT_FALSE(called.end->late);
  EXPECT_EQ(called.end->process.code, 7);
  EXPECT_EQ(called.end->words, "why\n");
}

TEST(LimitedCommand, IsKilledWithItsGroupWhenItsTimeIsUp) {
  Called called;
  const auto command = called.Start({"sh", "-c", "sleep 1000 & sleep 1000"}, {}, milliseconds(50));
  called.io.run();
  ASSERT_TRUE(called.end);
  EXPECT_TRUE(called.end->late);
  EXPECT_EQ(called.end->process.code, SIGKILL);
  called.ExpectNothingLeft();
}

TEST(LimitedCommand, LeavesNothingOfItsGroupAtItsEnd) {
  Called called;
  const auto command = called.Start({"sh", "-c", "sh -c 'sleep 1000' & exit 0"});
  called.io.run();
  ASSERT_TRUE(called.end);
  EXPECT_EQ(called.end->process.code, 0);
  called.ExpectNothingLeft();
}

TEST(LimitedCommand, MayFloodItsOutputWithoutKeepingTheLoop) {
  Called called;
  const auto command = called.Start({"sh", "-c", "exec yes >&2"});
  // The loop gets to other work, while the command is writing.
  int turns = 0;
  constexpr int kTurns = 1000;
  std::function<void()> turn = [&] {
    if (++turns < kTurns) boost::asio::post(called.io, turn);
  };
  turn();
  while (turns < kTurns) called.io.run_one();
  EXPECT_FALSE(called.end);
}

TEST(LimitedCommand, KeepsTheLastOfAFlood) {
  Called called;
  const auto command =
      called.Start({"sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x >&2; echo >&2; echo last >&2; exit 1"});
  called.io.run();
  ASSERT_TRUE(called.end);
  EXPECT_LE(called.end->words.size(), LimitedCommand::kMaxWords);
  EXPECT_TRUE(called.end->words.ends_with("\nlast\n")) << called.end->words.size();
}

TEST(LimitedCommand, IsKilledWhenItIsDestroyed) {
  Called called;
  auto command = called.Start({"sh", "-c", "sleep 1000"});
  command.reset();
  called.io.run();
  EXPECT_FALSE(called.end);
  called.ExpectNothingLeft();
}

TEST(LimitedCommand, SaysWhyItCannotBeStarted) {
  boost::asio::io_context io;
  Launcher launcher;
  SpawnSpec spec;
  spec.argv = {"/no/such/program"};
  const auto command =
      LimitedCommand::Start(io, launcher, std::move(spec), {}, milliseconds(1000), [](const LimitedCommand::End&) {});
  ASSERT_FALSE(command);
  EXPECT_NE(command.error().find("/no/such/program"), std::string::npos) << command.error();
}

}  // namespace
}  // namespace muster::testing
