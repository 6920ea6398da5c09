// Tests the curves of metrics that patterns find in the logs of trials: in muster top, on the page, and of restarts.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// Each trial prints two reports, and the last one ends when "go" exists.
constexpr char kReportingPlan[] =
    "job:role 'data' { count = 1, command = { probe, 'print', 'step 9 loss: 9' } }\n"
    "job:workers { count = 1, stop = { grace = '1h' }, command = { probe, 'print', 'step 10 loss: 0.5', "
    "'print', 'no report', 'print', 'step 20 loss: 0.' .. p.x, 'file', here .. '/began.' .. p.x, "
    "p.x > 1 and { 'await', here .. '/go' } } }";
const Words kPatterns = {"--metric", "loss=loss: (\\S+)", "--metric", "step=step (\\d+)", "--minimize", "loss"};

// The data of the page of the sweep.
json PageOf(const SweepCase& sweep) {
  const CommandResult page = sweep.Muster({"report", sweep.sweep(), "--html", "-"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  const std::string head = "id=\"page-data\">";
  const std::size_t from = page.out.find(head) + head.size();
  return json::parse(page.out.substr(from, page.out.find("</script>", from) - from));
}

TEST(LogCurves, AreShownByTopAndOnThePage) {
  SweepCase sweep(kParams, kReportingPlan);
  Words words = {"--grid", "x=1..2", "--slots", "1", "-q"};
  words.insert(words.end(), kPatterns.begin(), kPatterns.end());
  StartedProgram head = sweep.StartSweep(words);
  ASSERT_TRUE(AwaitFile(sweep / "began.2")) << sweep.Errors();
  const CommandResult top = sweep.Muster({"top", sweep.sweep(), "--json"});
  ASSERT_EQ(top.exit_code, 0) << top.err;
  const json running = json::parse(top.out);
  const json& trial = running["processes"][0];
  EXPECT_EQ(trial["curve"], json({0.5, 0.2})) << running;
  EXPECT_EQ(trial["step"], 20) << running;
  EXPECT_EQ(PageOf(sweep)["curves"]["series"].size(), 2U) << "one of them is running";
  sweep.Write("go", "");
  EXPECT_EQ(head.End(), 0) << sweep.Errors();
  const json page = PageOf(sweep);
  EXPECT_EQ(page["curves"]["metrics"], json({"loss"}));
  EXPECT_EQ(page["curves"]["x"], "step");
  ASSERT_EQ(page["curves"]["series"].size(), 2U) << page["curves"];
  for (const json& series : page["curves"]["series"]) EXPECT_EQ(series[4], 2) << "points: " << series;
  EXPECT_TRUE(Says(sweep.Muster({"show", "job:0"}).out, "loss over step, from its log\n"));
  EXPECT_TRUE(sweep.NothingLeft());
}

}  // namespace
}  // namespace muster::testing
