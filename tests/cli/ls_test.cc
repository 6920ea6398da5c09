// Tests muster ls --where, --columns and --sort, tags, and metrics in ls, report and diff.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

using nlohmann::json;

// Three runs of one recipe with rates 0.1, 0.5 and 2; the last one fails.
class ListedRuns : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runs_ = new TempDir;
    OneRecipe recipe(
        "job:derive { half = p.lr / 2 }\n"
        "job:workers { count = 1, devices = 0, command = muster.shell(\"printf '{\\\"step\\\": 1, \\\"loss\\\": 9}\\\\n"
        "no metric\\\\n{\\\"step\\\": 2, \\\"loss\\\": \" .. p.lr * 2 .. \"}\\\\n' > $MUSTER_METRICS; exit \" .. (p.lr "
        "> 1 "
        "and 3 or 0)) }",
        "params = { lr = muster.float { 0.5 }, kind = muster.string { \"a b\" }, mem = muster.bytes { \"30GiB\" }, "
        "wait = muster.duration { \"90s\" } },");
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"lr=0.5", "--tag", "baseline", "--tag", "ticket=42"},
          {"lr=0.1", "--tag", "ticket=7"},
          {"lr=2"}}) {
      std::vector<std::string> words = {"run", recipe.path(), "--quiet"};
      words.insert(words.end(), more.begin(), more.end());
      Call(words);
    }
  }
  static void TearDownTestSuite() {
    delete runs_;
    runs_ = nullptr;
  }

  static CommandResult Call(std::vector<std::string> words) {
    return Muster(std::move(words), {"MUSTER_HOME=" + runs_->path()});
  }
  // Returns the rates of the listed runs, in order.
  static std::vector<double> Rates(std::vector<std::string> words) {
    words.insert(words.begin(), {"ls", "--json", "--columns", "lr"});
    const CommandResult result = Call(std::move(words));
    std::vector<double> rates;
    const json listed = json::parse(result.out);
    for (const json& run : listed["runs"]) rates.push_back(run["columns"]["lr"]);
    EXPECT_EQ(result.exit_code, rates.empty() ? 1 : 0) << result.err;
    return rates;
  }

  static TempDir* runs_;
};
TempDir* ListedRuns::runs_ = nullptr;

using Rated = std::vector<double>;

TEST_F(ListedRuns, AreSelectedByConditions) {
  EXPECT_EQ(Rates({"--sort", "lr"}), (Rated{0.1, 0.5, 2}));
  EXPECT_EQ(Rates({"--sort", "-lr"}), (Rated{2, 0.5, 0.1}));
  EXPECT_EQ(Rates({"--where", "outcome == \"failed\" and lr > 0.1"}), Rated{2});
  EXPECT_EQ(Rates({"--where", "outcome=ok", "--where", "lr<0.5"}), Rated{0.1});
  EXPECT_EQ(Rates({"--where", "half >= 0.25 and kind ~ '^a b$'", "--sort", "lr"}), (Rated{0.5, 2}));
  EXPECT_EQ(Rates({"--where", "baseline"}), Rated{0.5});
  EXPECT_EQ(Rates({"--where", "tag == \"baseline\""}), Rated{0.5});
  EXPECT_EQ(Rates({"--where", "tag ~ '^ticket='", "--sort", "lr"}), (Rated{0.1, 0.5}));
  EXPECT_EQ(Rates({"--where", "tag != baseline", "--sort", "lr"}), (Rated{0.1, 2})) << "no tag is that one";
  EXPECT_EQ(Rates({"--where", "ticket > 8"}), Rated{0.5});
  EXPECT_EQ(Rates({"--where", "ticket != 42", "--sort", "lr"}), (Rated{0.1, 2})) << "what is not there is unequal";
  EXPECT_EQ(Rates({"--where", "loss <= 1 and took < 1h", "--sort", "metric.worker.loss"}), (Rated{0.1, 0.5}));
  EXPECT_EQ(Rates({"--where", "exit == 1"}), Rated{2});
  EXPECT_EQ(Rates({"--where", "mem == 30GiB and wait == 90s", "--sort", "lr"}), (Rated{0.1, 0.5, 2}));
  EXPECT_EQ(Rates({"--where", "mem < 31GB and lr == 2"}), Rated{});
  EXPECT_EQ(Rates({"--where", "mem != 1GiB and wait <= 2m and lr == 2"}), Rated{2});
  EXPECT_EQ(Rates({"--where", "kind == 3"}), Rated{}) << "a text that is none";
}

TEST_F(ListedRuns, AreShownWithTheGivenColumns) {
  const CommandResult result = Call({"ls", "--columns", "lr,tags,loss,outcome", "--sort", "lr"});
  EXPECT_EQ(result.out,
            "LR   TAGS                LOSS  OUTCOME\n"
            "0.1  ticket=7            0.2   ok\n"
            "0.5  baseline,ticket=42  1     ok\n"
            "2                        4     failed\n");
}

