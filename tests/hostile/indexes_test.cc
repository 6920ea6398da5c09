// Tests damaged and hostile sweep indexes: commands report the damage and show what the journal holds, and the head
// rebuilds the index. Nothing may crash, hang or use more than 256 MiB.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/system/unique_fd.h"
#include "hostile/mutation.h"
#include "support/file_content.h"
#include "support/sweep_folder.h"
#include "sweep/index/database.h"
#include "sweep/index/sweep_index.h"
#include "sweep/index/sweep_view.h"
#include "sweep/made_sweep.h"

namespace muster::testing {
namespace {

constexpr TrialNumber kTrials = 150;
constexpr std::size_t kPage = 4096;

SweepFile File() {
  SweepFile file;
  file.sweep_id = "5e11ab1e0001";
  file.name = "made";
  file.objective = Objective{"loss", false, {}};
  file.names = {"lr", "optimizer", "workers"};
  file.trials = kTrials;
  file.words = {"sweep", "made.lua"};
  file.cwd = "/tmp";
  return file;
}

// Everything that a view shows, as one text, and the damage it reports.
struct Seen {
  std::string text;
  std::string damage;
};
Seen All(const std::string& sweep_dir) {
  const auto view = SweepView::Open(sweep_dir);
  if (!view) return {"no view: " + view.error().front().message, {}};
  Seen seen{{}, view->damage()};
  bool whole = true;
  const auto add = [&](const AttemptRow& row) {
    seen.text += std::to_string(row.trial) + "." + std::to_string(row.attempt) + row.id + PointText(row.point) +
                 (row.loss ? NumberText(*row.loss) : "-") + row.why + "\n";
    return true;
  };
  whole = view->ForEachAttempt(add).has_value() && whole;
  for (const auto order : {SweepView::Order::kNumber, SweepView::Order::kLoss})
    whole = view->ForEachTrial(order, add).has_value() && whole;
  for (const TrialNumber trial : {TrialNumber{0}, TrialNumber{16}, kTrials}) {
    whole = view->AttemptsOf(trial) && view->DecisionsOn(trial) && view->ReasonOf(trial) && whole;
  }
  whole = view->Reasons() && view->Rungs() && view->Quarantined() && view->Began() && view->Last() && whole;
  whole = view->TrialsOfId("0", 5).has_value() && whole;
  if (!whole) seen.text += "not all of it\n";
  return seen;
}

// Changes the parts of the file that SQLite relies on: its header, page headers and page numbers.
std::string ChangeIndex(std::string& bytes, Dice& dice) {
  const std::size_t pages = bytes.size() / kPage;
  const std::size_t page = dice.Below(pages);
  switch (dice.Below(9)) {
    case 0: {
      const std::size_t at = dice.Below(100);
      bytes[at] = static_cast<char>(dice.Next());
      return "header byte " + std::to_string(at);
    }
    case 1:
    case 2: {
      const std::size_t at = page * kPage + (page == 0 ? 100 : 0) + dice.Below(12);
      bytes[at] = static_cast<char>(dice.OneIn(2) ? dice.Next() : 5);
      return "byte " + std::to_string(at) + " of the head of page " + std::to_string(page + 1);
    }
    case 3: {
      const std::size_t at = page * kPage + 8 + 2 * dice.Below(200);
      bytes[at] = static_cast<char>(dice.Next());
      return "a cell's place in page " + std::to_string(page + 1);
    }
    case 4: {
      const std::size_t at = page * kPage + dice.Below(kPage - 4);
      const std::uint32_t other = static_cast<std::uint32_t>(1 + dice.Below(pages + 1));
      for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(other >> (8 * (3 - i)));
      return "number " + std::to_string(other) + " put at " + std::to_string(at);
    }
    case 5: {
      const std::size_t other = dice.Below(pages);
      bytes.replace(page * kPage, kPage, bytes.substr(other * kPage, kPage));
      return "page " + std::to_string(other + 1) + " in the place of page " + std::to_string(page + 1);
    }
    case 6:
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page * kPage), kPage, '\0');
      return "page " + std::to_string(page + 1) + " empty";
    default:
      return ChangeBytes(bytes, dice);
  }
}

