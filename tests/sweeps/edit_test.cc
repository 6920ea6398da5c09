// Tests that editing a sweep loses no result: trials keep their numbers, points and values, and are not repeated.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

class EditedSweep : public ::testing::Test {
 protected:
  EditedSweep()
      : sweep_(
            "x = muster.int { 0 }, y = muster.int { 0 }",
            "job:check(p.x ~= 7, 'x is 7')\njob:workers { count = 1, command = { 'muster', 'report-metric', 'loss=' .. "
            "p.x * 1000 + p.y } }") {}

  CommandResult Run(const Words& words) {
    CommandResult run = sweep_.Muster(words);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run;
  }
  json Edit(Words words, bool yes = true) {
    words.insert(words.begin(),
                 {"edit", "s", "recipe.lua", "--minimize", "loss", "--name", "s", "--slots", "4", "--json"});
    if (yes) words.push_back("--yes");
    return json::parse(Run(words).out);
  }
  // By trial: its point and its value.
  std::map<std::uint64_t, std::pair<json, double>> Results() const {
    std::map<std::uint64_t, std::pair<json, double>> results;
    const json listed = json::parse(sweep_.Muster({"ls", "s", "--json"}).out);
    for (const json& trial : listed["trials"]) {
      if (trial["state"] == "ok") results[trial["trial"]] = {trial["point"], trial["value"]};
    }
    return results;
  }
  // That all of them are there, each at its point, which was tried once.
  void ExpectKept(const std::map<std::uint64_t, std::pair<json, double>>& before) {
    EXPECT_EQ(sweep_.Wrong(), "");
    const auto now = Results();
    for (const auto& [trial, result] : before) {
      ASSERT_TRUE(now.contains(trial)) << trial;
      EXPECT_EQ(now.at(trial), result) << trial;
    }
    std::set<std::string> points;
    for (const auto& [trial, result] : now) {
      EXPECT_TRUE(points.insert(result.first.dump()).second) << result.first;
      EXPECT_EQ(result.second, result.first["x"].get<double>() * 1000 + result.first["y"].get<double>());
    }
  }

  SweepCase sweep_;
};

// Three times: more values, a tighter condition, another sampler. In between it runs on.
TEST_F(EditedSweep, KeepsEveryResult) {
  const int ys = kLong ? 100 : 12;  // 600 points, or 72; later also those of x = 7, which are impossible
  const std::string grid_y = "y=1.." + std::to_string(ys);
  const auto share = [&](int part) { return std::to_string(5 * ys * part / 10); };
  Run({"sweep", "recipe.lua", "--grid", "x=1,2,3,4,5,6", "--grid", grid_y, "--minimize", "loss", "--name", "s",
       "--slots", "4", "-q", "--no-progress", "--max-trials", share(3)});
  const auto first = Results();
  ASSERT_EQ(first.size(), static_cast<std::size_t>(5 * ys * 3 / 10));

  const Words more = {"--grid", "x=1,2,3,4,5,6,7", "--grid", grid_y, "--max-trials", share(5)};
  const json shown = Edit(more, false);
  EXPECT_EQ(shown["edited"], false);
  EXPECT_EQ(shown["kept"]["count"], first.size());
  EXPECT_EQ(shown["vanished"]["count"], 0);
  EXPECT_EQ(shown["new"]["count"], 7 * ys - static_cast<int>(first.size()));
  EXPECT_EQ(Results(), first) << "nothing was changed";
  EXPECT_EQ(Edit(more)["edited"], true);
  ExpectKept(first);
  Run({"resume", "s", "-q", "--no-progress"});
  ExpectKept(first);
  const auto second = Results();
  EXPECT_EQ(second.size(), static_cast<std::size_t>(5 * ys * 5 / 10));

  const json tighter =
      Edit({"--grid", "x=1,2,3,4,5,6,7", "--grid", grid_y, "--where", "x > 5", "--max-trials", share(6)});
  EXPECT_EQ(tighter["kept"]["count"], second.size());
  Run({"resume", "s", "-q", "--no-progress"});
  ExpectKept(second);
  const auto third = Results();
  EXPECT_EQ(third.size(), static_cast<std::size_t>(5 * ys * 6 / 10));
  for (const auto& [trial, result] : third) {
    EXPECT_TRUE(second.contains(trial) || result.first["x"] > 5) << result.first;
  }

  const json other = Edit({"--grid", "x=1,2,3,4,5,6,7", "--grid", grid_y, "--tpe", std::to_string(third.size() + 6)});
  EXPECT_EQ(other["new"]["count"], 6);
  Run({"resume", "s", "-q", "--no-progress"});
  ExpectKept(third);
  const auto last = Results();
  EXPECT_GT(last.size(), third.size());
  EXPECT_LE(last.size(), third.size() + 6) << "fewer if points with x = 7 were suggested, too";
  const json why = json::parse(Run({"explain", "s:" + std::to_string(last.rbegin()->first), "--json"}).out);
  EXPECT_EQ(why["how"], "densities") << "it learned from the trials before";
  EXPECT_GE(why["known"]["results"], third.size());
  EXPECT_EQ(json::parse(Run({"explain", "s:0", "--json"}).out)["how"], "before");
  EXPECT_EQ(sweep_.Muster({"retry", "s", "--trial", "0", "-q", "--no-progress"}).exit_code, 0);
  ExpectKept(last);
}

