// Tests a sweep whose head is killed repeatedly at random moments.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <poll.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

const int kKilledPoints = kLong ? 10'000 : 5'000;
const int kKills = kLong ? 200 : 100;
constexpr char kSeed[] = "MUSTER_TEST_SEED";

std::uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

// Returns the number of finished trials.
std::uint64_t Over(const std::string& journal) {
  std::uint64_t over = 0;
  for (const std::string& line : LinesOf(journal)) {
    over += Says(line, "\"event\":\"attempt_ended\"") && !Says(line, "\"interrupted\":true") ? 1 : 0;
  }
  return over;
}

// Waits until the journal has grown to `size` or the program has exited; true if it is running.
bool AwaitGrowth(const StartedProgram& muster, const std::string& journal, std::uint64_t size) {
  while (SizeOf(journal) < size) {
    if (AwaitReadable(muster.pidfd(), std::chrono::milliseconds(2))) return false;
  }
  return true;
}

// Waits for that time, or until the program has exited.
void AwaitEnd(const StartedProgram& muster, std::uint64_t microseconds) {
  pollfd ended = {muster.pidfd(), POLLIN, 0};
  const timespec moment = {0, static_cast<long>(microseconds * 1000)};
  ::ppoll(&ended, 1, &moment, nullptr);
}

TEST(Sweep, LosesAndRepeatsNothingWhenItsHeadIsKilledRepeatedly) {
  const SweepCase sweep("x = muster.int { 1 }", "job:workers { count = 1, command = { \"true\" } }");
  const char* given = std::getenv(kSeed);
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  SCOPED_TRACE(std::string("to see it again: ") + kSeed + "=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(random); };

  std::optional<StartedProgram> muster =
      sweep.StartSweep({"--grid", "x=1.." + std::to_string(kKilledPoints), "--slots", "2", "-q"});
  while (sweep.sweep().empty() || SizeOf(sweep.journal()) == 0) AwaitEnd(*muster, 1000);
  const std::string journal = sweep.journal();
  const Words resume = {"resume", "-q", "--no-progress"};
  constexpr std::uint64_t kBytesOfTrial = 400;  // in the journal
  for (int killed = 0; killed < kKills; ++killed) {
    const std::uint64_t left = kKilledPoints - std::min<std::uint64_t>(Over(journal), kKilledPoints);
    // Enough trials for the last kill; every fifth kill comes early in a head's life.
    const std::uint64_t trials = left < 200 ? 0 : (left - 200) / static_cast<std::uint64_t>(kKills - killed);
    const bool early = left > 200 && below(4) == 0;
    bool alive = true;
    // On a slow machine many trials may be left for the last kills: never wait for so many that the sweep could finish.
    const std::uint64_t awaited = below(std::min(2 * trials, left < 200 ? 0 : left - 200));
    if (!early) alive = AwaitGrowth(*muster, journal, SizeOf(journal) + awaited * kBytesOfTrial);
    AwaitEnd(*muster, below(early ? 100'000 : 8'000));
    if (!alive) {
      FAIL() << "after " << killed << " kills it ended by itself with " << muster->End() << ", and " << left
             << " trials were left before: " << sweep.Errors();
    }
    muster->Signal(SIGKILL);
    if (const int code = muster->End(); code != 128 + SIGKILL) {
      FAIL() << "after " << killed << " kills it ended by itself with " << code << ": " << sweep.Errors();
    }
    if (const std::string wrong = killed % 20 == 0 ? sweep.Wrong() : ""; !wrong.empty()) FAIL() << wrong;
    muster.emplace(sweep.Start(resume));
  }
  EXPECT_EQ(muster->End(), 0) << sweep.Errors();
  EXPECT_EQ(sweep.Errors(), "");
  EXPECT_EQ(sweep.Wrong(kKilledPoints), "");
  // Some heads were killed before they had written anything.
  EXPECT_GT(sweep.Records("sweep_began").size(), static_cast<std::size_t>(kKills) / 2);
  EXPECT_TRUE(sweep.NothingLeft());
}

}  // namespace
}  // namespace muster::testing
