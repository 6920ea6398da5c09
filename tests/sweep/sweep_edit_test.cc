// Tests edits of sweeps: what becomes of trials, that a head which is killed in the middle leaves one of two states,
// and that an edited sweep that is resumed tries what an uninterrupted one tries.
#include "sweep/record/sweep_edit.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <variant>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "support/file_content.h"
#include "support/temp_dir.h"
#include "sweep/edited_sweep.h"
#include "sweep/record/sweep_journal.h"

namespace muster {
namespace {

using testing::ContentOf;
using testing::TempDir;
using Kind = SamplerChoice::Kind;

double LossAround7(const Point& point) { return (point.at("x").Number() - 7) * (point.at("x").Number() - 7); }

SweepDescription Learning(Kind kind, std::uint64_t trials) {
  SweepDescription sweep;
  sweep.objective = {.metric = "loss"};
  sweep.sampler = {.kind = kind, .trials = trials, .seed = 5};
  return sweep;
}

// Runs trials one after the other until that many have ended; the first one to begin ends first.
void RunTo(ScheduledSweep& sweep, std::size_t over, std::vector<TrialNumber>& running) {
  while (sweep.scheduler->progress().over().size() < over) {
    sweep.Judge();
    for (const TrialNumber trial : sweep.Start()) running.push_back(trial);
    ASSERT_FALSE(running.empty());
    const TrialNumber trial = running.front();
    running.erase(running.begin());
    sweep.End(trial, TrialClass::kOk, {}, LossAround7(sweep.trial_points->At(trial)));
  }
}

std::vector<std::string> PointsTried(const std::vector<SweepEntry>& entries) {
  std::vector<std::string> points;
  for (const SweepEntry& entry : entries) {
    const auto* began = std::get_if<AttemptBegan>(&entry);
    if (began != nullptr && began->attempt == 0) points.push_back(PointText(began->point));
  }
  return points;
}

TEST(SweepEdit, KeepsRunningTrialsAndGivesUpThoseThatWait) {
  ScheduledSweep sweep(20);
  sweep.ResumeFrom();
  std::vector<TrialNumber> running;
  RunTo(sweep, 3, running);
  ASSERT_FALSE(running.empty());
  const TrialNumber runs = running.front();
  Edit(sweep, {}, Values(2));  // x = 0 and 1 were tried: nothing is left
  const SweepProgress& progress = sweep.scheduler->progress();
  EXPECT_EQ(progress.edits(), 1U);
  EXPECT_EQ(progress.trials(), 20U);
  EXPECT_TRUE(progress.open().contains(runs)) << "its point is not in the space any more, and it goes on";
  EXPECT_EQ(progress.open().size(), running.size());
  EXPECT_EQ(progress.impossible().size(), 20 - 3 - running.size());
  for (const TrialNumber trial : running) sweep.End(trial);
  EXPECT_EQ(progress.over().size(), 3 + running.size());
  EXPECT_TRUE(sweep.scheduler->complete());
  EXPECT_EQ(ProgressOf(sweep.entries), progress);
}

TEST(SweepEdit, AddsPointsAndTriesNoneTwice) {
  ScheduledSweep sweep(6);
  sweep.ResumeFrom();
  std::vector<TrialNumber> running;
  RunTo(sweep, 2, running);
  Edit(sweep, {}, Values(9));
  RunTo(sweep, 9, running);
  EXPECT_TRUE(sweep.scheduler->complete());
  auto tried = PointsTried(sweep.entries);
  std::sort(tried.begin(), tried.end());
  EXPECT_EQ(tried.size(), 9U);
  EXPECT_EQ(std::unique(tried.begin(), tried.end()), tried.end());
}

// One is edited and goes on; of the other, all that is left of the same head is its journal.
TEST(SweepEdit, SuggestsTheSameAfterItsHeadWasKilled) {
  for (const Kind kind : {Kind::kTpe, Kind::kGp, Kind::kRandom, Kind::kSobol}) {
    SCOPED_TRACE(KindOf({.kind = kind}).name);
    ScheduledSweep sweep(100, Learning(Kind::kTpe, 40), {{"", 0, 1}});
    sweep.ResumeFrom();
    std::vector<TrialNumber> running;
    RunTo(sweep, 15, running);
    const SamplerChoice choice = {.kind = kind, .trials = 32, .seed = 9};
    Edit(sweep, choice, Values(64));
    RunTo(sweep, 20, running);
    ASSERT_TRUE(running.empty()) << "nothing is interrupted";
    const std::vector<SweepEntry> known = sweep.entries;
    RunTo(sweep, 30, running);

    SweepDescription description = Learning(kind, 32);
    description.sampler = sweep.sweep.sampler;
    ScheduledSweep resumed(0, description, {{"", 0, 1}}, ProgressOf(known), Values(64));
    resumed.trial_points.emplace(*resumed.sampler, resumed.sweep, 1);
    for (const SweepEntry& entry : known) resumed.trial_points->Take(entry);
    EXPECT_EQ(resumed.trial_points->size(), sweep.trial_points->size());
    resumed.ResumeFrom();
    RunTo(resumed, 30, running);
    std::vector<std::string> uninterrupted = PointsTried(sweep.entries);
    uninterrupted.erase(uninterrupted.begin(), uninterrupted.begin() + 20);
    EXPECT_EQ(PointsTried(resumed.entries), uninterrupted);
  }
}

// A directory whose journal has `entries`, and sweep.json without `x`.
class HeldEdit : public ::testing::Test {
 protected:
  void Write(const std::vector<SweepEntry>& entries) {
    home_.emplace();
    folder_ = UniqueFd(::open(home_->path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::string journal;
    for (const SweepRecord& record : RecordsFrom(entries)) journal += SweepJournalLine(record);
    ASSERT_TRUE(WriteNewFile(folder_.get(), "journal.jsonl", journal));
    ASSERT_TRUE(WriteNewFile(folder_.get(), "recipe/r.lua", "before"));
    ASSERT_TRUE(WriteNewFile(folder_.get(), "sweep.json", "before"));
  }
  static std::vector<SweepRecord> RecordsFrom(const std::vector<SweepEntry>& entries) {
    std::vector<SweepRecord> records;
    for (const SweepEntry& entry : entries)
      records.push_back({records.size() + 1, "2026-01-01T00:00:00.000000Z", entry});
    return records;
  }
  SweepEdit MadeEdit(TrialNumber from) {
    SweepDescription sweep;
    sweep.space = Values(9);
    sweep.sampler.edited_at = from;
    SweepFile file;
    file.sweep_id = "5e11ab1e0001";
    file.name = "s";
    file.trials = 12;
    return {"0123456789ab",
            Value(Value::List{}),
            Value(),
            {{"r.lua", "now"}},
            SweepFileText(file, SweepDescriptionValue(sweep))};
  }
  std::vector<SweepEntry> Journal() {
    std::vector<SweepEntry> entries;
    std::string stopped;
    ReadSweepJournal(
        folder_.get(), {}, [&](const SweepRecord& record) { entries.push_back(record.entry); }, stopped);
    EXPECT_EQ(stopped, "");
    return entries;
  }

  std::optional<TempDir> home_;
  UniqueFd folder_;
};

TEST_F(HeldEdit, IsCarriedOutWhereverItsHeadWasKilled) {
  ScheduledSweep sweep(6);
  sweep.ResumeFrom();
  std::vector<TrialNumber> running;
  RunTo(sweep, 2, running);
  std::vector<SweepEntry> before = sweep.entries;
  SweepEdited edited{"0123456789ab", 6, 12, "hash", true, {}};
  const auto all = EntriesOfEdit(edited, ProgressOf(before), {});
  ASSERT_GE(all.size(), 2U);
  for (std::size_t written = 0; written <= all.size(); ++written) {
    std::vector<SweepEntry> entries = before;
    entries.insert(entries.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(written));
    Write(entries);
    const SweepEdit edit = MadeEdit(6);
    ASSERT_TRUE(WriteEdit(folder_.get(), kEditEntry.name, edit));
    for (int times = 0; times < 2; ++times) {  // the second one has nothing to do
      ASSERT_TRUE(CarryOutEdit(folder_.get(), home_->path(), [] { return Result<std::string>("hash"); }));
      EXPECT_FALSE(std::filesystem::exists(*home_ / "edit"));
      EXPECT_EQ(ContentOf(*home_ / "sweep.json"), edit.sweep);
      EXPECT_EQ(ContentOf(*home_ / "recipe/r.lua"), "now");
      const SweepProgress progress = ProgressOf(Journal());
      EXPECT_EQ(progress.edits(), 1U) << written;
      EXPECT_EQ(progress.trials(), 12U);
      EXPECT_EQ(progress.recipe(), "hash");
      EXPECT_EQ(progress.impossible().size(), 6 - 2 - running.size()) << written;
      EXPECT_EQ(progress.over().size(), 2U);
    }
    const auto read = ReadSweepDescription(home_->path());
    ASSERT_TRUE(read);
    ASSERT_EQ(read->sampler.kept.size(), 6U);
    EXPECT_EQ(read->sampler.kept[0], (Point{{"x", 0}}));
    EXPECT_TRUE(read->sampler.kept[5].empty());
  }
}

TEST_F(HeldEdit, IsRefusedIfItIsDamaged) {
  Write({});
  ASSERT_TRUE(WriteNewFile(folder_.get(), "edit", "nothing of the kind"));
  const auto carried = CarryOutEdit(folder_.get(), home_->path(), [] { return Result<std::string>("hash"); });
  ASSERT_FALSE(carried);
  EXPECT_EQ(ContentOf(*home_ / "sweep.json"), "before");
  SweepEdit leaves = MadeEdit(0);
  leaves.sources = {{"../other", "x"}};
  ASSERT_TRUE(WriteEdit(folder_.get(), "edit", leaves));
  EXPECT_FALSE(ReadEdit(folder_.get(), "edit"));
}

}  // namespace
}  // namespace muster