// A sweep whose trials wait for a file: of point number n for go.N, N = n / 150.
class EditedWhileRunning : public EditedSweep {
 protected:
  EditedWhileRunning() {
    sweep_.WriteRecipe("x = muster.int { 0 }, y = muster.int { 0 }",
                       "local n = (p.x - 1) * 100 + p.y - 1\n"
                       "local go = here .. '/go.' .. math.floor(n / 150)\n"
                       "job:workers { count = 1, command = { 'sh', '-c', 'until [ -e ' .. go .. ' ]; do sleep 0.02; "
                       "done; echo \"{\\\\\"loss\\\\\": ' .. p.x * 1000 + p.y .. '}\" >> \"$MUSTER_METRICS\"' } }");
  }
  void Start(Words words) {
    words.insert(words.end(), {"--minimize", "loss", "--name", "s", "--slots", "4", "-q"});
    head_.emplace(sweep_.StartSweep(words));
    while (sweep_.sweep().empty() || !std::filesystem::exists(sweep_.journal())) {
      ASSERT_FALSE(AwaitReadable(head_->pidfd(), std::chrono::milliseconds(5))) << sweep_.Errors();
    }
  }
  // Until four trials run and wait, and that many have ended.
  void AwaitOver(std::size_t over) {
    while (Ended() < over || sweep_.Records("attempt_began").size() < over + 4) {
      ASSERT_FALSE(AwaitReadable(head_->pidfd(), std::chrono::milliseconds(20))) << sweep_.Errors();
    }
  }
  std::size_t Ended() const { return sweep_.Records("attempt_ended").size(); }
  void Go(int number) const { sweep_.Write("go." + std::to_string(number), ""); }

  std::optional<StartedProgram> head_;
};

// Three times: more values, a value less and a tighter condition, another sampler. The head is one and the same.
TEST_F(EditedWhileRunning, LosesNoResult) {
  Start({"--grid", "x=1..5", "--grid", "y=1..100"});
  Go(0);
  AwaitOver(150);
  ExpectKept({});
  const json more = Edit({"--grid", "x=1..6", "--grid", "y=1..100"});
  EXPECT_EQ(more["edited"], true);
  EXPECT_EQ(more["kept"]["count"], 154);
  EXPECT_EQ(more["vanished"]["count"], 0);
  EXPECT_EQ(more["new"]["count"], 600 - 154);
  Go(1);
  AwaitOver(300);
  const auto first = Results();
  ASSERT_EQ(first.size(), 300U);

  const json tighter = Edit({"--grid", "x=1,2,3,5,6", "--grid", "y=1..100", "--where", "y <= 90"});
  EXPECT_EQ(tighter["kept"]["count"], 300);
  EXPECT_EQ(tighter["kept_outside"]["count"], 4) << "x = 4, of which four points run";
  EXPECT_EQ(tighter["new"]["count"], 200);
  Go(2);
  // Of x = 5 half the points, without those that are excluded; x = 4 has only those that ran.
  AwaitOver(300 + 4 + 50);
  const auto second = Results();
  for (const auto& [trial, result] : second) {
    EXPECT_TRUE(first.contains(trial) || result.first["x"] == 5 || result.first["y"] <= 4) << result.first;
  }

  const json other = Edit({"--grid", "x=1,2,3,5,6", "--grid", "y=1..100", "--random", "420", "--seed", "3"});
  EXPECT_EQ(other["edited"], true);
  Go(3);
  EXPECT_EQ(head_->End(), 0) << sweep_.Errors();
  EXPECT_EQ(sweep_.Wrong(static_cast<int>(sweep_.Records("sweep_edited").back()["trials"])), "");
  ExpectKept(first);
  ExpectKept(second);
  EXPECT_EQ(sweep_.Records("sweep_edited").size(), 3U);
  EXPECT_EQ(sweep_.Records("sweep_began").size(), 1U);
  EXPECT_EQ(sweep_.Records("attempt_began").size(), Ended()) << "nothing was interrupted";
  EXPECT_EQ(Results().size(), Ended());
  EXPECT_FALSE(std::filesystem::exists(sweep_.sweep() + "/edit"));
  // A head that continues it has the same description.
  EXPECT_EQ(sweep_.Muster({"resume", "s", "-q", "--no-progress"}).exit_code, 0);
  EXPECT_EQ(Results().size(), Ended());
}

