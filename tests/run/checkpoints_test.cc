// Tests which checkpoint is the newest complete one.
#include "run/directory/checkpoints.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "run/scratch_folder.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

class Checkpoints : public ::testing::Test {
 protected:
  void Put(const std::string& path, const std::string& content = "x") {
    fs::create_directories(fs::path(folder_ / path).parent_path());
    PutFile(folder_ / path, content);
  }
  CheckpointPlace Place(const std::string& latest) const { return {folder_.path(), latest, "", ""}; }
  // Returns a path relative to the folder, or the error.
  std::string Newest(const CheckpointPlace& place, const std::set<Checkpoint>& besides = {}) const {
    const auto found = CompleteCheckpoints(place, besides);
    return found ? found->back().path.substr(folder_.path().size() + 1) : found.error();
  }

  ScratchFolder folder_;
};

TEST_F(Checkpoints, AreOrderedByTheirNumbersNotByTheirDigits) {
  Put("step_9.pt");
  Put("step_10.pt");
  Put("step_100.pt.tmp");
  Put("step_200.bin");
  EXPECT_EQ(Newest(Place("step_*.pt*")), "step_10.pt");
  Put("epoch_2/step_3.pt");
  Put("epoch_10/step_1.pt");
  EXPECT_EQ(Newest(Place("epoch_*/*.pt")), "epoch_10/step_1.pt");
  EXPECT_EQ(Newest(Place("*.none")), "nothing in \"" + folder_.path() + "\" matches \"*.none\"");
}

TEST_F(Checkpoints, WithoutNumbersAreOrderedByTime) {
  Put("best.pt");
  Put("last.pt");
  fs::last_write_time(folder_ / "best.pt", fs::last_write_time(folder_ / "last.pt") + std::chrono::hours(1));
  EXPECT_EQ(Newest(Place("*.pt")), "best.pt");
}

TEST_F(Checkpoints, ThatAreIncompleteAreIgnored) {
  Put("step_1/weights");
  Put("step_1/DONE");
  Put("step_2/weights");
  fs::create_directory(folder_ / "step_3");
  Put("step_4", "");
  CheckpointPlace place = Place("step_*");
  EXPECT_EQ(Newest(place), "step_2");
  place.complete = "DONE";
  EXPECT_EQ(Newest(place), "step_1");
  fs::remove(folder_ / "step_1/DONE");
  fs::remove_all(folder_ / "step_2");
  fs::remove_all(folder_ / "step_3");
  fs::remove(folder_ / "step_4");
  EXPECT_EQ(Newest(place), "\"" + folder_.path() + "/step_1\" is not complete: it has no \"DONE\"");
  EXPECT_FALSE(CompleteCheckpoints(place));
}

TEST_F(Checkpoints, AreNamedByAFileIfThereIsOne) {
  Put("global_step5/weights");
  Put("global_step9/weights");
  CheckpointPlace place{folder_.path(), "", "latest", ""};
  EXPECT_NE(Newest(place).find("cannot be read"), std::string::npos);
  Put("latest", "global_step5\n");
  EXPECT_EQ(Newest(place), "global_step5");
  Put("latest", "global_step7");
  EXPECT_NE(Newest(place).find("global_step7\" does not exist"), std::string::npos);
  for (const char* outside : {"/etc/passwd", "../x", "a/../../x", " \n"}) {
    Put("latest", outside);
    EXPECT_FALSE(CompleteCheckpoints(place)) << outside;
  }
}

TEST_F(Checkpoints, OfEarlierRunsCountOnlyIfWrittenAgain) {
  Put("last.pt");
  const auto earlier = CompleteCheckpoints(Place("last.pt"));
  ASSERT_TRUE(earlier);
  const std::set<Checkpoint> besides(earlier->begin(), earlier->end());
  EXPECT_EQ(Newest(Place("last.pt"), besides), "there are only earlier checkpoints");
  fs::last_write_time(folder_ / "last.pt", fs::last_write_time(folder_ / "last.pt") + std::chrono::hours(1));
  EXPECT_EQ(Newest(Place("last.pt"), besides), "last.pt");
}

TEST_F(Checkpoints, MayBeBelowTheRunDirectory) {
  const auto place = PlaceInRun({"${muster:run_dir}/checkpoints", "*", "", ""}, "/runs/1");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->dir.marked, "/runs/1/checkpoints");
  EXPECT_FALSE(CompleteCheckpoints(*place));
}

}  // namespace
}  // namespace muster
