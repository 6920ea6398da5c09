// Tests that the columns of trials mean the same in every view, also if metrics have the names of muster's own columns.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "sweep/record/trial_columns.h"
#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

class ColumnsOfTrials : public ::testing::Test {
 protected:
  ColumnsOfTrials()
      : sweep_(kParams,
               "job:workers { count = 1, command = { 'muster', 'report-metric', 'val_acc=0.' .. p.x, 'loss=0.2', "
               "'value=7', 'state=8', 'trial=9' } }") {
    const CommandResult result = sweep_.Sweep({"--grid", "x=25,75", "--maximize", "val_acc", "-q"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }

  std::string Out(const Words& words) const {
    const CommandResult result = sweep_.Muster(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }

  SweepCase sweep_;
};

TEST_F(ColumnsOfTrials, LossIsTheMetricInLists) {
  const std::string columns = "trial,state,value,objective.loss,loss,val_acc,metric.value,metric.state,metric.trial";
  EXPECT_EQ(Out({"ls", "job", "--columns", columns, "--sort", "objective.loss"}),
            "TRIAL  STATE  VALUE  OBJECTIVE.LOSS  LOSS  VAL_ACC  METRIC.VALUE  METRIC.STATE  METRIC.TRIAL\n"
            "1      ok     0.75   -0.75           0.2   0.75     7             8             9\n"
            "0      ok     0.25   -0.25           0.2   0.25     7             8             9\n");
  EXPECT_EQ(Out({"ls", "job", "--where", "loss > 0 and value > 0.5 and metric.value == 7", "--columns", "trial"}),
            "TRIAL\n1\n");
  const json trials = json::parse(Out({"ls", "job", "--json", "--sort", "trial"}))["trials"];
  EXPECT_EQ(trials[1]["value"], 0.75);
  EXPECT_EQ(trials[1]["objective.loss"], -0.75);
  EXPECT_FALSE(trials[1].contains("loss")) << trials[1];
  EXPECT_EQ(trials[1]["metrics"]["loss"], 0.2);
  EXPECT_EQ(json::parse(Out({"best", "job", "--json"}))["trials"][0]["objective.loss"], -0.75);
}

TEST_F(ColumnsOfTrials, HaveOneMeaningInExports) {
  const std::string csv = Out({"export", "job", "--csv"});
  EXPECT_EQ(csv.substr(0, csv.find('\r')),
            "trial,id,state,attempt,value,objective.loss,started,ended,took,hosts,blamed,why,run,plan,dir,tags,note,"
            "param.x,metric.loss,metric.state,metric.trial,metric.val_acc,metric.value");
  const std::string lines = Out({"export", "job", "--jsonl"});
  const json row = json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(row["value"], 0.25);
  EXPECT_EQ(row["objective.loss"], -0.25);
  EXPECT_EQ(row["metric.loss"], 0.2);
  EXPECT_EQ(row["metric.value"], 7);
  EXPECT_EQ(row["state"], "ok");
  const std::string curves = Out({"export", "job", "--curves", "--csv"});
  EXPECT_EQ(curves.substr(0, curves.find('\r')),
            "trial,id,role,index,report,param.x,metric.loss,metric.state,metric.trial,metric.val_acc,metric.value");
  Out({"export", "job", "--sqlite", sweep_ / "trials.sqlite"});
  const CommandResult read =
      RunCommand({{"/usr/bin/python3", "-c",
                   "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT value, \"objective.loss\", "
                   "\"metric.loss\", \"metric.value\" FROM trials ORDER BY trial').fetchall())",
                   sweep_ / "trials.sqlite"},
                  {"PATH=/usr/bin:/bin"},
                  sweep_ / "."});
  EXPECT_EQ(read.out, "[(0.25, -0.25, 0.2, 7), (0.75, -0.75, 0.2, 7)]\n") << read.err;
}

TEST_F(ColumnsOfTrials, HaveOneMeaningOnPages) {
  const std::string page = Out({"report", "job", "--html", "-"});
  const std::string head = "id=\"page-data\">";
  const std::size_t from = page.find(head) + head.size();
  const json data = json::parse(page.substr(from, page.find("</script>", from) - from));
  const auto column = [&](const std::string& name) {
    for (const json& one : data["columns"]) {
      if (one["name"] == name) return one;
    }
    return json();
  };
  EXPECT_EQ(column("value")["label"], "val_acc") << data["columns"];
  EXPECT_EQ(column("loss")["role"], "metric");
  for (const char* name : {"value", "state", "trial"}) {
    EXPECT_EQ(column(std::string("metric.") + name)["role"], "metric") << name;
    EXPECT_EQ(column(name)["role"], "fact") << name;
  }
}

TEST(ColumnsOfThePythonPackage, AreThoseOfTheProgram) {
  std::string names;
  for (const std::string_view name : kTrialColumns) names += std::string(name) + "\n";
  const CommandResult listed = RunCommand(
      {{"/usr/bin/python3", "-B", "-c", "from muster import metrics\nfor name in metrics.TRIAL_COLUMNS: print(name)"},
       {"PATH=/usr/bin:/bin", "PYTHONPATH=" MUSTER_SOURCE_DIR "/python"},
       "/"});
  EXPECT_EQ(listed.out, names) << listed.err;
}

}  // namespace
}  // namespace muster::testing