// Prevents: a misspelt folder, or a condition that no run satisfies, looks like an empty list.
TEST_F(ListedRuns, AreReportedAsMissing) {
  const struct {
    std::vector<std::string> words;
    const char* reported;
  } cases[] = {
      {{"ls", "nothing"}, "muster: no run in \"nothing\" (no such folder)\n"},
      {{"ls", "recipes", "nothing"}, "muster: no run in \"recipes\", \"nothing\" (no such folder)\n"},
      {{"ls", "--where", "lr > 100"}, "muster: no run for which the condition holds\n"},
  };
  for (const auto& one : cases) {
    const CommandResult result = Call(one.words);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, one.reported);
  }
  const TempDir empty;
  const CommandResult none = Muster({"ls"}, {"MUSTER_HOME=" + empty.path()});
  EXPECT_EQ(none.exit_code, 0) << "nothing was asked for";
  EXPECT_EQ(none.err, "muster: no run\n");
}

TEST_F(ListedRuns, AreFoundByNamesWithBlanks) {
  EXPECT_EQ(Call({"ls", "--where", "\"lr\" == 0.1", "--columns", "lr"}).out, "LR\n0.1\n");
}

TEST_F(ListedRuns, RefuseInvalidConditionsAndColumns) {
  for (const auto& [words, reported] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--columns", "lt"}, "did you mean \"lr\"?"},
           {{"--where", "outcom == ok"}, "did you mean \"outcome\"?"},
           {{"--where", "lr >"}, "expected a value after lr >"},
           {{"--where", "lr > 1 or lr < 0"}, "there is no \"or\""},
           {{"--where", "took > abc"}, "which cannot be compared with \"abc\""},
           {{"--where", "took > 30"}, "write 30s, 30m, 30h or 30d"},
           {{"--where", "mem == 30GiBs"}, "mem is 32212254720, which cannot be compared with \"30GiBs\""},
           {{"--where", "kind > 3"}, "kind is \"a b\", which cannot be compared with 3"},
           {{"--where", "baseline < 1"}, "baseline is true, which cannot be compared with 1"},
           {{"--where", "lr > 1 lr"}, "expected \"and\""},
           {{"--where", "val loss < 1"}, "a name with blanks is quoted: --where '\"val loss\" > 0.1'"},
           {{"--where", "'' < 1"}, "expected a name, got \"\""},
           {{"--where", "'lr > 1'"}, "no run has a value \"lr > 1\""},
           {{"--where", "kind ~ '('"}, "is not a valid regular expression"},
           {{"--where", "kind == 'a"}, "is not closed"}}) {
    std::vector<std::string> all = {"ls"};
    all.insert(all.end(), words.begin(), words.end());
    const CommandResult result = Call(all);
    EXPECT_EQ(result.exit_code, 2) << reported;
    EXPECT_NE(result.err.find(reported), std::string::npos) << result.err;
  }
}

TEST_F(ListedRuns, ShowTheirLastMetricsAndCountInvalidLines) {
  const json report = json::parse(Call({"report", "t~1", "--json"}).out);
  ASSERT_EQ(report["metrics"].size(), 1U);
  EXPECT_EQ(report["metrics"][0]["last"], (json{{"step", 2}, {"loss", 0.2}}));
  EXPECT_EQ(report["metrics"][0]["lines"], 3);
  EXPECT_EQ(report["metrics"][0]["bad_lines"], 1);
  EXPECT_EQ(report["tags"], json::array({"ticket=7"}));
  const CommandResult diff = Call({"diff", "t~2", "t~1"});
  EXPECT_NE(diff.out.find("last metrics\n  worker.loss  1 → 0.2\n  worker.step  2 → 2\n"), std::string::npos)
      << diff.out;
}

TEST_F(ListedRuns, CanBeTaggedLater) {
  EXPECT_EQ(Call({"tag", "t~2"}).out, "baseline\nticket=42\n");
  EXPECT_EQ(Call({"tag", "t", "slow", "ticket=9"}).out, "slow\nticket=9\n");
  EXPECT_EQ(Rates({"--where", "slow"}), Rated{2});
  EXPECT_EQ(Call({"tag", "t", "slow-", "ticket-"}).out, "");
  const CommandResult gone = Call({"tag", "t", "slow-"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_NE(gone.err.find("there is no tag \"slow\" to remove"), std::string::npos) << gone.err;
  EXPECT_EQ(Call({"tag", "t", "no tag"}).exit_code, 2);
  EXPECT_EQ(Call({"run", "@torch", "--tag", "=x"}).exit_code, 2);
}

}  // namespace
}  // namespace muster::testing
