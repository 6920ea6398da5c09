// Tests that the index of a sweep always matches the journal, wherever either was truncated.
#include "sweep/index/sweep_index.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "run/scratch_folder.h"
#include "sweep/index/database.h"
#include "sweep/index/sweep_view.h"
#include "sweep/made_sweep.h"

namespace muster {
namespace {

// A sweep's folder, and the part of its head that writes journal and index.
class Head {
 public:
  Head() : at_(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    auto writer = SweepJournalWriter::Create(at_.get());
    EXPECT_TRUE(writer);
    writer_.emplace(*std::move(writer));
  }

  const std::string& path() const { return folder_.path(); }
  std::string index() const { return folder_ / "index.sqlite"; }

  void Open() {
    index_.emplace(SweepIndex::Open(path()));
    LoadedSweep loaded = index_->CatchUp();
    EXPECT_EQ(loaded.stopped, "");
    EXPECT_EQ(loaded.progress, progress_);
    progress_ = std::move(loaded.progress);
    auto writer = SweepJournalWriter::Continue(at_.get(), loaded.position);
    EXPECT_TRUE(writer);
    writer_.emplace(*std::move(writer));
    EXPECT_EQ(index_->problem(), "");
  }
  void Write(const SweepEntry& entry) {
    const std::uint64_t wall_ns = 1'795'176'376'000'000'000 + 1'000'000 * writer_->position().seq;
    ASSERT_EQ(writer_->Append(entry, wall_ns), 0);
    progress_.Take(entry);
    if (index_) index_->Take({writer_->position().seq, UtcText(wall_ns), entry});
  }
  void Commit(bool leaving = false) { index_->Commit(progress_, writer_->position(), leaving); }
  void Die() { index_.reset(); }
  const SweepProgress& progress() const { return progress_; }
  JournalPosition position() const { return writer_->position(); }

 private:
  ScratchFolder folder_;
  UniqueFd at_;
  std::optional<SweepJournalWriter> writer_;
  std::optional<SweepIndex> index_;
  SweepProgress progress_;
};

// Returns everything that a view shows, as one text.
std::string AllOf(const std::string& sweep_dir) {
  const auto view = SweepView::Open(sweep_dir);
  EXPECT_TRUE(view) << (view ? "" : view.error().front().message);
  if (!view) return {};
  std::string text;
  const auto add = [&](const AttemptRow& row) {
    text += std::to_string(row.trial) + "." + std::to_string(row.attempt) + (row.trial_standing.over ? " over " : " ") +
            row.id + " " + PointText(row.point) + " " + row.run_id + " " + row.hosts.front() + " " +
            (row.ended.empty() ? "running" : std::string(TrialClassName(row.trial_class))) +
            (row.interrupted ? " interrupted" : "") + (row.again ? " again " : " ") + row.blamed + row.why + " " +
            (row.loss ? NumberText(*row.loss) : "-") + " " + PointText(row.metrics) + " " + std::to_string(row.ms) +
            "\n";
    return true;
  };
  EXPECT_TRUE(view->ForEachAttempt(add));
  text += "trials\n";
  EXPECT_TRUE(view->ForEachTrial(SweepView::Order::kNumber, add));
  EXPECT_TRUE(view->ForEachTrial(SweepView::Order::kLoss, add));
  const auto reasons = view->Reasons().value();
  const auto rungs = view->Rungs().value();
  const auto hosts = view->Quarantined().value();
  for (const auto& reason : reasons) text += reason.text + reason.place + std::to_string(reason.count) + "\n";
  for (const auto& rung : rungs) text += std::to_string(rung.trials) + "/" + std::to_string(rung.stopped) + "\n";
  for (const auto& host : hosts) text += host.host + host.why + "\n";
  return text;
}

void RemoveIndex(const Head& head) { std::filesystem::remove(head.index()); }

TEST(SweepIndex, WithTheRestOfTheJournalEqualsTheJournal) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    std::mt19937 random(seed);
    Head head;
    head.Open();
    for (const SweepEntry& entry : MadeSweep(seed, 60)) {
      head.Write(entry);
      switch (random() % 12) {
        case 0:
          head.Commit();
          break;
        case 1:
          head.Die();  // only the journal has what was not committed
          ASSERT_EQ(LoadSweepProgress(head.path()).progress, head.progress());
          head.Open();
          break;
        case 2:
          head.Commit(true);
          head.Die();
          ASSERT_EQ(LoadSweepProgress(head.path()).progress, head.progress());
          ASSERT_EQ(LoadSweepProgress(head.path()).position, head.position());
          head.Open();
          break;
        default:
          break;
      }
    }
    const std::string with_index = AllOf(head.path());
    head.Commit(true);
    const std::string all_indexed = AllOf(head.path());
    head.Die();
    RemoveIndex(head);
    const std::string of_journal = AllOf(head.path());
    EXPECT_EQ(with_index, of_journal);
    EXPECT_EQ(all_indexed, of_journal);
    EXPECT_FALSE(std::filesystem::exists(head.index())) << "a reader writes nothing";
    EXPECT_EQ(LoadSweepProgress(head.path()).progress, head.progress());
  }
}

