// Tests questions about sweeps that have run: why a trial has its point, which parameters matter, and what another rule
// of early stopping would have done.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

class SweepQuestions : public ::testing::Test {
 protected:
  SweepQuestions()
      : sweep_("x = muster.float { 0 }, n = muster.int { 1 }",
               "job:workers { count = 1, command = { 'sh', '-c', 'for s in 1 2 3 4 5 6 7 8 9; do " + MusterProgram() +
                   " report-metric step=$s loss=' .. (p.x - 0.3) ^ 2 .. ' shown=' .. p.n .. '; done' } }") {}

  CommandResult Run(const Words& words) {
    CommandResult run = sweep_.Muster(words);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run;
  }
  json Asked(Words words) {
    words.push_back("--json");
    return json::parse(Run(words).out);
  }
  void Learn(const Words& more) {
    sweep_.Write(
        "sweep.lua",
        "local muster = require 'muster'\nreturn muster.sweep { name = 's', recipe = muster.load 'recipe.lua', "
        "objective = muster.minimize 'loss', space = { x = muster.uniform(0, 1), n = { 1, 2, 3 } } }\n");
    Words words = {"sweep", "sweep.lua", "-q", "--no-progress"};
    words.insert(words.end(), more.begin(), more.end());
    Run(words);
  }

  SweepCase sweep_;
};

TEST_F(SweepQuestions, AboutPointsAreAnsweredFromTheJournal) {
  Learn({"--tpe", "16", "--seed", "3", "--slots", "2", "--try", "x=0.5,n=2"});
  EXPECT_EQ(Asked({"explain", "s:0"})["how"], "chosen");
  EXPECT_EQ(Asked({"explain", "s:3"})["how"], "drawn");
  for (const char* trial : {"s:13", "s:14", "s:16"}) {
    const json why = Asked({"explain", trial});
    EXPECT_EQ(why["how"], "densities") << why;
    EXPECT_EQ(why["point"], sweep_.Of(why["trial"], "attempt_began").front()["point"]);
    EXPECT_GE(why["known"]["results"], 10);
    EXPECT_GT(why["densities"]["ratio"], 0);
    EXPECT_TRUE(why["densities"]["axes"].contains("x"));
  }
  const std::string text = Run({"explain", "s:16"}).out;
  EXPECT_TRUE(Says(text, "trial 16 of s: n=")) << text;
  EXPECT_TRUE(Says(text, "times as dense at this point among ")) << text;
  EXPECT_EQ(sweep_.Muster({"explain", "s:99"}).exit_code, 2);
  Learn({"--gp", "14", "--slots", "1"});
  const json why = Asked({"explain", "s:13"});
  EXPECT_EQ(why["how"], "process") << why;
  EXPECT_EQ(why["process"]["near"].size(), 3U);
  Learn({"--sobol", "4"});
  EXPECT_EQ(Asked({"explain", "s:2"})["number"], 2);
  EXPECT_TRUE(Says(Run({"explain", "s:2"}).out, "sobol, point 2 of its sequence"));
}

