// Tests that a checkpoint is reported when it becomes complete, at any depth below its folder.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "run/scratch_folder.h"
#include "run/session/run_checkpoints.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

class CheckpointWatching : public ::testing::Test {
 protected:
  void Put(const std::string& path) {
    fs::create_directories(fs::path(folder_ / path).parent_path());
    PutFile(folder_ / path, "x");
  }
  void Start(const std::string& latest, const std::string& file, const std::string& complete,
             const std::string& dir = "") {
    watch_.Start({Text(folder_.path() + dir), latest, file, complete},
                 [this](const Checkpoint& written) { reported_ = written.path.substr(folder_.path().size() + 1); });
  }
  // Handles all pending kernel events; returns the reports.
  std::string Reported() {
    io_.poll();
    return reported_;
  }

  ScratchFolder folder_;
  boost::asio::io_context io_;
  CheckpointWatch watch_{io_};
  std::string reported_;
};

TEST_F(CheckpointWatching, DetectsTheCompletionOfANestedFolder) {
  Put("epoch_1/step_1/weights");
  Start("epoch_*/step_*", "", "DONE");
  EXPECT_EQ(Reported(), "");
  Put("epoch_1/step_1/DONE");
  EXPECT_EQ(Reported(), "epoch_1/step_1");
}

TEST_F(CheckpointWatching, WatchesNewFolders) {
  Start("epoch_*/step_*/*", "", "meta/parts/DONE", "/not/yet");
  for (const std::string made : {"epoch_2", "epoch_2/step_3", "epoch_2/step_3/rank_0", "epoch_2/step_3/rank_0/meta",
                                 "epoch_2/step_3/rank_0/meta/parts"}) {
    fs::create_directories(folder_ / ("not/yet/" + made));
    EXPECT_EQ(Reported(), "") << made;
  }
  Put("not/yet/epoch_2/step_3/rank_0/meta/parts/DONE");
  EXPECT_EQ(Reported(), "not/yet/epoch_2/step_3/rank_0");
}

TEST_F(CheckpointWatching, DetectsTheCompletionOfACheckpointNamedByAFile) {
  Put("runs/a/weights");
  Put("now/latest");
  Start("", "now/latest", "DONE");
  PutFile(folder_ / "now/latest", "runs/a");
  EXPECT_EQ(Reported(), "");
  Put("runs/a/DONE");
  EXPECT_EQ(Reported(), "runs/a");
}

TEST_F(CheckpointWatching, IgnoresEarlierCheckpoints) {
  Put("step_1/DONE");
  Start("step_*", "", "DONE");
  Put("elsewhere/DONE");
  EXPECT_EQ(Reported(), "");
  Put("step_2/DONE");
  EXPECT_EQ(Reported(), "step_2");
}

}  // namespace
}  // namespace muster
