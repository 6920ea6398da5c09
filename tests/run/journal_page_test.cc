// Tests that docs/journal.md lists exactly the entries that are written, with all their fields.
#include "run/journal_page.h"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run/journal/journal.h"
#include "support/places.h"

namespace muster {
namespace {

template <std::size_t... kIndices>
std::vector<JournalEntry> EmptyOfEach(std::index_sequence<kIndices...>) {
  return {JournalEntry(std::in_place_index<kIndices>)...};
}

TEST(JournalPage, HasEveryEntryWithItsFields) {
  auto rows = RowsOfThePage(MUSTER_SOURCE_DIR "/docs/journal.md");
  for (const JournalEntry& entry : EmptyOfEach(std::make_index_sequence<std::variant_size_v<JournalEntry>>())) {
    const std::string name(EntryName(entry));
    ASSERT_TRUE(rows.contains(name)) << name << " is written and not told";
    const auto json = nlohmann::json::parse(JournalLine({1, "", 0, entry}));
    for (const auto& [field, unused] : json.items()) {
      const bool of_all = field == "seq" || field == "wall" || field == "at" || field == "event" || field == "crc";
      EXPECT_TRUE(of_all || rows[name].contains(field)) << name << ": its field " << field << " is not told";
    }
    rows.erase(name);
  }
  for (const auto& [name, unused] : rows) ADD_FAILURE() << name << " is told and never written";
}

}  // namespace
}  // namespace muster