class HostileIndexes : public ::testing::Test {
 protected:
  void SetUp() override {
    MakeIndex();
    index = ContentOf(Index());
    ASSERT_GT(index.size(), 8 * kPage);
    const Seen seen = All(sweep.path());
    ASSERT_EQ(seen.damage, "");
    std::filesystem::remove(Index());
    of_journal = All(sweep.path()).text;
    ASSERT_EQ(seen.text, of_journal);
    PutContent(Index(), index);
  }
  std::string Index() const { return sweep.path() + "/index.sqlite"; }
  // Creates the index as a starting head does.
  std::string MakeIndex() const {
    SweepIndex made = SweepIndex::Open(sweep.path());
    const LoadedSweep loaded = made.CatchUp();
    made.Commit(loaded.progress, loaded.position, true);
    return made.damage();
  }
  // Changes the index through SQLite.
  void Change(const char* statements) const {
    PutContent(Index(), index);
    auto database = Database::Open(Index(), Database::Mode::kWrite);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->Run(statements)) << database->Problem();
  }
  // Expects that the damage is reported, that everything else matches the journal, and that the head rebuilds the
  // index.
  void ExpectRebuilt(const std::string& what) const {
    const auto wrong = TryCases(1, 1, [&](Dice&, CaseStory&) -> std::string {
      const Seen seen = All(sweep.path());
      if (seen.damage.empty()) return "the damage is not told";
      if (seen.text != of_journal) return "what is told is not the journal's";
      const LoadedSweep loaded = LoadSweepProgress(sweep.path());
      if (loaded.progress.over().size() == 0) return "the progress is not the journal's";
      return MakeIndex().empty() ? "the head does not tell" : "";
    });
    EXPECT_TRUE(wrong.empty()) << what << ": " << Lines(wrong);
    const Seen seen = All(sweep.path());
    EXPECT_EQ(seen.damage, "") << what << ": the head made it anew";
    EXPECT_EQ(seen.text, of_journal) << what;
    std::filesystem::remove(Index());
  }

  SweepFolder sweep{File(), MadeSweep(1, kTrials)};
  std::string index, of_journal;
};

TEST_F(HostileIndexes, AreReadOrIgnored) {
  const auto wrong = TryCases(1, CasesOf(500, 10), [&](Dice& dice, CaseStory& reported) -> std::string {
    std::string bytes = index;
    for (std::uint64_t changes = 1 + dice.Below(3); changes > 0 && bytes.size() > kPage; --changes)
      reported.Did(ChangeIndex(bytes, dice));
    PutContent(Index(), bytes);
    std::filesystem::remove(Index() + "-journal");
    if (dice.OneIn(10)) PutContent(Index() + "-journal", bytes.substr(0, dice.Below(bytes.size())));
    const Seen seen = All(sweep.path());
    (void)LoadSweepProgress(sweep.path());
    if (!seen.damage.empty() && seen.text != of_journal) return "it is told, and not the journal";
    if (seen.text.ends_with("not all of it\n")) return "an index that was found sound cannot be read";
    (void)MakeIndex();
    return {};
  });
  EXPECT_TRUE(wrong.empty()) << Lines(wrong);
}

