// Reads what former versions of muster stored: a run, a plan, a sweep and an archive of each (README.md).
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A copy with the modes that muster gives to its files, which git does not store.
class Stored : public ::testing::TestWithParam<const char*> {
 protected:
  Stored() {
    fs::copy(std::string(MUSTER_SOURCE_DIR "/tests/stored/") + GetParam(), folder_.path(), fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      fs::permissions(entry,
                      entry.is_directory() ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write);
    }
  }
  static json Json(std::vector<std::string> words) {
    words.emplace_back("--json");
    const CommandResult result = Muster(std::move(words));
    EXPECT_EQ(result.err, "");
    return json::parse(result.out, nullptr, false);
  }

  TempDir folder_;
};

TEST_P(Stored, RunIsReported) {
  const json report = Json({"report", folder_ / "run"});
  EXPECT_EQ(report["outcome"], "ok");
  EXPECT_EQ(report["tags"], (json{"baseline", "ticket=42"}));
  EXPECT_EQ(report["note"], "kept for later versions");
  EXPECT_EQ(report["metrics"][0]["last"]["loss"], 0.0333333);
  ASSERT_EQ(report["processes"].size(), 2U);
  EXPECT_EQ(report["processes"][1]["attempts"][0]["exit_code"], 0);
  EXPECT_GE(report["processes"][0]["usage"]["samples"], 1);
  EXPECT_NE(Muster({"logs", folder_ / "run", "--rank", "1"}).out.find("rank 1 of 2"), std::string::npos);
}

TEST_P(Stored, RestartedRunHasItsAttempts) {
  const json report = Json({"report", folder_ / "failed"});
  EXPECT_EQ(report["outcome"], "ok");
  ASSERT_EQ(report["restarts"].size(), 1U);
  const json& attempts = report["processes"][1]["attempts"];
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0]["exit_code"], 7);
  EXPECT_EQ(attempts[1]["exit_code"], 0);
}

TEST_P(Stored, PlanIsTheSamePlan) {
  const std::string plan = Json({"report", folder_ / "run"})["plan"];
  const CommandResult run = Muster({"run", "--plan", folder_ / "plan.json", "--run-dir", folder_ / "again", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Json({"report", folder_ / "again"})["plan"], plan) << "the id of a plan does not change";
}

TEST_P(Stored, RecipeOfARunIsRunAgain) {
  const CommandResult run = Muster({"run", folder_ / "run", "--run-dir", folder_ / "again", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Json({"report", folder_ / "again"})["outcome"], "ok");
}

TEST_P(Stored, SweepHasItsResultsWithAndWithoutItsIndex) {
  for (const bool indexed : {true, false}) {
    if (!indexed) fs::remove(folder_ / "sweep/index.sqlite");
    const json best = Json({"best", folder_ / "sweep"})["trials"][0];
    EXPECT_EQ(best["id"], "4a4cfc64f7d5d57f");
    EXPECT_EQ(best["point"], (json{{"fail", false}, {"lr", 0.1}}));
    EXPECT_EQ(best["metrics"]["loss"], 0.0333333);
    const json shown = Json({"show", folder_ / "sweep"});
    EXPECT_EQ(shown["classes"], (json{{"ok", 4}}));
    EXPECT_EQ(shown["state"], "complete");
    EXPECT_EQ(shown["note"], "a sweep");
  }
}

TEST_P(Stored, SweepIsResumedWithTheSameTrials) {
  const CommandResult resumed = Muster({"resume", folder_ / "sweep", "--quiet"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(Json({"show", folder_ / "sweep"})["attempts"], 4) << "none is repeated";
}

TEST_P(Stored, ArchiveIsTheRun) {
  Command unpack;
  unpack.argv = {"tar", "-C", folder_.path(), "--one-top-level=unpacked", "-xf", folder_ / "run.tar"};
  ASSERT_EQ(RunCommand(unpack).exit_code, 0);
  json packed = Json({"report", folder_ / "unpacked/run"});
  json run = Json({"report", folder_ / "run"});
  EXPECT_EQ(packed["run"], run["run"]);
  EXPECT_EQ(packed["processes"], run["processes"]);
}

INSTANTIATE_TEST_SUITE_P(Versions, Stored, ::testing::Values("first"));

class StoredSince : public Stored {};

TEST_P(StoredSince, SweepThatLearnsHasItsResultsAndIsResumed) {
  const std::string sweep = folder_ / "learn";
  for (const bool indexed : {true, false}) {
    if (!indexed) fs::remove(sweep + "/index.sqlite");
    const json best = Json({"best", sweep})["trials"][0];
    EXPECT_EQ(best["id"], "b1f10817631f4e8d");
    EXPECT_EQ(best["point"], (json{{"lr", 0.299043}}));
    EXPECT_EQ(best["trial"], 10) << "one of those that learned";
    EXPECT_EQ(Json({"show", sweep})["classes"], (json{{"ok", 12}}));
  }
  ASSERT_EQ(Muster({"resume", sweep, "--quiet"}).exit_code, 0);
  EXPECT_EQ(Json({"show", sweep})["attempts"], 12) << "none is repeated";
  // A further trial is asked of a sampler that knows the results of the stored ones.
  ASSERT_EQ(Muster({"resume", sweep, "--add-trials", "1", "--quiet"}).exit_code, 0);
  EXPECT_EQ(Json({"show", sweep})["classes"], (json{{"ok", 13}}));
  EXPECT_EQ(Json({"ls", sweep, "--where", "trial == 12"})["trials"].size(), 1U);
}

TEST_P(StoredSince, SubmittedRunHasItsJobAndAttempts) {
  const json report = Json({"report", folder_ / "submitted"});
  EXPECT_EQ(report["outcome"], "ok");
  EXPECT_EQ(report["tags"], (json{"submitted"}));
  EXPECT_EQ(report["job"]["engine"], "mine");
  EXPECT_EQ(report["job"]["id"], "12");
  EXPECT_EQ(report["job"]["attempt"], 1);
  ASSERT_EQ(report["job"]["attempts"].size(), 1U);
  EXPECT_EQ(report["job"]["attempts"][0]["run"], report["run"]);
}

INSTANTIATE_TEST_SUITE_P(Versions, StoredSince, ::testing::Values("second"));

}  // namespace
}  // namespace muster::testing
