// Tests what is recorded and reported of the resource usage of a real run.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

nlohmann::json ReportOf(const std::string& run_dir) {
  const CommandResult report = Muster({"report", run_dir, "--json"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  return nlohmann::json::parse(report.out);
}

// The first process works until it has been sampled; the second one waits for it.
const char* const kBody = R"lua(
  local probe = ")lua" MUSTER_TESTS_DIR R"lua(/probe"
  job:workers { count = 2, each = function(process)
    if process.rank == 0 then
      process.command = { "sh", "-c", [["$1" allocate 48 burn 200 wait & child=$!
        until grep -q '\[0,0,[0-9]*,[2-9][0-9][0-9][0-9]*,\([5-9][0-9]\{4\}\|[0-9]\{6,\}\),' "$2/usage.jsonl"; do sleep 0.1; done 2> /dev/null
        kill $child; touch "$2/sampled"]], "sh", probe, job.run_dir }
    else
      process.command = { probe, "await", job.run_dir .. "/sampled" }
    end
  end }
)lua";

TEST(ResourceUsage, OfARunIsRecordedAndReported) {
  const OneRecipe recipe(kBody);
  const std::string run_dir = recipe / "run";
  const CommandResult run = Muster({"run", recipe.path(), "--run-dir", run_dir}, {"MUSTER_USAGE_SECONDS=0.1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json processes = ReportOf(run_dir)["processes"];
  const nlohmann::json& busy = processes[0]["usage"];
  EXPECT_GE(busy["samples"], 1);
  EXPECT_GE(busy["memory_kib"]["peak"], 48 * 1024);
  EXPECT_GE(busy["memory_kib"]["peak"], busy["memory_kib"]["mean"]);
  EXPECT_GT(busy["cores"]["mean"], 0);
  EXPECT_GE(busy["cores"]["peak"], busy["cores"]["mean"]);
  EXPECT_TRUE(busy["device_memory_kib"].is_null());
  EXPECT_LT(processes[1]["usage"]["memory_kib"]["peak"], 48 * 1024);
  EXPECT_EQ(std::filesystem::status(run_dir + "/usage.jsonl").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::remove(run_dir + "/usage.jsonl");
  EXPECT_FALSE(ReportOf(run_dir)["processes"][0].contains("usage")) << "as of a run of an earlier version";
}

TEST(ResourceUsage, OfAShortRunIsNotRecorded) {
  const OneRecipe recipe(R"lua(job:workers { count = 1, command = { "true" } })lua");
  ASSERT_EQ(Muster({"run", recipe.path(), "--run-dir", recipe / "run"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(recipe / "run/usage.jsonl"));
}

}  // namespace
}  // namespace muster::testing
