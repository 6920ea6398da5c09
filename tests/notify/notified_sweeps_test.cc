// Tests the notifications of whole sweeps: the sweep tells, its trials do not.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/await.h"
#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

constexpr char kReportsX[] =
    "job:workers { count = 1, command = muster.shell('echo \"{\\\\\"step\\\\\":1,\\\\\"loss\\\\\":' .. p.x .. '}\" >> "
    "$MUSTER_METRICS; exit ' .. (p.x == 3 and 1 or 0)) }";

std::vector<json> SentIn(const std::string& path) {
  std::vector<json> sent;
  for (const std::string& line : LinesOf(path)) sent.push_back(json::parse(line));
  return sent;
}

std::vector<std::string> EventsOf(const std::vector<json>& sent) {
  std::vector<std::string> events;
  for (const json& each : sent) events.push_back(each["event"]);
  return events;
}

class NotifiedSweep : public ::testing::Test {
 protected:
  NotifiedSweep() : sweep(kParams, kReportsX) {
    sweep.WriteRecipe(kParams, kReportsX,
                      "notify = { command = { 'sh', '-c', 'cat >> ' .. here .. '/sent' }, on = { 'started', "
                      "'first_result', 'best', 'trial_failed', 'failed', 'ended', 'restarted' } },");
  }
  SweepCase sweep;
};

TEST_F(NotifiedSweep, NotifiesOfItselfAndNotOfItsRuns) {
  EXPECT_EQ(sweep.Sweep({"--grid", "x=2,1,3", "--minimize", "loss", "--slots", "1"}).exit_code, 4);
  const std::vector<json> sent = SentIn(sweep / "sent");
  std::vector<std::string> events = EventsOf(sent);
  // The second best result, less than a minute after the first, waits until the end, or replaces the first.
  int best = 0;
  for (const json& each : sent) {
    if (each["event"] == "best") best += 1 + each.value("omitted", 0);
  }
  EXPECT_EQ(best, 2);
  std::erase(events, "best");
  EXPECT_EQ(events, (std::vector<std::string>{"started", "first_result", "trial_failed", "failed", "ended"}));
  for (const json& each : sent) {
    EXPECT_EQ(each["kind"], "sweep");
    EXPECT_EQ(each["dir"], sweep.sweep());
  }
  const json& ended = sent.back();
  EXPECT_EQ(ended["exit_code"], 4);
  EXPECT_EQ(ended["best"]["value"], 1);
  EXPECT_EQ(ended["best"]["parameters"], (json{{"x", 1}}));
  EXPECT_EQ(ended["trials"], (json{{"total", 3}, {"over", 3}, {"failed", 1}, {"running", 0}}));
  EXPECT_EQ(LinesOf(sweep.sweep() + "/notifications.jsonl").size(), sent.size());
}

TEST_F(NotifiedSweep, NotifiesAgainWhenItGoesOn) {
  EXPECT_EQ(sweep.Sweep({"--grid", "x=1,2", "--max-trials", "1", "--notify", "ended=sh -c 'cat >> of_line'"}).exit_code,
            0);
  EXPECT_EQ(sweep.Muster({"resume", "--no-progress"}).exit_code, 0);
  EXPECT_EQ(SentIn(sweep / "of_line").size(), 2U);  // it keeps what it began with
  EXPECT_EQ(sweep.Muster({"retry", "--trial", "0", "--no-progress", "--notify", "none"}).exit_code, 0);
  EXPECT_EQ(SentIn(sweep / "of_line").size(), 2U);
}

TEST_F(NotifiedSweep, IsNotDelayedByACommandThatFails) {
  const CommandResult result = sweep.Sweep({"--grid", "x=1,2", "--notify", "started,ended=sh -c 'exit 3'"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(Says(result.err, "notification of ended to sh (command line): exited with code 3")) << result.err;
}

}  // namespace
}  // namespace muster::testing
