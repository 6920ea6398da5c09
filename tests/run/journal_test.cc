#include "run/journal/journal.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "base/values/fingerprint.h"
#include "run/sample_entries.h"
#include "run/scratch_folder.h"
#include "support/journal_contents.h"

namespace muster {
namespace {

std::vector<JournalRecord> Records(const std::vector<JournalEntry>& entries) {
  std::vector<JournalRecord> records;
  for (const JournalEntry& entry : entries) {
    const std::uint64_t seq = records.size() + 1;
    records.push_back({seq, UtcText(1'795'176'376'000'000'000 + seq), 1'000 * seq, entry});
  }
  return records;
}

std::string LinesOf(const std::vector<JournalRecord>& records) {
  std::string lines;
  for (const JournalRecord& record : records) lines += JournalLine(record);
  return lines;
}

TEST(Journal, ReadsBackEveryKindOfEntry) {
  const std::vector<JournalRecord> records = Records(OneOfEach());
  const JournalContents contents = ParseJournal(LinesOf(records));
  EXPECT_EQ(contents.stopped, "");
  ASSERT_EQ(contents.records.size(), std::variant_size_v<JournalEntry>);
  EXPECT_EQ(contents.records, records);
}

TEST(Journal, WritesOneReadableLinePerRecord) {
  const std::string line = JournalLine({1, "2026-11-20T12:06:16.123456Z", 42, FirstFailure{3, 1}});
  EXPECT_EQ(line.substr(0, line.rfind(",\"crc\"")),
            R"({"seq":1,"wall":"2026-11-20T12:06:16.123456Z","at":42,"event":"first_failure","process":3,"attempt":1)");
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(Journal, KeepsTheLongestValidPrefixOfATruncatedFile) {
  const std::vector<JournalRecord> records = Records(OneOfEach());
  const std::string whole = LinesOf(records);
  std::vector<std::size_t> ends = {0};
  for (const JournalRecord& record : records) ends.push_back(ends.back() + JournalLine(record).size());
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const JournalContents contents = ParseJournal(std::string_view(whole).substr(0, cut));
    std::size_t expected = 0;
    while (expected + 1 < ends.size() && ends[expected + 1] <= cut) ++expected;
    ASSERT_EQ(contents.records.size(), expected) << "cut at " << cut;
    ASSERT_EQ(contents.stopped.empty(), cut == ends[expected]) << "cut at " << cut;
    ASSERT_TRUE(std::equal(contents.records.begin(), contents.records.end(), records.begin()));
  }
}

TEST(Journal, IgnoresEverythingAfterAFlippedBit) {
  for (const JournalEntry& entry : OneOfEach()) {
    const std::vector<JournalRecord> records = Records({entry, FinishOrdered{}});
    const std::string whole = LinesOf(records);
    std::size_t line = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
        const JournalContents contents = ParseJournal(flipped);
        ASSERT_EQ(contents.records.size(), line) << "bit " << bit << " of byte " << at << " of " << whole;
        ASSERT_FALSE(contents.stopped.empty());
        ASSERT_TRUE(std::equal(contents.records.begin(), contents.records.end(), records.begin()));
      }
      if (whole[at] == '\n') ++line;
    }
  }
}

TEST(Journal, StopsAtAMissingDuplicateOrMisplacedLine) {
  const std::vector<JournalRecord> records = Records(OneOfEach());
  std::vector<JournalRecord> missing = records;
  missing.erase(missing.begin() + 4);
  EXPECT_EQ(ParseJournal(LinesOf(missing)).records.size(), 4U);
  std::vector<JournalRecord> doubled = records;
  doubled.insert(doubled.begin() + 4, records[3]);
  EXPECT_EQ(ParseJournal(LinesOf(doubled)).records.size(), 4U);
  std::vector<JournalRecord> swapped = records;
  std::swap(swapped[4], swapped[5]);
  EXPECT_EQ(ParseJournal(LinesOf(swapped)).records.size(), 4U);
}

TEST(Journal, RefusesUnknownRecords) {
  // A line with a valid checksum and an event, field or type of another version.
  const auto signed_line = [](const std::string& body) {
    return fmt::format("{},\"crc\":\"{:08x}\"}}\n", body, Crc32c(body));
  };
  for (const char* body :
       {R"({"seq":1,"wall":"w","at":1,"event":"teleported")",
        R"({"seq":1,"wall":"w","at":1,"event":"first_failure","process":1)",
        R"({"seq":1,"wall":"w","at":1,"event":"first_failure","process":"1","attempt":0)",
        R"({"seq":1,"wall":"w","at":1,"event":"first_failure","process":-1,"attempt":0)",
        R"({"seq":1,"wall":"w","at":1,"event":"first_failure","process":4294967296,"attempt":0)",
        R"({"seq":1,"wall":"w","at":1,"event":"phase","from":"running","to":"heaven")",
        R"({"seq":1,"wall":"w","at":1.5,"event":"finish_ordered")", R"({"seq":1,"at":1,"event":"finish_ordered")",
        R"({"seq":1,"wall":"w","at":1,"event":"finish_ordered","at":2)", R"([1)", ""}) {
    const JournalContents contents = ParseJournal(signed_line(body));
    EXPECT_TRUE(contents.records.empty()) << body;
    EXPECT_FALSE(contents.stopped.empty()) << body;
  }
  EXPECT_EQ(ParseJournal(signed_line(R"({"seq":1,"wall":"w","at":1,"event":"finish_ordered")")).records.size(), 1U);
}

TEST(Journal, ReadsFieldsByNameFromOtherPrograms) {
  const auto signed_line = [](const std::string& body) {
    return fmt::format("{},\"crc\":\"{:08x}\"}}\n", body, Crc32c(body));
  };
  const JournalContents contents = ParseJournal(
      signed_line(
          R"({"why":"a \"b\"", "more":[{"killed":"}"}], "event" : "agent_lost","wall":"w","host":2,"killed":1,"seq":1,"at":7)") +
      signed_line(R"({"notes":[ {"kind":"late","extra":{"kind":1},"detail":"d"} , {"detail":"","kind":""}],"seq":2,)"
                  R"("wall":"w","at":8,"event":"host_dumped","dump":3,"host":4)"));
  EXPECT_EQ(contents.stopped, "");
  EXPECT_EQ(contents.records, (std::vector<JournalRecord>{{1, "w", 7, AgentLost{2, "a \"b\"", 1}},
                                                          {2, "w", 8, HostDumped{4, 3, {{"late", "d"}, {"", ""}}}}}));
  for (const char* body :
       {R"({"at":1,"event":"finish_ordered","seq":1.5,"wall":"w")",
        R"({"at":1,"event":"finish_ordered","seq":1e0,"wall":"w")",
        R"({"event":"host_dumped","at":8,"dump":3,"host":4,"notes":[{"kind":"late"}],"seq":1,"wall":"w")",
        R"({"at":1,"event":"finish_ordered","seq":1,"seq":1,"wall":"w")"}) {
    EXPECT_TRUE(ParseJournal(signed_line(body)).records.empty()) << body;
  }
}

TEST(Journal, IsEmptyWithAReasonIfUnreadable) {
  const ScratchFolder folder;
  EXPECT_NE(ReadJournal(folder / "none").stopped, "");
  EXPECT_NE(ReadJournal(folder.path()).stopped, "");
  EXPECT_TRUE(ReadJournal(folder / "none").records.empty());
}

TEST(Journal, WritesBytesThatAreNotUtf8AsEscapes) {
  const std::string line = JournalLine({1, "w", 1, AgentLost{0, "broken \xff\x1b[31m", 0}});
  const JournalContents contents = ParseJournal(line);
  ASSERT_EQ(contents.records.size(), 1U);
  EXPECT_EQ(std::get<AgentLost>(contents.records[0].entry).why, "broken \\xff\\x1b[31m");
}

TEST(JournalWriter, WritesAppendedRecordsToANewFile) {
  const ScratchFolder folder;
  const UniqueFd at(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const mode_t before = ::umask(0);
  Result<JournalWriter> writer = JournalWriter::Create(at.get());
  ::umask(before);
  ASSERT_TRUE(writer);
  EXPECT_EQ(ModeOf(folder / "journal.jsonl"), 0600U);
  const std::vector<JournalEntry> entries = OneOfEach();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    writer->Append(entries[i], 1, i);
    EXPECT_EQ(ReadJournal(folder / "journal.jsonl").records.size(), i);
    writer->Write();
    ASSERT_EQ(ReadJournal(folder / "journal.jsonl").records.size(), i + 1);
  }
  writer->Sync();
  EXPECT_EQ(writer->error(), 0);
  EXPECT_FALSE(JournalWriter::Create(at.get())) << "a journal has one writer";
}

TEST(JournalWriter, KeepsRecordsForAFullDiskAndWritesThemLater) {
  const ScratchFolder folder;
  const UniqueFd at(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Result<JournalWriter> writer = JournalWriter::Create(at.get());
  ASSERT_TRUE(writer);
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, &before);
  rlimit unlimited{};
  ::getrlimit(RLIMIT_FSIZE, &unlimited);
  const rlimit full{150, unlimited.rlim_max};
  const std::vector<JournalEntry> entries = OneOfEach();

  ::setrlimit(RLIMIT_FSIZE, &full);  // the disk is full after 150 bytes
  for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
    writer->Append(entries[i], 1, 1);
    writer->Write();
  }
  EXPECT_EQ(writer->error(), EFBIG);
  EXPECT_LT(ReadJournal(folder / "journal.jsonl").records.size(), 2U);
  ::setrlimit(RLIMIT_FSIZE, &unlimited);  // there is space again
  writer->Append(entries.back(), 1, 1);
  writer->Write();
  ::sigaction(SIGXFSZ, &before, nullptr);

  EXPECT_EQ(writer->error(), 0);
  const JournalContents contents = ReadJournal(folder / "journal.jsonl");
  EXPECT_EQ(contents.records.size(), entries.size());
  EXPECT_EQ(contents.stopped, "");
}

}  // namespace
}  // namespace muster
