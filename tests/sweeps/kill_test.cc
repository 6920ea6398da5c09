// A sweep whose head is killed at random moments, again and again.
#include <cstdint>
#include <ctime>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

constexpr int kPoints = 10'000;
constexpr int kKills = 200;
constexpr char kSeed[] = "MUSTER_TEST_SEED";

std::uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

// How many trials are over.
std::uint64_t Over(const std::string& journal) {
  std::uint64_t over = 0;
  for (const std::string& line : LinesOf(journal)) {
    over += Says(line, "\"event\":\"attempt_ended\"") && !Says(line, "\"interrupted\":true") ? 1 : 0;
  }
  return over;
}

// Waits until the journal has grown to `size` or the program has ended; true if it lives.
bool AwaitGrowth(const StartedProgram& muster, const std::string& journal, std::uint64_t size) {
  const UniqueFd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ::inotify_add_watch(watch.get(), journal.c_str(), IN_MODIFY);
  std::vector<char> events(1 << 16);
  while (SizeOf(journal) < size) {
    pollfd ready[] = {{watch.get(), POLLIN, 0}, {muster.pidfd(), POLLIN, 0}};
    ::poll(ready, 2, 30'000);
    if (ready[1].revents != 0) return false;
    if (ready[0].revents == 0) return true;  // nothing happens any more: what follows says so
    while (::read(watch.get(), events.data(), events.size()) > 0) {
    }
  }
  return true;
}

// Waits for so long, or until the program has ended.
void AwaitEnd(const StartedProgram& muster, std::uint64_t microseconds) {
  pollfd ended = {muster.pidfd(), POLLIN, 0};
  const timespec moment = {0, static_cast<long>(microseconds * 1000)};
  ::ppoll(&ended, 1, &moment, nullptr);
}

TEST(Sweep, LosesAndRepeatsNothingHoweverOftenItsHeadIsKilled) {
  const SweepCase sweep("x = muster.int { 1 }", "job:workers { count = 1, command = { \"true\" } }");
  const char* given = std::getenv(kSeed);
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  SCOPED_TRACE(std::string("to see it again: ") + kSeed + "=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(random); };

  std::optional<StartedProgram> muster =
      sweep.StartSweep({"--grid", "x=1.." + std::to_string(kPoints), "--slots", "2", "-q"});
  while (sweep.sweep().empty() || SizeOf(sweep.journal()) == 0) AwaitEnd(*muster, 1000);
  const std::string journal = sweep.journal();
  const Words resume = {"resume", "-q", "--no-progress"};
  constexpr std::uint64_t kBytesOfTrial = 400;  // of the journal
  for (int killed = 0; killed < kKills; ++killed) {
    const std::uint64_t left = kPoints - std::min<std::uint64_t>(Over(journal), kPoints);
    // So many that some are left for the last of the kills; every fifth comes before much of anything.
    const std::uint64_t trials = left < 200 ? 0 : (left - 200) / static_cast<std::uint64_t>(kKills - killed);
    const bool early = left > 200 && below(4) == 0;
    bool alive = true;
    if (!early) alive = AwaitGrowth(*muster, journal, SizeOf(journal) + below(2 * trials) * kBytesOfTrial);
    AwaitEnd(*muster, below(early ? 100'000 : 8'000));
    if (!alive) break;
    muster->Signal(SIGKILL);
    if (const int code = muster->End(); code != 128 + SIGKILL) {
      FAIL() << "after " << killed << " kills it ended by itself with " << code << ": " << sweep.Errors();
    }
    if (const std::string wrong = killed % 20 == 0 ? sweep.Wrong() : ""; !wrong.empty()) FAIL() << wrong;
    muster.emplace(sweep.Start(resume));
  }
  EXPECT_EQ(muster->End(), 0) << sweep.Errors();
  EXPECT_EQ(sweep.Errors(), "");
  EXPECT_EQ(sweep.Wrong(kPoints), "");
  EXPECT_EQ(sweep.Records("sweep_began").size(), kKills + 1U);
  EXPECT_TRUE(sweep.NothingLeft());
}

}  // namespace
}  // namespace muster::testing
