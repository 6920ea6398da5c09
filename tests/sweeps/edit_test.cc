// Tests that editing a sweep loses no result: trials keep their numbers, points and values, and are not repeated.
#include <map>
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
