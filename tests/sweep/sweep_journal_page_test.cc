// Tests that the page on sweeps lists exactly the entries of the journal, with all their fields, and the files of a
// sweep's directory.
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run/journal_page.h"
#include "support/described_files.h"
#include "support/places.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/sample_entries.h"

namespace muster {
namespace {

void AddNames(const nlohmann::json& json, std::set<std::string>& names) {
  for (const auto& [name, value] : json.items()) {
    if (json.is_object()) names.insert(name);
    // Decisions and reasons have documented members; points and metrics have the user's names.
    if (name == "decision" || name == "impossible" || json.is_array()) AddNames(value, names);
  }
}

TEST(SweepJournalPage, HasEveryEntryWithItsFields) {
  auto rows = RowsOfThePage(MUSTER_SOURCE_DIR "/docs/sweeps.md");
  std::set<std::string> written;
  for (const SweepRecord& record : RecordsOf(OneOfEach())) {
    const std::string name(SweepEntryName(record.entry));
    written.insert(name);
    ASSERT_TRUE(rows.contains(name)) << name << " is written and not told";
    std::set<std::string> fields;
    AddNames(nlohmann::json::parse(SweepJournalLine(record)), fields);
    for (const std::string& field : fields) {
      const bool of_all = field == "seq" || field == "wall" || field == "event" || field == "crc";
      // "`again`: …" documents a field as well.
      EXPECT_TRUE(of_all || rows[name].contains(field)) << name << ": its field " << field << " is not told";
    }
  }
  for (const auto& [name, unused] : rows) EXPECT_TRUE(written.contains(name)) << name << " is told and never written";
}

TEST(SweepJournalPage, ListsTheFilesOfASweep) {
  std::set<std::string> listed;
  for (const RunEntry& entry : kSweepEntries) listed.insert(entry.name);
  EXPECT_EQ(listed, testing::DescribedFiles("sweeps.md", "sweep.json"));
}

}  // namespace
}  // namespace muster