TEST_F(EditedWhileRunning, GoesOnAsItWasEditedAfterItsHeadWasKilled) {
  Start({"--grid", "x=1", "--grid", "y=1..6"});
  AwaitOver(0);
  EXPECT_EQ(Edit({"--grid", "x=1", "--grid", "y=4..9"})["edited"], true);
  head_->Signal(SIGKILL);
  head_->End();
  ASSERT_TRUE(sweep_.NothingLeft());
  Go(0);
  Run({"resume", "s", "-q", "--no-progress"});
  ExpectKept({});
  std::set<int> ys;
  for (const auto& [trial, result] : Results()) ys.insert(result.first["y"].get<int>());
  EXPECT_EQ(ys, (std::set<int>{1, 2, 3, 4, 5, 6, 7, 8, 9})) << "1 to 4 had begun";
  EXPECT_EQ(sweep_.Wrong(static_cast<int>(sweep_.Records("sweep_edited").back()["trials"])), "");
}

TEST_F(EditedWhileRunning, IsRefusedWhatItsHeadDependsOn) {
  Start({"--grid", "x=1", "--grid", "y=1..6"});
  AwaitOver(0);
  const auto refused = [&](Words words) {
    words.insert(words.begin(),
                 {"edit", "s", "recipe.lua", "--grid", "x=1", "--grid", "y=1..8", "--yes", "--slots", "4"});
    const CommandResult edit = sweep_.Muster(words);
    EXPECT_EQ(edit.exit_code, 2) << edit.err;
    return edit.err;
  };
  const std::string retries = refused({"--minimize", "loss", "--name", "s", "--retry", "3"});
  EXPECT_TRUE(Says(retries, "the rules of retries of a running sweep cannot be edited")) << retries;
  const std::string hosts = refused({"--minimize", "loss", "--name", "s", "--host", "elsewhere"});
  EXPECT_TRUE(Says(hosts, "names other hosts")) << hosts;
  const std::string objective = refused({"--maximize", "loss", "--name", "s"});
  EXPECT_TRUE(Says(objective, "has another objective")) << objective;
  EXPECT_TRUE(sweep_.Records("sweep_edited").empty());
  Go(0);
  EXPECT_EQ(head_->End(), 0) << sweep_.Errors();
  EXPECT_EQ(sweep_.Wrong(6), "");
}

// Repetitions: points that stay keep theirs and get the missing ones; those that vanish get no further ones.
TEST_F(EditedSweep, KeepsRepetitions) {
  sweep_.WriteRecipe(
      "x = muster.int { 0 }, seed = muster.int { 0 }",
      "job:workers { count = 1, command = { 'muster', 'report-metric', 'loss=' .. p.x + p.seed / 10 } }");
  const auto words = [](const std::string& grid, Words more) {
    Words all = {"recipe.lua", "--grid", grid, "--seeds", "3", "--minimize", "loss", "--name", "s", "--slots", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  Words sweep = words("x=1,2,3", {"-q", "--no-progress", "--max-trials", "4"});
  sweep.insert(sweep.begin(), "sweep");
  Run(sweep);
  ASSERT_EQ(Results().size(), 4U);
  const auto before = Results();
  Words edit = words("x=1,9", {"--yes", "--json"});
  edit.insert(edit.begin(), {"edit", "s"});
  EXPECT_EQ(json::parse(Run(edit).out)["edited"], true);
  Run({"resume", "s", "-q", "--no-progress"});
  EXPECT_EQ(sweep_.Wrong(), "");
  const auto now = Results();
  std::map<int, int> seeds;
  for (const auto& [trial, result] : now) ++seeds[result.first["x"].get<int>()];
  for (const auto& [trial, result] : before) EXPECT_EQ(now.at(trial), result);
  EXPECT_EQ(seeds[1], 3) << "the best one has all";
  EXPECT_GE(seeds[9], 1);
  std::map<int, int> seeds_before;
  for (const auto& [trial, result] : before) ++seeds_before[result.first["x"].get<int>()];
  EXPECT_EQ(seeds[2], seeds_before[2]);
  EXPECT_EQ(seeds[3], seeds_before[3]);
  Words other = words("x=1,9", {"--yes"});
  std::replace(other.begin(), other.end(), std::string("3"), std::string("5"));
  other.insert(other.begin(), {"edit", "s"});
  const CommandResult refused = sweep_.Muster(other);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Says(refused.err, "the edited sweep has other seeds")) << refused.err;
}

TEST_F(EditedSweep, IsNotGivenAnotherObjective) {
  Run({"sweep", "recipe.lua", "--grid", "x=1,2", "--minimize", "loss", "--name", "s", "-q", "--no-progress"});
  const CommandResult refused =
      sweep_.Muster({"edit", "s", "recipe.lua", "--grid", "x=1,2", "--maximize", "loss", "--yes"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Says(refused.err, "the edited sweep has another objective")) << refused.err;
  const std::string text = Run({"edit", "s", "recipe.lua", "--grid", "x=1,2,4", "--minimize", "loss"}).out;
  EXPECT_TRUE(Says(text, "kept       2 tried points of the space, with their results\n  x=1\n  x=2\n")) << text;
  EXPECT_TRUE(Says(text, "new        1 trials to come\n  x=4\n")) << text;
  EXPECT_TRUE(Says(text, "nothing was changed: add --yes to edit the sweep\n")) << text;
}

}  // namespace
}  // namespace muster::testing