TEST(SweepIndex, IsDiscardedIfItBelongsToAnotherJournal) {
  Head head;
  head.Open();
  for (const SweepEntry& entry : MadeSweep(1, 40)) head.Write(entry);
  head.Commit(true);
  head.Die();
  Head other;
  for (const SweepEntry& entry : MadeSweep(2, 40)) other.Write(entry);
  std::filesystem::copy_file(head.index(), other.index());
  EXPECT_EQ(LoadSweepProgress(other.path()).progress, other.progress());
  const std::string all = AllOf(other.path());
  other.Open();
  EXPECT_EQ(AllOf(other.path()), all);
}

TEST(SweepIndex, IsDiscardedIfDamagedOrFromBeforeAReboot) {
  Head head;
  head.Open();
  for (const SweepEntry& entry : MadeSweep(1, 40)) head.Write(entry);
  head.Commit();
  head.Die();
  const std::string all = AllOf(head.path());
  {
    auto database = Database::Open(head.index(), Database::Mode::kWrite);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->Run("UPDATE held SET boot = 'another'; DELETE FROM attempts"));
  }
  EXPECT_EQ(AllOf(head.path()), all);
  head.Open();
  EXPECT_EQ(AllOf(head.path()), all);
  head.Commit(true);
  head.Die();
  PutFile(head.index(), std::string(10'000, 'x'));
  EXPECT_EQ(AllOf(head.path()), all);
  head.Open();
  EXPECT_EQ(AllOf(head.path()), all);
}

TEST(SweepIndex, IsDiscardedIfItsPartOfTheJournalWasAltered) {
  Head head;
  head.Open();
  for (const SweepEntry& entry : MadeSweep(1, 200)) head.Write(entry);
  head.Commit();
  head.Die();
  std::string journal = ContentOf(head.path() + "/journal.jsonl");
  const std::size_t middle = journal.size() / 2;
  ASSERT_GT(middle, 8192U) << "neither end of it is what the index knows it by";
  journal[middle] ^= 1;
  PutFile(head.path() + "/journal.jsonl", journal);
  {
    SweepIndex index = SweepIndex::Open(head.path());
    const LoadedSweep loaded = index.CatchUp();
    EXPECT_LT(loaded.position.bytes, middle);
    EXPECT_EQ(index.problem(), "");
  }
  const std::string with_index = AllOf(head.path());
  RemoveIndex(head);
  EXPECT_EQ(with_index, AllOf(head.path()));
}

TEST(SweepIndex, IsPrivateAndCanBeDeletedWithoutLoss) {
  Head head;
  head.Open();
  for (const SweepEntry& entry : MadeSweep(3, 20)) head.Write(entry);
  head.Commit(true);
  EXPECT_EQ(ModeOf(head.index()), 0600U);
  head.Die();
  EXPECT_FALSE(std::filesystem::exists(head.index() + "-journal"));
  RemoveIndex(head);
  EXPECT_EQ(LoadSweepProgress(head.path()).progress, head.progress());
}

TEST(SweepIndex, DoesNotWaitForAReaderAndLosesNothing) {
  Head head;
  head.Open();
  std::vector<SweepEntry> entries = MadeSweep(4, 40);
  for (std::size_t i = 0; i < entries.size() / 2; ++i) head.Write(entries[i]);
  head.Commit();
  {
    const auto view = SweepView::Open(head.path());
    ASSERT_TRUE(view);
    const std::uint64_t begun = view->progress().begun();
    for (std::size_t i = entries.size() / 2; i < entries.size(); ++i) {
      head.Write(entries[i]);
      head.Commit();
    }
    std::uint64_t trials = 0;
    EXPECT_TRUE(view->ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow&) { return ++trials > 0; }));
    EXPECT_EQ(trials, begun) << "what a reader sees is of one moment";
  }
  head.Commit();
  head.Die();
  const std::string all = AllOf(head.path());
  head.Open();
  RemoveIndex(head);
  EXPECT_EQ(AllOf(head.path()), all);
}

