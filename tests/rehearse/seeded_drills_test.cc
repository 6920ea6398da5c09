// Tests that the simulation decides as real runs do: drills of stubs with faults and recipes that a seed draws. Each
// begins with the faults alone, and its decisions are compared one by one. MUSTER_LONG: ten times as many.
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rehearse/drilled.h"

namespace muster::testing {
namespace {

constexpr std::uint64_t kDrills = 50;
constexpr int kAtOnce = 3;

struct Drawn {
  std::string recipe;
  std::vector<std::string> options;
};

Drawn Draw(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](const std::vector<std::string>& words) { return words[random() % words.size()]; };
  const std::uint64_t workers = 1 + random() % 4;
  const std::string restart =
      fmt::format("restart = {{ max = {}, scope = '{}', backoff = '{}', verdict = {}, on = {} }}", 1 + random() % 4,
                  one_of({"process", "role", "job"}), one_of({"1ms", "20ms", "60ms"}), one_of({"true", "false"}),
                  one_of({"'failure'", "{ 'SIGKILL' }", "{ 1 }"}));
  Drawn drawn;
  drawn.recipe = DrillRecipe(fmt::format("count = {}, {}", workers, restart), "'sleep', '1000', job.checkpoint.newest");
  drawn.options = {"--stub", "--step", "10ms", "--time", "900ms"};
  const auto inject = [&](const std::string& fault) { drawn.options.insert(drawn.options.end(), {"--inject", fault}); };
  const std::uint64_t faults = 1 + random() % 4;
  for (std::uint64_t i = 0; i < faults; ++i) {
    const std::uint64_t at = 100 + random() % 700;
    const std::string process = fmt::format("worker:{}", random() % workers);
    switch (random() % 8) {
      case 0:
        inject(fmt::format("stop:{}@{}ms+60ms", process, at));
        break;
      case 1:
        inject(fmt::format("slow:host0@{}ms+100ms", at));
        break;
      case 2:
        inject(fmt::format("agent:host0@{}ms", at));
        break;
      default:
        inject(fmt::format("kill:{}@{}ms", process, at));
    }
  }
  return drawn;
}

TEST(SeededDrills, DecideAsTheSimulation) {
  const std::uint64_t drills = std::getenv("MUSTER_LONG") == nullptr ? kDrills : 10 * kDrills;
  std::mutex mutex;
  std::uint64_t next = 1;
  std::uint64_t decisions = 0;
  const auto work = [&] {
    for (;;) {
      std::unique_lock lock(mutex);
      if (next > drills) return;
      const std::uint64_t seed = next++;
      lock.unlock();
      const Drawn drawn = Draw(seed);
      const Drilled drill(drawn.recipe, drawn.options);
      lock.lock();
      const std::string all = fmt::format("seed {}\n{}\n{}{}", seed, drawn.recipe, drill.result.out, drill.result.err);
      if (!drill.json.is_object() || !drill.json.contains("faults")) {
        ADD_FAILURE() << all;
        continue;
      }
      EXPECT_EQ(drill.json["as_simulated"], drill.json["decisions"]) << all;
      for (const auto& row : drill.json["faults"]) {
        EXPECT_NE(row["outcome"], "wrong") << row << all;
        EXPECT_FALSE(row["fault"].get<std::string>().starts_with("(of itself)")) << all;
      }
      decisions += drill.json["decisions"].get<std::uint64_t>();
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < kAtOnce; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  EXPECT_GT(decisions, drills / 2);
}

}  // namespace
}  // namespace muster::testing
