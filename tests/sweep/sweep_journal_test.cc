// Tests the journal of a sweep: round trips, and reading the valid part of damaged files.
#include "sweep/record/sweep_journal.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "run/lines/journal_file.h"
#include "run/scratch_folder.h"
#include "sweep/sample_entries.h"

namespace muster {
namespace {

std::string Lines(const std::vector<SweepRecord>& records) {
  std::string lines;
  for (const SweepRecord& record : records) lines += SweepJournalLine(record);
  return lines;
}

class Folder {
 public:
  Folder() : descriptor_(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  int at() const { return descriptor_.get(); }
  std::string journal() const { return folder_ / "journal.jsonl"; }

  struct Read {
    std::vector<SweepRecord> records;
    JournalPosition end;
    std::string stopped;
  };
  Read ReadFrom(JournalPosition from = {}) const {
    Read read;
    read.end = ReadSweepJournal(
        at(), from, [&](SweepRecord record) { read.records.push_back(std::move(record)); }, read.stopped);
    return read;
  }

 private:
  ScratchFolder folder_;
  UniqueFd descriptor_;
};

TEST(SweepJournal, ReadsBackEveryKindOfEntry) {
  const std::vector<SweepRecord> records = RecordsOf(OneOfEach());
  std::set<std::size_t> kinds;
  const Folder folder;
  PutFile(folder.journal(), Lines(records));
  const Folder::Read read = folder.ReadFrom();
  EXPECT_EQ(read.stopped, "");
  ASSERT_EQ(read.records.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(read.records[i], records[i]) << SweepJournalLine(records[i]);
    kinds.insert(records[i].entry.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<SweepEntry>);
  EXPECT_EQ(read.end, (JournalPosition{Lines(records).size(), records.size()}));
}

TEST(SweepJournal, IsValidJson) {
  for (const SweepRecord& record : RecordsOf(OneOfEach())) {
    const std::string line = SweepJournalLine(record);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto json = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    EXPECT_EQ(json["seq"], record.seq);
    EXPECT_EQ(json["event"], SweepEntryName(record.entry));
  }
  const auto json = nlohmann::json::parse(SweepJournalLine(RecordsOf(OneOfEach())[2]));
  EXPECT_EQ(json["point"]["name"], "wörd, \"quoted\"\t");
  EXPECT_TRUE(json["point"]["whole"].is_number_float());
  EXPECT_EQ(json["point"]["list"][2]["a b"], "\x01");
}

TEST(SweepJournal, WritesNonJsonNumbersAsNull) {
  AttemptEnded ended;
  ended.loss = std::numeric_limits<double>::quiet_NaN();
  ended.metrics = {{"loss", Value(std::numeric_limits<double>::infinity())}};
  const auto record = ParseSweepJournalLine([&] {
    std::string line = SweepJournalLine({1, "w", ended});
    line.pop_back();
    return line;
  }());
  ASSERT_TRUE(record);
  EXPECT_EQ(std::get<AttemptEnded>(record->entry).loss, std::nullopt);
  EXPECT_TRUE(std::get<AttemptEnded>(record->entry).metrics.at("loss").IsNull());
}

TEST(SweepJournal, KeepsTheLongestPrefixOfACutFileAndContinuesThere) {
  std::vector<SweepEntry> entries;
  while (entries.size() < 400) {
    for (SweepEntry& entry : OneOfEach()) entries.push_back(std::move(entry));
  }
  const std::vector<SweepRecord> records = RecordsOf(entries);
  const std::string whole = Lines(records);
  ASSERT_GT(whole.size(), 64U << 10);
  std::vector<std::uint64_t> ends = {0};
  for (const SweepRecord& record : records) ends.push_back(ends.back() + SweepJournalLine(record).size());

  const Folder folder;
  PutFile(folder.journal(), whole);
  const std::uint64_t first_cut = whole.size() - (64U << 10);
  for (std::uint64_t cut = whole.size(); cut >= first_cut; --cut) {
    ASSERT_EQ(::truncate(folder.journal().c_str(), static_cast<off_t>(cut)), 0);
    // Reads from a position before the cut, like a head with an index; sometimes from the beginning.
    JournalPosition from;
    if (cut % 257 != 0) {
      const auto near = std::upper_bound(ends.begin(), ends.end(), cut - 2000) - 1;
      from = {*near, static_cast<std::uint64_t>(near - ends.begin())};
    }
    std::uint64_t seq = from.seq;
    bool alike = true;
    std::string stopped;
    const JournalPosition end = ReadSweepJournal(
        folder.at(), from, [&](const SweepRecord& record) { alike = alike && record == records[seq++]; }, stopped);
    const auto next = std::upper_bound(ends.begin(), ends.end(), cut);
    ASSERT_TRUE(alike) << "cut at " << cut;
    ASSERT_EQ(end.bytes, *std::prev(next)) << "cut at " << cut;
    ASSERT_EQ(end.seq, static_cast<std::uint64_t>(next - ends.begin()) - 1) << "cut at " << cut;
    ASSERT_EQ(stopped, cut == end.bytes ? "" : "the last line is cut");
    if (cut % 257 != 0) continue;
    auto writer = SweepJournalWriter::Continue(folder.at(), end);
    ASSERT_TRUE(writer);
    ASSERT_EQ(writer->Append(HostQuarantined{"n9", "w"}, 1), 0);
    const Folder::Read again = folder.ReadFrom(from);
    ASSERT_EQ(again.stopped, "");
    ASSERT_EQ(again.end, writer->position());
    ASSERT_EQ(std::get<HostQuarantined>(again.records.back().entry).host, "n9");
    ASSERT_EQ(::truncate(folder.journal().c_str(), static_cast<off_t>(end.bytes)), 0);
  }
}

TEST(SweepJournal, IgnoresEverythingAfterAFlippedBit) {
  const Folder folder;
  for (const SweepEntry& entry : OneOfEach()) {
    const std::vector<SweepRecord> records = RecordsOf({entry, SweepEnded{}});
    const std::string first = SweepJournalLine(records[0]);
    for (std::size_t at = 0; at + 1 < first.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = first.substr(0, first.size() - 1);
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
        ASSERT_FALSE(ParseSweepJournalLine(flipped)) << "bit " << bit << " of byte " << at << " of " << first;
      }
    }
    for (const std::size_t at : {std::size_t{0}, first.size() / 2, first.size() - 1, first.size() + 3}) {
      std::string flipped = Lines(records);
      flipped[at] = static_cast<char>(flipped[at] ^ 4);
      PutFile(folder.journal(), flipped);
      const Folder::Read read = folder.ReadFrom();
      EXPECT_EQ(read.records.size(), at < first.size() ? 0U : 1U);
      EXPECT_NE(read.stopped, "");
    }
  }
}

TEST(SweepJournal, StopsAtAMissingDuplicateTornOrMisplacedLine) {
  const std::vector<SweepRecord> records = RecordsOf(OneOfEach());
  const Folder folder;
  const auto read_of = [&](const std::string& bytes) {
    PutFile(folder.journal(), bytes);
    const Folder::Read read = folder.ReadFrom();
    EXPECT_NE(read.stopped, "");
    return read.records.size();
  };
  std::vector<SweepRecord> missing = records;
  missing.erase(missing.begin() + 4);
  EXPECT_EQ(read_of(Lines(missing)), 4U);
  std::vector<SweepRecord> doubled = records;
  doubled.insert(doubled.begin() + 4, records[3]);
  EXPECT_EQ(read_of(Lines(doubled)), 4U);
  std::vector<SweepRecord> swapped = records;
  std::swap(swapped[4], swapped[5]);
  EXPECT_EQ(read_of(Lines(swapped)), 4U);
  // A block that was never written, in a file of the right length.
  std::string torn = Lines(records);
  const std::size_t begin = Lines({records.begin(), records.begin() + 3}).size();
  std::fill_n(torn.begin() + static_cast<std::ptrdiff_t>(begin) + 10, 20, '\0');
  EXPECT_EQ(read_of(torn), 3U);
}

TEST(SweepJournal, RefusesUnknownRecords) {
  const auto is_read = [](std::string body) {
    SealLine(body);
    body.pop_back();
    return ParseSweepJournalLine(body).has_value();
  };
  EXPECT_TRUE(is_read(R"({"seq":1,"wall":"w","event":"host_quarantined","host":"a","why":"b")"));
  EXPECT_TRUE(is_read(R"({"seq":1,"wall":"w","event":"host_quarantined","host":"a","why":"b","more":1)"))
      << "a later version may add members";
  EXPECT_TRUE(is_read(R"({"wall":"w","seq":1,"event":"host_quarantined","more":[{}],"why":"b","host":"a")"));
  for (
      const char* body :
      {R"({"seq":1,"wall":"w","event":"teleported")", R"({"seq":1,"wall":"w","event":"host_quarantined","host":"a")",
       R"({"seq":1,"wall":"w","event":"host_quarantined","host":"a","why":1)",
       R"({"seq":-1,"wall":"w","event":"host_quarantined","host":"a","why":"b")",
       R"({"seq":1.5,"wall":"w","event":"host_quarantined","host":"a","why":"b")",
       R"({"seq":1,"event":"host_quarantined","host":"a","why":"b")",
       "{\"seq\":1,\"wall\":\"\xff\",\"event\":\"host_quarantined\",\"host\":\"a\",\"why\":\"b\"",
       R"({"seq":1,"wall":"w","event":"host_quarantined","host":"\x","why":"b")",
       R"({"seq":1,"wall":"w","event":"trials_reopened","trials":[[2,1]])",
       R"({"seq":1,"wall":"w","event":"trials_reopened","trials":[[1,2])",
       R"({"seq":1,"wall":"w","event":"trials_reopened","trials":[[1,18446744073709551616]])",
       R"({"seq":1,"wall":"w","event":"attempt_ended","trial":1,"attempt":0,"class":"great","ms":1)",
       R"({"seq":1,"wall":"w","event":"attempt_ended","trial":1,"attempt":4294967296,"class":"ok","ms":1)",
       R"({"seq":1,"wall":"w","event":"attempt_ended","trial":1,"attempt":0,"class":"ok","metrics":{"a":1,"a":2},"ms":1)",
       R"({"seq":1,"wall":"w","event":"attempt_ended","trial":1,"attempt":0,"class":"ok","loss":1e999,"ms":1)", R"([1)",
       ""}) {
    EXPECT_FALSE(is_read(body)) << body;
  }
}

TEST(SweepJournalWriter, DoesNotCutOffWhatALaterVersionWrote) {
  const std::string known = Lines(RecordsOf(OneOfEach()));
  const std::uint64_t count = RecordsOf(OneOfEach()).size();
  std::string later = R"({"seq":)" + std::to_string(count + 1) + R"(,"wall":"w","event":"trial_teleported","to":1)";
  SealLine(later);
  const Folder folder;
  PutFile(folder.journal(), known + later);
  const Folder::Read read = folder.ReadFrom();
  EXPECT_EQ(read.end, (JournalPosition{known.size(), count}));
  const auto refused = SweepJournalWriter::Continue(folder.at(), read.end);
  ASSERT_FALSE(refused);
  const std::string& why = refused.error().front().message;
  EXPECT_NE(why.find("record " + std::to_string(count + 1)), std::string::npos) << why;
  EXPECT_NE(why.find("\"trial_teleported\", is not known to this muster "), std::string::npos) << why;
  EXPECT_EQ(folder.ReadFrom().end, read.end);
  EXPECT_EQ(std::filesystem::file_size(folder.journal()), known.size() + later.size()) << "it was changed";

  // The same without a valid checksum is damage, and is cut off.
  later[later.size() - 4] ^= 1;
  PutFile(folder.journal(), known + later);
  EXPECT_TRUE(SweepJournalWriter::Continue(folder.at(), read.end));
  EXPECT_EQ(std::filesystem::file_size(folder.journal()), known.size());
}

TEST(SweepJournal, ReportsWhyItCannotBeRead) {
  const Folder folder;
  EXPECT_EQ(folder.ReadFrom().stopped, "the journal cannot be opened");
  PutFile(folder.journal(), "");
  EXPECT_EQ(folder.ReadFrom().stopped, "");
  EXPECT_EQ(folder.ReadFrom({10, 1}).stopped, "the journal is shorter than what was read of it");
  EXPECT_EQ(folder.ReadFrom({10, 1}).end, (JournalPosition{10, 1}));
  EXPECT_FALSE(SweepJournalWriter::Continue(folder.at(), {10, 1}));
}

TEST(SweepJournalWriter, WritesEachEntryImmediatelyToANewFile) {
  const Folder folder;
  const mode_t before = ::umask(0);
  auto writer = SweepJournalWriter::Create(folder.at());
  ::umask(before);
  ASSERT_TRUE(writer);
  EXPECT_EQ(ModeOf(folder.journal()), 0600U);
  EXPECT_TRUE(writer->synced());
  const std::vector<SweepEntry> entries = OneOfEach();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ASSERT_EQ(writer->Append(entries[i], 1), 0);
    ASSERT_EQ(folder.ReadFrom().records.size(), i + 1);
    ASSERT_EQ(folder.ReadFrom().end, writer->position());
  }
  EXPECT_FALSE(writer->synced());
  EXPECT_EQ(writer->Sync(), 0);
  EXPECT_TRUE(writer->synced());
  EXPECT_FALSE(SweepJournalWriter::Create(folder.at())) << "a journal has one writer";
}

TEST(SweepJournalWriter, LeavesCompleteLinesOnAFullDiskAndContinuesLater) {
  const std::vector<SweepEntry> entries = OneOfEach();
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, &before);
  rlimit unlimited{};
  ::getrlimit(RLIMIT_FSIZE, &unlimited);
  const std::size_t first = SweepJournalLine(RecordsOf(entries)[0]).size();
  for (rlim_t room = first; room < first + 300; room += 37) {
    const Folder folder;
    auto writer = SweepJournalWriter::Create(folder.at());
    ASSERT_TRUE(writer);
    const rlimit full{room, unlimited.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
    std::vector<int> errors;
    for (const SweepEntry& entry : entries) errors.push_back(writer->Append(entry, 1));
    ::setrlimit(RLIMIT_FSIZE, &unlimited);
    EXPECT_EQ(errors.front(), 0);
    EXPECT_EQ(errors.back(), EFBIG);
    const auto written = std::count(errors.begin(), errors.end(), 0);
    Folder::Read read = folder.ReadFrom();
    EXPECT_EQ(read.stopped, "") << "a half line was left";
    EXPECT_EQ(static_cast<std::ptrdiff_t>(read.records.size()), written);
    EXPECT_EQ(read.end, writer->position());
    EXPECT_EQ(writer->Append(entries.back(), 1), 0) << "somebody made room";
    read = folder.ReadFrom();
    EXPECT_EQ(read.stopped, "");
    EXPECT_EQ(static_cast<std::ptrdiff_t>(read.records.size()), written + 1);
  }
  ::sigaction(SIGXFSZ, &before, nullptr);
}

}  // namespace
}  // namespace muster
