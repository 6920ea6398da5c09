// Tests steering a running sweep from the command line, and that a killed head loses none of it.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// Each trial ends when the file "go" exists.
constexpr char kSteeredPlan[] =
    "job:workers { count = 1, command = { probe, 'file', here .. '/began.' .. p.x, 'await', here .. '/go' } }";

std::size_t PlaceOf(const std::vector<json>& records, const std::string& event, std::size_t number = 0) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i]["event"] == event && number-- == 0) return i;
  }
  return records.size();
}

class SteeredSweep : public ::testing::Test {
 protected:
  SteeredSweep() : sweep_(kParams, kSteeredPlan) {}

  // Three trials of a hundred points, one at a time; returns once the first has begun.
  void Start() {
    head_.emplace(sweep_.StartSweep(
        {"--grid", "x=1..100", "--random", "3", "--seed", "7", "--slots", "1", "-q", "--name", "steered"}));
    while (sweep_.sweep().empty() || !std::filesystem::exists(sweep_.journal())) {
      ASSERT_FALSE(AwaitReadable(head_->pidfd(), std::chrono::milliseconds(5))) << sweep_.Errors();
    }
    AwaitBegun(1);
  }
  // Waits until that many attempts have begun.
  void AwaitBegun(std::size_t attempts) {
    while (sweep_.Records("attempt_began").size() < attempts) {
      ASSERT_FALSE(AwaitReadable(head_->pidfd(), std::chrono::milliseconds(5))) << sweep_.Errors();
    }
  }

  SweepCase sweep_;
  std::optional<StartedProgram> head_;
};

TEST_F(SteeredSweep, KeepsSlotsAndAddedTrialsWhenItsHeadIsKilled) {
  Start();
  const CommandResult steered = sweep_.Muster({"steer", "steered", "--slots", "2", "--add-trials", "2", "--json"});
  ASSERT_EQ(steered.exit_code, 0) << steered.err;
  const json limits = json::parse(steered.out);
  EXPECT_EQ(limits["trials"], 5);
  EXPECT_EQ(limits["slots"], 2);
  EXPECT_EQ(limits["max_trials"], nullptr);
  AwaitBegun(2);
  const json listed = json::parse(sweep_.Muster({"ps", "--json"}).out)["sweeps"][0];
  EXPECT_EQ(listed["slots"], 2);
  head_->Signal(SIGKILL);
  head_->End();
  ASSERT_TRUE(sweep_.NothingLeft());
  const std::vector<json> records = sweep_.Records();
  EXPECT_LT(PlaceOf(records, "sweep_steered"), PlaceOf(records, "attempt_began", 1)) << "recorded before it is used";

  head_.emplace(sweep_.Start({"resume", "steered", "-q", "--no-progress"}));
  AwaitBegun(4);  // both slots again
  EXPECT_EQ(sweep_.Records("sweep_began").back()["trials"], 5);
  sweep_.Write("go", "");
  EXPECT_EQ(head_->End(), 0) << sweep_.Errors();
  EXPECT_EQ(sweep_.Wrong(5), "");
  EXPECT_TRUE(sweep_.NothingLeft());
}

TEST_F(SteeredSweep, IsContinuedWithMoreTrialsAfterItsEnd) {
  Start();
  sweep_.Write("go", "");
  EXPECT_EQ(head_->End(), 0) << sweep_.Errors();
  const CommandResult late = sweep_.Muster({"steer", "steered", "--add-trials", "2"});
  EXPECT_NE(late.exit_code, 0);
  EXPECT_TRUE(Says(late.err, "muster resume steered --add-trials 2")) << late.err;
  const CommandResult more = sweep_.Muster({"resume", "steered", "-q", "--add-trials", "2", "--slots", "2"});
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(sweep_.Wrong(5), "");
  const CommandResult most = sweep_.Muster({"resume", "steered", "-q", "--add-trials", "96"});
  EXPECT_EQ(most.exit_code, 2);
  EXPECT_TRUE(Says(most.err, "at most 95 trials can be added")) << most.err;
}

TEST_F(SteeredSweep, RefusesWhatItCannotDo) {
  Start();
  const CommandResult nothing = sweep_.Muster({"steer", "steered"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_TRUE(Says(nothing.err, "--slots 4")) << nothing.err;
  const CommandResult many = sweep_.Muster({"steer", "steered", "--add-trials", "98"});
  EXPECT_EQ(many.exit_code, 3);
  EXPECT_TRUE(Says(many.err, "the head refuses: at most 97 trials can be added")) << many.err;
  EXPECT_TRUE(sweep_.Records("sweep_steered").empty());
  sweep_.Write("go", "");
  EXPECT_EQ(head_->End(), 0) << sweep_.Errors();
}

TEST_F(SteeredSweep, KeepsNotesOfSweepAndTrials) {
  Start();
  EXPECT_EQ(sweep_.Muster({"note", "steered", "first try,", "on old nodes"}).out, "first try, on old nodes\n");
  EXPECT_EQ(sweep_.Muster({"note", "steered:0", "diverges?\nlook at step 100"}).exit_code, 0);
  EXPECT_EQ(sweep_.Muster({"note", "steered:0", "\x1b[2J"}).exit_code, 2) << "a control character";
  head_->Signal(SIGINT);
  head_->End();
  sweep_.Write("go", "");
  EXPECT_EQ(sweep_.Muster({"resume", "steered", "-q"}).exit_code, 0);
  EXPECT_EQ(sweep_.Muster({"note", "steered"}).out, "first try, on old nodes\n");
  EXPECT_EQ(sweep_.Muster({"note", "steered:0"}).out, "diverges?\nlook at step 100\n") << "its second attempt has it";
  EXPECT_TRUE(Says(sweep_.Muster({"show", "steered"}).out, "note         first try, on old nodes\n"));
  EXPECT_EQ(json::parse(sweep_.Muster({"show", "steered", "--json"}).out)["note"], "first try, on old nodes");
  const std::string trial = sweep_.Muster({"show", "steered:0"}).out;
  EXPECT_TRUE(Says(trial, "  note       diverges?\n             look at step 100\n")) << trial;
  const json report = json::parse(sweep_.Muster({"report", "steered:0", "--json"}).out);
  EXPECT_EQ(report["note"], "diverges?\nlook at step 100");
  EXPECT_TRUE(
      Says(sweep_.Muster({"ls", "steered", "--where", "note ~ diverges", "--columns", "trial,note"}).out, "diverges?"));
  EXPECT_EQ(sweep_.Muster({"note", "steered", "--remove"}).out, "");
  EXPECT_EQ(sweep_.Muster({"note", "steered"}).out, "");
}

}  // namespace
}  // namespace muster::testing