TEST_F(HostileIndexes, AreRebuiltFromTheJournal) {
  PutContent(Index(), std::string(10'000, 'x'));
  ExpectRebuilt("no database");
  PutContent(Index(), index.substr(0, index.size() / 2));
  ExpectRebuilt("half of it");
  std::string holes = index;
  std::fill(holes.begin() + 3 * kPage, holes.end(), '\0');
  PutContent(Index(), holes);
  ExpectRebuilt("its first pages alone");
  Change("DROP TABLE attempts");
  ExpectRebuilt("a table is missing");
  // A view in place of a table yields endless rows.
  Change(
      "DROP TABLE attempts; CREATE VIEW attempts AS WITH RECURSIVE n(trial) AS (SELECT 1 UNION ALL SELECT trial + 1 "
      "FROM n) SELECT trial, 0 AS attempt, 1 AS last, 1 AS over, '' AS id, '' AS point, '' AS plan, '' AS run, '' AS "
      "hosts, '' AS began, '' AS ended, 'ok' AS class, 0 AS interrupted, 0 AS again, '' AS blamed, '' AS why, 1.0 AS "
      "loss, '' AS metrics, 0 AS ms FROM n");
  ExpectRebuilt("a view without an end");
  Change("CREATE TRIGGER t AFTER INSERT ON attempts BEGIN DELETE FROM attempts; END");
  ExpectRebuilt("a trigger");
  Change("ALTER TABLE attempts ADD COLUMN more TEXT AS (hex(zeroblob(1000000000)))");
  ExpectRebuilt("a column that is computed");
  Change("UPDATE account SET archive = zeroblob(100)");
  ExpectRebuilt("another progress");
}

TEST_F(HostileIndexes, MustBeRegularFiles) {
  std::filesystem::remove(Index());
  ASSERT_EQ(::mkfifo(Index().c_str(), 0600), 0);
  ExpectRebuilt("a FIFO");
  std::filesystem::create_symlink("/dev/zero", Index());
  ExpectRebuilt("a link");
  PutContent(Index(), index);
  ASSERT_EQ(::mkfifo((Index() + "-journal").c_str(), 0600), 0);
  ExpectRebuilt("a FIFO in the place of its rollback journal");
  PutContent(Index(), index);
  std::error_code error;
  std::filesystem::resize_file(Index(), std::uintmax_t{900} << 30, error);
  if (!error) ExpectRebuilt("900 GB");
}

// After a rollback SQLite deletes the super-journal that the rollback journal names.
TEST_F(HostileIndexes, DeleteNoFileThatTheyName) {
  const std::string precious = sweep / "precious";
  PutContent(precious, "precious");
  // Format: sqlite.org/fileformat2.html. A header without pages, then the name, its length, its checksum and the magic
  // bytes.
  std::string journal("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  const auto number = [](std::uint64_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  journal += number(0) + number(1) + number(index.size() / kPage) + number(512) + number(kPage);
  journal.resize(512);
  std::uint64_t sum = 0;
  for (const char c : precious) sum += static_cast<unsigned char>(c);
  journal += number(262'145) + precious + number(precious.size()) + number(sum);
  journal += std::string("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  PutContent(Index() + "-journal", journal);
  EXPECT_EQ(All(sweep.path()).text, of_journal);
  EXPECT_NE(MakeIndex(), "");
  EXPECT_EQ(ContentOf(precious), "precious");
  EXPECT_EQ(All(sweep.path()).text, of_journal);
}

TEST_F(HostileIndexes, AreReportedByTheCommands) {
  std::string holes = index;
  std::fill(holes.begin() + 3 * kPage, holes.end(), '\0');
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"best", "made"}, {"ls", "made"}, {"show", "made"}, {"export", "made", "--csv"}, {"show", "made:best"}}) {
    std::filesystem::remove(Index());
    const CommandResult sound = sweep.Muster(words);
    PutContent(Index(), holes);
    const CommandResult reported = sweep.Muster(words);
    EXPECT_EQ(reported.exit_code, 0) << words.front() << reported.err;
    EXPECT_EQ(reported.out, sound.out) << words.front();
    EXPECT_NE(reported.err.find("is damaged, and its journal was read instead"), std::string::npos) << reported.err;
    EXPECT_EQ(sound.err, "");
  }
  for (std::uint64_t seed = 100'001; seed < 100'001 + CasesOf(50, 10); ++seed) {
    Dice dice(seed);
    std::string bytes = index;
    const std::string did = ChangeIndex(bytes, dice);
    PutContent(Index(), bytes);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"best", "made"}, {"ls", "--sweeps"}, {"show", "made"}}) {
      EXPECT_LE(sweep.Muster(words).exit_code, 4) << "seed " << seed << ": " << did << " " << words.front();
    }
  }
}

}  // namespace
}  // namespace muster::testing
