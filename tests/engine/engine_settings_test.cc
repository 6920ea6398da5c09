// Tests the users' settings for engines.
#include "engine/engine_settings.h"

#include <array>

#include <gtest/gtest.h>

#include "engine/own_page.h"

namespace muster {
namespace {

using testing::OwnPage;
using Words = std::vector<std::string>;

Result<EngineSettings> Given(const std::string& page, const Words& words) {
  return SettingsOfWords(OwnPage(page), words, "--" + page);
}

std::string One(const std::string& page, const std::string& word) {
  const auto settings = Given(page, {word});
  if (!settings) {
    const Diagnostic& problem = settings.error().front();
    return problem.kind + ": " + problem.message + (problem.hint.empty() ? "" : " [" + problem.hint + "]");
  }
  return ToText(settings->begin()->second.value);
}

TEST(EngineSettings, TimesAreWrittenAsEachEngineReadsThem) {
  EXPECT_EQ(One("slurm", "time=90m"), "\"01:30:00\"");
  EXPECT_EQ(One("slurm", "time=1d12h"), "\"1-12:00:00\"");
  EXPECT_EQ(One("slurm", "time=1-12:00:00"), "\"1-12:00:00\"");
  EXPECT_EQ(One("pbs", "time=1d12h"), "\"36:00:00\"");
  EXPECT_EQ(One("lsf", "time=90s"), "\"0:02\"") << "minutes, rounded up";
  EXPECT_EQ(One("flux", "time=1h"), "\"3600\"");
}

TEST(EngineSettings, ATimeWithoutAUnitIsRefusedBecauseEnginesAndMusterDiffer) {
  EXPECT_EQ(
      One("slurm", "time=60"),
      "format: --slurm: slurm.time is a time with its unit, got 60 [write time = \"60m\" for minutes, \"12h\" for "
      "hours]");
  const auto table = SettingsOfTable(
      OwnPage("slurm"), Value(Value::Map{{"time", Value(60)}}),
      [](const std::string&) {
        return Place{"r.lua", 4};
      },
      [](const std::string&) { return "r.lua:4"; });
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().front().place, (Place{"r.lua", 4}));
}

TEST(EngineSettings, UnknownOptionsAreReportedWithTheNearest) {
  EXPECT_EQ(One("slurm", "partitoin=gpu"),
            "unknown_key: --slurm: slurm has no option partitoin [did you mean \"partition\"?]");
  EXPECT_EQ(One("slurm", "partition"), "usage: --slurm \"partition\" is not NAME=VALUE [--slurm time=12h]");
}

TEST(EngineSettings, NothingGetsOutOfItsLine) {
  EXPECT_EQ(One("slurm", "partition=a\n#SBATCH --uid=0").substr(0, 7), "format:");
  EXPECT_EQ(One("slurm", "partition=a --uid=0").substr(0, 7), "format:");
  EXPECT_EQ(One("slurm", "extra=a\nb").substr(0, 5), "type:");
  EXPECT_EQ(One("lsf", "resources=select[mem>1] span[hosts=1]"), "\"select[mem>1] span[hosts=1]\"");
  EXPECT_EQ(One("lsf", "resources=x\" -q root").substr(0, 7), "format:");
}

TEST(EngineSettings, CountsAndFlagsAreRead) {
  EXPECT_EQ(One("slurm", "nodes=4"), "4");
  EXPECT_EQ(One("slurm", "nodes=0").substr(0, 6), "range:");
  EXPECT_EQ(One("slurm", "nodes=4x").substr(0, 6), "range:");
  EXPECT_EQ(One("slurm", "exclusive=no"), "false");
  EXPECT_EQ(One("slurm", "exclusive=maybe").substr(0, 5), "type:");
}

TEST(EngineSettings, ListsCollectTheirWords) {
  const auto settings = Given("slurm", {"extra=--mem=0", "extra=--hint=nomultithread"});
  ASSERT_TRUE(settings);
  EXPECT_EQ(ToText(settings->at("extra").value), "{\"--mem=0\", \"--hint=nomultithread\"}");
}

TEST(EngineSettings, TheNearestOfSeveralSourcesCounts) {
  const EngineSettings site = *Given("slurm", {"partition=all", "account=physics"});
  const EngineSettings call = *Given("slurm", {"partition=gpu"});
  const std::array nearest = {call, site};
  const EngineSettings merged = MergedSettings(nearest);
  EXPECT_EQ(merged.at("partition").value, Value("gpu"));
  EXPECT_EQ(merged.at("account").value, Value("physics"));
}

TEST(EngineSettings, DevicesFollowFromTheirOption) {
  const EnginePage page = OwnPage("slurm");
  EXPECT_EQ(DevicesOf(page, *Given("slurm", {"gres=gpu:a100:8"})), 8U);
  EXPECT_EQ(DevicesOf(page, *Given("slurm", {"gres=gpu"})), 1U);
  EXPECT_EQ(DevicesOf(page, *Given("slurm", {"nodes=2"})), std::nullopt);
  EXPECT_EQ(DevicesOf(OwnPage("pbs"), *Given("pbs", {"ngpus=4"})), 4U);
  EXPECT_EQ(NodesOf(*Given("slurm", {"nodes=2"})), 2U);
}

TEST(EngineSettings, TasksFollowFromTheirOptionAndFromFurtherDirectives) {
  const EnginePage page = OwnPage("slurm");
  EXPECT_EQ(TasksOf(page, *Given("slurm", {"tasks_per_node=4"})), 4U);
  EXPECT_EQ(TasksOf(page, *Given("slurm", {"tasks_per_node=1"})), std::nullopt) << "as for a launcher";
  EXPECT_EQ(TasksOf(page, *Given("slurm", {"nodes=2"})), std::nullopt);
  EXPECT_EQ(TasksOf(page, *Given("slurm", {"tasks_per_node=4", "extra=--ntasks-per-node=2"})), 2U)
      << "sbatch takes the last one";
  EXPECT_EQ(TasksOf(OwnPage("pbs"), *Given("pbs", {"mpiprocs=3"})), 3U);
  EXPECT_EQ(TasksOf(OwnPage("lsf"), *Given("lsf", {"nodes=3"})), std::nullopt);
}

}  // namespace
}  // namespace muster
