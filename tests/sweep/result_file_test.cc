// Tests where the result file of a trial is found, and what it must hold.
#include "sweep/trial/result_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace muster::testing {
namespace {

TEST(ResultFile, IsInTheWorkingFolderOrTheRunDirectory) {
  TempDir folder;
  std::filesystem::create_directories(folder / "work");
  std::filesystem::create_directories(folder / "run");
  std::ofstream(folder / "result.json") << "{\"loss\": 1}";
  std::ofstream(folder / "work/result.json") << "{\n \"loss\": 2,\n \"acc\": NaN\n}\n";
  std::ofstream(folder / "run/result.json") << "[]";
  Plan plan;
  plan.roles.resize(2);
  plan.roles[0].name = "server";
  plan.roles[1].name = "worker";
  plan.processes.resize(2);
  plan.processes[1].role = 1;
  plan.processes[1].rank = 0;
  MetricsChoice choice;
  choice.result_file = "result.json";
  const auto read = [&] { return ReadResultFile(plan, choice, folder / "run", folder.path()); };
  EXPECT_EQ(read()->at("loss"), Value(1));
  plan.roles[1].cwd = "work";
  EXPECT_EQ(*read(), (MetricValues{{"loss", Value(2)}, {"acc", Value()}}));
  plan.roles[1].cwd = Text("${muster:run_dir}");
  ASSERT_FALSE(read());
  EXPECT_NE(read().error().at(0).message.find("no object of JSON"), std::string::npos);
  choice.result_file = "{run_dir}/gone.json";
  ASSERT_FALSE(read());
  EXPECT_EQ(read().error().at(0).kind, "metrics");
  plan.roles[1].cwd = Text("${muster:host_name:0}");
  choice.result_file = "result.json";
  EXPECT_FALSE(read());
}

}  // namespace
}  // namespace muster::testing