// Kills the process repeatedly while it writes.
TEST(SweepIndex, SurvivesItsHeadBeingKilled) {
  Head head;
  const std::vector<SweepEntry> entries = MadeSweep(5, 200);
  for (const SweepEntry& entry : entries) head.Write(entry);
  const std::string all = AllOf(head.path());
  for (int round = 0; round < 8; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) {
        SweepIndex index = SweepIndex::Open(head.path());
        LoadedSweep loaded = index.CatchUp();
        if (::write(pipe_ends[1], "x", 1) != 1) ::_exit(1);
        for (int i = 0; i < 4; ++i) index.Commit(loaded.progress, loaded.position, i % 2 == 0);
        ::unlink(head.index().c_str());
      }
    }
    char byte = 0;
    for (int i = 0; i <= round % 5; ++i) ASSERT_EQ(::read(pipe_ends[0], &byte, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    ASSERT_EQ(AllOf(head.path()), all) << "round " << round;
    ASSERT_EQ(LoadSweepProgress(head.path()).progress, head.progress());
  }
  head.Open();
  EXPECT_EQ(AllOf(head.path()), all);
}

// Its rollback journal remains, and readers cannot apply it.
TEST(SweepIndex, IsNotCalledDamagedAfterItsHeadWasKilledWhileWriting) {
  Head head;
  head.Open();
  for (const SweepEntry& entry : MadeSweep(5, 40)) head.Write(entry);
  head.Commit(true);
  head.Die();
  const std::string before = AllOf(head.path());
  const pid_t killed = ::fork();
  if (killed == 0) {
    auto database = Database::Open(head.index(), Database::Mode::kWrite);
    if (!database || !database->Run("PRAGMA synchronous = OFF; PRAGMA cache_size = 1; BEGIN IMMEDIATE; "
                                    "CREATE TABLE large (x); "
                                    "INSERT INTO large WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                                    "LIMIT 2000) SELECT zeroblob(500) FROM n")) {
      ::_exit(1);
    }
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(killed, &status, 0), killed);
  ASSERT_TRUE(WIFSIGNALED(status));
  struct stat left {};
  ASSERT_EQ(::stat((head.index() + "-journal").c_str(), &left), 0);
  EXPECT_EQ(LoadSweepProgress(head.path()).damage, "");
  const auto view = SweepView::Open(head.path());
  ASSERT_TRUE(view);
  EXPECT_EQ(view->damage(), "");
  EXPECT_EQ(AllOf(head.path()), before);
}

TEST(SweepView, ReportsWhyThereIsNone) {
  const ScratchFolder folder;
  const auto view = SweepView::Open(folder.path());
  ASSERT_FALSE(view);
  EXPECT_NE(view.error().front().message.find("no journal"), std::string::npos);
}

TEST(SweepView, FindsTrialsByTheirIds) {
  Head head;
  for (const SweepEntry& entry : MadeSweep(1, 30)) head.Write(entry);
  const auto view = SweepView::Open(head.path());
  ASSERT_TRUE(view);
  const std::string id = PointId(MadePoint(12));
  EXPECT_EQ(view->TrialsOfId(id.substr(0, 8), 2).value(), std::vector<TrialNumber>{12});
  EXPECT_EQ(view->TrialsOfId("", 2).value().size(), 2U);
  EXPECT_TRUE(view->TrialsOfId("zz", 2).value().empty());
  EXPECT_EQ(view->AttemptsOf(12).value().back().point, MadePoint(12));
  ASSERT_TRUE(view->ReasonOf(10).value());
  EXPECT_EQ(view->ReasonOf(10).value()->place, "gpt.lua:26");
  EXPECT_FALSE(view->ReasonOf(11).value());
}

}  // namespace
}  // namespace muster