TEST_F(SweepQuestions, AboutASweepThatKnowsAnotherOneNameItsResults) {
  Learn({"--random", "14"});
  const std::string other = sweep_.sweep();
  Learn({"--tpe", "4", "--slots", "1", "--from", "s", "--max-trials", "2", "--name", "warm"});
  EXPECT_EQ(Asked({"explain", "warm:0"})["how"], "densities") << "none is drawn at random";
  EXPECT_EQ(Asked({"explain", "warm:0"})["known"]["results"], 14);
  std::filesystem::remove_all(other);
  Run({"resume", "warm", "-q", "--no-progress", "--add-trials", "2"});
  const json why = Asked({"explain", "warm:3"});
  EXPECT_EQ(why["how"], "densities") << why;
  EXPECT_EQ(why["known"]["results"], 17) << "with the three before it";
  std::ofstream(sweep_ / "file.lua")
      << "local muster = require 'muster'\nreturn muster.sweep { name = 'f', recipe = muster.load 'recipe.lua', "
         "objective = muster.minimize 'loss', space = { x = muster.uniform(0, 1), n = { 1, 2, 3 } }, sampler = "
         "muster.gp { trials = 1 }, warm_start = 'warm' }\n";
  const CommandResult file = Run({"sweep", "file.lua", "--no-progress"});
  EXPECT_TRUE(Says(file.err, "gp knows 4 results of sweep ")) << file.err;
  const CommandResult random = sweep_.Muster({"sweep", "sweep.lua", "--random", "4", "--from", "warm"});
  EXPECT_EQ(random.exit_code, 2);
  EXPECT_TRUE(Says(random.err, "random does not learn from results, those of another sweep included")) << random.err;
  const CommandResult largest =
      sweep_.Muster({"sweep", "sweep.lua", "--tpe", "4", "--from", "warm", "--maximize", "loss"});
  EXPECT_EQ(largest.exit_code, 2);
  EXPECT_TRUE(Says(largest.err, "that sweep looks for the smallest loss, and this one for the largest loss"))
      << largest.err;
}

TEST_F(SweepQuestions, AboutImportanceNameTheAxisThatDecides) {
  Learn({"--random", "24"});
  const json loss = Asked({"importance", "s"});
  EXPECT_EQ(loss["of"], "loss");
  EXPECT_EQ(loss["trials"], 24);
  EXPECT_EQ(loss["axes"][0]["name"], "x");
  EXPECT_EQ(Asked({"importance", "s", "--of", "shown"})["axes"][0]["name"], "n");
  EXPECT_TRUE(Says(Run({"importance", "s"}).out, "loss: shares of the variance over the space, from 24 results\n"));
  const CommandResult unknown = sweep_.Muster({"importance", "s", "--of", "shwn"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(Says(unknown.err, "did you mean \"shown\"?")) << unknown.err;
  Learn({"--random", "3"});
  const CommandResult few = sweep_.Muster({"importance", "s"});
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_TRUE(Says(few.err, "too few results to tell which axes matter: 3 trials of the space have one, at least 10"))
      << few.err;
}

// One trial at a time, so the order of the reports is the same in both sweeps.
TEST_F(SweepQuestions, AboutAnotherRuleAreAnsweredAsThatRuleDecides) {
  Learn({"--random", "12", "--slots", "1"});
  const std::map<std::string, std::string> rules = {{"tested1", "step:1..9/3"}, {"tested2", "step:2..8/2"}};
  for (const auto& [name, rule] : rules) {
    const json thought = Asked({"whatif", "s~0", "--asha", rule});
    EXPECT_EQ(thought["slots"], 1);
    std::map<std::uint64_t, double> stopped;
    for (const json& trial : thought["trials"]) {
      if (trial["stopped"]) stopped[trial["trial"]] = trial["resource"];
    }
    EXPECT_GT(stopped.size(), 2U);
    Learn({"--random", "12", "--slots", "1", "--asha", rule, "--name", name});
    std::map<std::uint64_t, double> decided;
    for (const json& record : sweep_.Records("rung_reached")) {
      if (record["decision"]["stop"] && !decided.contains(record["trial"]))
        decided[record["trial"]] = record["resource"];
    }
    EXPECT_EQ(stopped, decided) << rule;
  }
  const CommandResult none = sweep_.Muster({"whatif", "s", "--eta", "2"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(Says(none.err, "the sweep has no rungs that --eta, --min or --max could change")) << none.err;
  const json gentler = Asked({"whatif", "tested2", "--eta", "4", "--min", "8", "--max", "9"});
  EXPECT_EQ(gentler["rule"], "asha, step 8 to 9, eta 4");
  EXPECT_TRUE(Says(Run({"whatif", "s", "--median", "step:2"}).out, "rule       median, step from 2 on\n"));
}

}  // namespace
}  // namespace muster::testing
